/**
 * Owns the count of feature rows at the end of a test run: of each section how many rows were shown by a test that really
 * ran and passed, how many are not needed, and which were not shown. Said only when the tests of all rows were in the
 * run, since a part of them would look like a table with holes.
 */
import { needsSkill, type Row, type Section } from '../../acceptance/rows/row.ts';

export const ROWS_FOLDER = 'test/acceptance/rows/';

/** One run of the test of a row; there are several when the suite is repeated with another Node. */
export interface RowResult {
  readonly id: string;
  readonly passed: boolean;
}

const NAMED = 10;

/** The row that the test of this name (`parent > child` for a part of it) is about. */
export function rowOfTest(name: string): string | undefined {
  return /^(S\d+\.\d+) /.exec(name)?.[1];
}

/** `files`: how many test files of rows there are, and how many of them were to be run. */
export function renderRows(
  sections: readonly Section[],
  results: readonly RowResult[],
  files: { all: number; chosen: number },
): string[] {
  if (files.chosen === 0) return [];
  if (files.chosen < files.all)
    return [`rows: not counted, since only ${files.chosen} of their ${files.all} test files were run`];
  const counts = sections.map((section) => renderSection(section, results)).join('; ');
  const shared = sections.flatMap(({ rows }) => rows).filter(needsSkill).length;
  const note = `  of these, ${shared} also want a sentence in a skill (P+L); shown here is the mechanism alone`;
  return shared > 0 ? [`rows ${counts}`, note] : [`rows ${counts}`];
}

function renderSection({ name, rows }: Section, results: readonly RowResult[]): string {
  const notNeeded = rows.filter((row) => row.notNeeded !== undefined);
  const wanted = rows.filter((row) => row.notNeeded === undefined);
  const missing = wanted.filter(({ id }) => !isShown(id, results));
  const shown = wanted.length - missing.length;
  return `${name}: ${shown} shown, ${notNeeded.length} not needed, ${missing.length} not shown${renderIds(missing)}`;
}

/** Each run of its test passed, and there was one. */
function isShown(id: string, results: readonly RowResult[]): boolean {
  const own = results.filter((result) => result.id === id);
  return own.length > 0 && own.every(({ passed }) => passed);
}

function renderIds(rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const named = rows.slice(0, NAMED).map(({ id, comesWith }) => (comesWith ? `${id} comes with ${comesWith}` : id));
  const rest = rows.length > NAMED ? [`${rows.length - NAMED} more`] : [];
  return ` (${[...named, ...rest].join(', ')})`;
}
