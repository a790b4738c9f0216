/**
 * Owns the counting and the closing words of a test run. A skipped or todo test is counted apart and named, never as
 * passed; a run in which nothing passed and nothing failed is a failed run. The last line is `N passed, N failed`, with
 * `, N skipped` behind it where there are any.
 */
import type { RowResult } from './rows.ts';

export interface Failure {
  name: string;
  detail: string;
}

export interface Tally {
  passed: number;
  failures: Failure[];
  /** `skip: name` or `todo: name`. */
  skipped: string[];
  /** What became of the tests of feature rows. */
  rows: RowResult[];
}

const DETAIL_LINES = 40;

export function makeTally(part: Partial<Tally> = {}): Tally {
  return { passed: 0, failures: [], skipped: [], rows: [], ...part };
}

export function addTallies(tallies: Tally[]): Tally {
  return {
    passed: tallies.reduce((sum, { passed }) => sum + passed, 0),
    failures: tallies.flatMap(({ failures }) => failures),
    skipped: tallies.flatMap(({ skipped }) => skipped),
    rows: tallies.flatMap(({ rows }) => rows),
  };
}

export function renderCounts({ passed, failures, skipped }: Tally): string {
  return `${passed} passed, ${failures.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
}

/** `closing`: lines that are to stand right before the last one. */
export function judgeRun(tally: Tally, closing: string[] = []): { text: string; code: 0 | 1 } {
  const ran = tally.passed + tally.failures.length;
  const lines = [
    ...tally.skipped.map((name) => `not run, ${name}`),
    ...tally.failures.map(({ name, detail }) => `\nFAILED ${name}\n${indent(shorten(detail))}\n`),
    ...(ran === 0 ? ['no test was run'] : []),
    ...closing,
    renderCounts(tally),
  ];
  return { text: lines.join('\n'), code: ran === 0 || tally.failures.length > 0 ? 1 : 0 };
}

function shorten(text: string): string {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= DETAIL_LINES) return lines.join('\n');
  return [...lines.slice(0, DETAIL_LINES), `... ${lines.length - DETAIL_LINES} more lines`].join('\n');
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
