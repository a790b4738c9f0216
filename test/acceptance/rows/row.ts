/**
 * What a row of the feature table is. A row stays open until a test on the built file shows it: one test whose name begins
 * with the id of the row. Two other things may stand in its place, each only for the few rows that are listed here with
 * their reason: it is not needed, because it is a host's own mechanism; or what it speaks of is not built yet.
 */

/** P: the program does it. P+L: the program has the mechanism, a skill says when to use it. L->P: a model's work that the program took over. */
export type Who = 'P' | 'P+L' | 'L->P';

export interface Row {
  readonly id: string;
  readonly who: Who;
  /** In our own words. */
  readonly title: string;
  /** `because ...` */
  readonly notNeeded?: string;
  /** The part of the program that is to bring it. */
  readonly comesWith?: string;
}

export interface Section {
  readonly name: string;
  readonly rows: readonly Row[];
}

/** Rows about a host's own mechanism, and why there is nothing of ours to show. No other row may be `notNeeded`. */
export const hostRows: Readonly<Record<string, string>> = {
  'S0.34': 'how a host yields and polls its own terminal sessions is the business of that host',
};

/** Rows about a part that does not exist yet. They are counted as not shown, and named, until it does. */
export const laterRows: Readonly<Record<string, string>> = {
  'S0.6': 'a part under way',
  'S0.8': 'a part under way',
  'S0.9': 'a part under way',
  'S0.11': 'a part under way',
  'S0.12': 'a part under way',
  'S0.13': 'a part under way',
  'S0.33': 'a part under way',
  'S0.36': 'a part under way',
  'S0.37': 'a part under way',
  'S0.38': 'a part under way',
  'S0.39': 'a part under way',
  'S0.40': 'a part under way',
  'S0.41': 'a part under way',
  'S0.42': 'a part under way',
  'S0.43': 'a part under way',
  'S0.45': 'a part under way',
  'S0.46': 'a part under way',
  'S0.48': 'a part under way',
  'S0.51': 'a part under way',
  'S0.53': 'a part under way',
  'S0.54': 'a part under way',
  'S0.55': 'a part under way',
  'S0.68': 'a part under way',
  'S0.69': 'a part under way',
  'S0.71': 'a part under way',
  'S0.73': 'a part under way',
  'S0.74': 'a part under way',
  'S1.2': 'a part under way',
  'S1.5': 'a part under way',
  'S1.6': 'a part under way',
  'S1.8': 'a part under way',
  'S1.12': 'a part under way',
  'S1.13': 'a part under way',
  'S1.15': 'a part under way',
  'S1.19': 'a part under way',
  'S1.22': 'a part under way',
  'S1.23': 'a part under way',
  'S1.24': 'a part under way',
  'S1.25': 'a part under way',
  'S1.26': 'a part under way',
  'S1.28': 'a part under way',
  'S1.29': 'a part under way',
  'S1.30': 'a part under way',
  'S1.31': 'a part under way',
  'S1.32': 'a part under way',
  'S1.33': 'a part under way',
  'S1.34': 'a part under way',
  'S1.35': 'a part under way',
  'S1.36': 'a part under way',
  'S1.37': 'a part under way',
  'S1.38': 'a part under way',
  'S1.39': 'a part under way',
  'S1.40': 'a part under way',
  'S1.41': 'a part under way',
  'S1.42': 'a part under way',
  'S1.43': 'a part under way',
  'S1.44': 'a part under way',
  'S1.45': 'a part under way',
  'S1.46': 'a part under way',
  'S1.47': 'a part under way',
  'S1.48': 'a part under way',
  'S1.49': 'a part under way',
  'S1.50': 'a part under way',
  'S1.51': 'a part under way',
  'S1.52': 'a part under way',
  'S1.53': 'loop gate',
};

/** The sentence in a skill, which tells a model when to use the mechanism, is not shown by these tests. */
export const needsSkill = ({ who }: Row) => who === 'P+L';

type Words = readonly [id: string, who: Who, title: string, instead?: Pick<Row, 'notNeeded' | 'comesWith'>];

export function makeSection(name: string, rows: readonly Words[]): Section {
  return { name, rows: rows.map(([id, who, title, instead]) => ({ id, who, title, ...instead })) };
}
