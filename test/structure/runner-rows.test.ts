/**
 * The closing count of feature rows tells what really ran and passed: a row whose test failed, was skipped, or stood in a
 * file that is at fault as a whole is not shown. The first test runs planted files as the runner runs the real ones.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { makeSection } from '../acceptance/rows/row.ts';
import { ROWS_FOLDER, type RowResult, renderRows } from '../helpers/runner/rows.ts';
import { judgeRun, makeTally } from '../helpers/runner/tally.ts';
import { runTestFile } from '../helpers/runner/test-file.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const root = join(import.meta.dirname, '../..');
const whole = { all: 2, chosen: 2 };
const passed = (...ids: string[]): RowResult[] => ids.map((id) => ({ id, passed: true }));
const table = [
  makeSection('S0', [
    ['S0.1', 'P', 'first'],
    ['S0.2', 'P+L', 'second'],
    ['S0.3', 'L->P', 'third', { notNeeded: 'because the worker does it' }],
    ['S0.11', 'P', 'eleventh'],
  ]),
  makeSection('S1', [['S1.1', 'P', 'first', { comesWith: 'loop gate' }]]),
];

test('the rows of a file are shown by the tests that passed, and by no other', async (t) => {
  const rows = await runPlanted(
    t,
    `test('S0.1 passes', () => {});
    test('S0.2 fails', () => assert.equal(1, 2));
    test('S0.3 skipped', { skip: 'no time' }, () => {});
    test('S0.4 todo', { todo: true }, () => {});
    test('S0.5 a part fails', async (t) => { await t.test('part', () => { throw new Error('x'); }); });
    test('S0.6 a part is skipped', async (t) => { await t.test('part', { skip: true }, () => {}); });
    test('S0.7 all parts pass', async (t) => { await t.test('part', () => {}); });
    test('no row', () => {});`,
  );
  const found = [...new Set(rows.map(({ id }) => id))];
  assert.deepEqual(
    found.map((id) => [id, rows.filter((row) => row.id === id).every((row) => row.passed)]),
    [1, 2, 3, 4, 5, 6, 7].map((n) => [`S0.${n}`, n === 1 || n === 7]),
  );
});

for (const [what, text] of [
  ['dies', "test('S0.1 passes', () => {}); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 200);"],
  ['leaves a process behind', "test('S0.1 passes', () => { spawn('sleep', ['300.4'], options).unref(); });"],
] as const) {
  test(`no row of a file that ${what} is shown`, async (t) => {
    const rows = await runPlanted(t, text);
    assert.equal(rows.length > 0, true);
    assert.deepEqual([...new Set(rows.map((row) => row.passed))], [false]);
  });
}

test('a test of another folder shows no row', async (t) => {
  assert.deepEqual(await runPlanted(t, "test('S0.1 passes', () => {});", 'test/acceptance'), []);
});

test('the count names shown, not needed and not shown rows of each section', () => {
  const note = '  of these, 1 also want a sentence in a skill (P+L); shown here is the mechanism alone';
  assert.deepEqual(renderRows(table, passed('S0.1', 'S0.2', 'S0.11'), whole), [
    'rows S0: 3 shown, 1 not needed, 0 not shown; S1: 0 shown, 0 not needed, 1 not shown (S1.1 comes with loop gate)',
    note,
  ]);
  // The table alone shows nothing, and S0.11 is not S0.1.
  const line = 'S0: 1 shown, 1 not needed, 2 not shown (S0.1, S0.2); S1:';
  assert.ok(renderRows(table, passed('S0.11'), whole)[0]?.includes(line));
});

test('a row that failed with one of the Nodes is not shown', () => {
  const results = [...passed('S0.1', 'S0.2', 'S0.11'), { id: 'S0.2', passed: false }, ...passed('S0.2')];
  assert.ok(renderRows(table, results, whole)[0]?.includes('2 shown, 1 not needed, 1 not shown (S0.2)'));
});

test('at most ten rows that were not shown are named', () => {
  const many = makeSection(
    'S2',
    Array.from({ length: 12 }, (_, index) => [`S2.${index + 1}`, 'P', 'x'] as const),
  );
  const [line] = renderRows([many], [], whole);
  assert.match(line ?? '', /S2: 0 shown, 0 not needed, 12 not shown \(S2\.1, .*S2\.10, 2 more\)$/);
});

test('rows are not counted when only a part of their tests, and not mentioned when none of them, was to be run', () => {
  assert.deepEqual(renderRows(table, passed('S0.1'), { all: 9, chosen: 2 }), [
    'rows: not counted, since only 2 of their 9 test files were run',
  ]);
  assert.deepEqual(renderRows(table, [], { all: 9, chosen: 0 }), []);
  const { stdout } = spawnSync(process.execPath, ['test/run.mjs', '--only', 'unit', 'core/ids'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.doesNotMatch(stdout, /rows/);
  assert.match(stdout, /\n\d+ passed, 0 failed\n$/);
});

test('the last line stays the count of tests, with the rows right before it', () => {
  const { text, code } = judgeRun(makeTally({ passed: 3, skipped: ['skip: a'] }), ['rows S0: 1 shown']);
  assert.deepEqual([text.split('\n').slice(-2), code], [['rows S0: 1 shown', '3 passed, 0 failed, 1 skipped'], 0]);
});

async function runPlanted(t: TestContext, text: string, folder = ROWS_FOLDER): Promise<RowResult[]> {
  const { base } = makeWorkspace(t, { git: false });
  const file = join(base, folder, 'planted.test.ts');
  mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, 'package.json'), '{ "type": "module" }');
  const imports = `import test from 'node:test'; import assert from 'node:assert/strict';
    import { spawn } from 'node:child_process'; const options = { detached: true, stdio: 'ignore' };\n`;
  writeFileSync(file, imports + text);
  return (await runTestFile(file, 'planted', { limitMs: 120_000 })).rows;
}
