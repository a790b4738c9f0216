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
  'S2.49': 'how a host goes on with a turn that was cut is the business of that host',
  'S2.95': 'it polls the watches of one host, over an interface that we do not have',
};

/** Rows about a part that does not exist yet. They are counted as not shown, and named, until it does. */
export const laterRows: Readonly<Record<string, string>> = {};

/** The sentence in a skill, which tells a model when to use the mechanism, is not shown by these tests. */
export const needsSkill = ({ who }: Row) => who === 'P+L';

type Words = readonly [id: string, who: Who, title: string, instead?: Pick<Row, 'notNeeded' | 'comesWith'>];

export function makeSection(name: string, rows: readonly Words[]): Section {
  return { name, rows: rows.map(([id, who, title, instead]) => ({ id, who, title, ...instead })) };
}
