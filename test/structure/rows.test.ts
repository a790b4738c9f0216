/**
 * The table of feature rows is whole: the rule of rules/rows.ts on the real table and its tests, and shown to refuse each way
 * in which a row could be counted without being shown.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { hostRows, laterRows, makeSection } from '../acceptance/rows/row.ts';
import { sections } from '../acceptance/rows/sections.ts';
import { findNamedTests, judgeRows, listNamedTests } from './rules/rows.ts';

const permitted = { host: { 'S0.2': 'a terminal of the host' }, later: { 'S0.3': 'loop gate' } };
const good = [
  makeSection('S0', [
    ['S0.1', 'P', 'first'],
    ['S0.2', 'L->P', 'second', { notNeeded: 'because the worker does it' }],
    ['S0.3', 'P+L', 'third', { comesWith: 'loop gate' }],
  ]),
  makeSection('S1', [['S1.10', 'P', 'tenth']]),
];
const shown = [
  { file: 'a.test.ts', name: 'S0.1 the first holds' },
  { file: 'b.test.ts', name: 'S1.10 the tenth holds' },
];

test('every feature row has its one test or a reason that is permitted for it', () => {
  assert.deepEqual(judgeRows(sections, listNamedTests(join(import.meta.dirname, '../acceptance/rows'))), []);
});

test('every reason that is permitted is used by its row', () => {
  const rows = sections.flatMap((section) => section.rows);
  const excused = (field: 'notNeeded' | 'comesWith') => rows.filter((row) => row[field]).map(({ id }) => id);
  assert.deepEqual(excused('notNeeded'), Object.keys(hostRows));
  assert.deepEqual(excused('comesWith'), Object.keys(laterRows));
});

test('the row rule accepts a whole table', () => {
  assert.deepEqual(judgeRows(good, shown, permitted), []);
});

const planted: [what: string, faults: () => string[], expected: string][] = [
  ['a row without a test', () => judgeRows(good, shown.slice(1), permitted), 'S0.1: no test has a name'],
  ['a row with two tests', () => judgeRows(good, [...shown, shown[0]!], permitted), 'S0.1: 2 tests (a.test.ts, a.tes'],
  ['a longer id in its place', () => withTest('S1.1 the first holds'), "c.test.ts: 'S1.1 the first holds' names a row"],
  ['an unknown row', () => withTest('S0.9 nothing'), "c.test.ts: 'S0.9 nothing' names a row that is not in the table"],
  ['a test without an id', () => withTest('wait waits'), "c.test.ts: 'wait waits' begins with no row id"],
  ['an id without words', () => withTest('S0.1'), "c.test.ts: 'S0.1' begins with no row id"],
  ['a name that is made up', () => withTest(undefined), 'c.test.ts: the name of a test is not plain text'],
  ['an id twice', () => withRow(['S0.1', 'P', 'again']), 'S0.1: stands in the table twice'],
  ['an id of another section', () => withRow(['S1.1', 'P', 'x']), 'S1.1: no id of section S0'],
  ['a row without a title', () => withRow(['S0.4', 'P', ' ']), 'S0.4: has no title'],
  [
    'an excuse for a row of ours',
    () => withRow(['S0.4', 'P', 'x', { notNeeded: 'because it is hard' }]),
    "S0.4: is called not needed, but is no row about a host's own mechanism; show it",
  ],
  [
    'a row put off that is not listed',
    () => withRow(['S0.4', 'P', 'x', { comesWith: 'loop gate' }]),
    'S0.4: is put off, but is not listed',
  ],
  ['an excuse and a test', () => withTest('S0.2 the second holds'), 'S0.2: has a test (c.test.ts), so it needs no exc'],
  ['an excuse without a reason', () => withReason('not ours'), 'S0.2: is called not needed without a reason that beg'],
  ['an excuse that is empty', () => withReason('because'), 'S0.2: is called not needed without a reason that begins'],
];
for (const [what, faults, expected] of planted) {
  test(`the row rule refuses ${what}`, () => {
    const found = faults();
    assert.ok(
      found.some((fault) => fault.startsWith(expected)),
      found.join('\n') || 'no fault',
    );
  });
}

test('tests are found by their calls, skipped ones and those in loops included', () => {
  const text = `import test from 'node:test';
    test('S0.1 plain', () => {});
    test.skip("S0.2 skipped", () => {});
    for (const x of xs) test(\`S0.3 \${x}\`, () => { pattern.test('S0.4 no test'); });
    // test('S0.5 a comment', () => {});
    it(\`S0.6 no holes\`, () => {});`;
  assert.deepEqual(
    findNamedTests('a.test.ts', text).map(({ name }) => name),
    ['S0.1 plain', 'S0.2 skipped', undefined, 'S0.6 no holes'],
  );
});

function withTest(name: string | undefined): string[] {
  return judgeRows(good, [...shown, { file: 'c.test.ts', name }], permitted);
}

function withRow(words: Parameters<typeof makeSection>[1][number]): string[] {
  const [row] = makeSection('S0', [words]).rows;
  return judgeRows([{ ...good[0]!, rows: [...good[0]!.rows, row!] }, good[1]!], shown, permitted);
}

function withReason(notNeeded: string): string[] {
  const rows = good[0]!.rows.map((row) => (row.id === 'S0.2' ? { ...row, notNeeded } : row));
  return judgeRows([{ name: 'S0', rows }, good[1]!], shown, permitted);
}
