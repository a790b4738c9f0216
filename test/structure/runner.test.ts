/**
 * The test runner tells the truth: what passed, failed or was skipped is counted as such, and a file that runs nothing, dies,
 * hangs or leaves a process behind has failed. Each case is a planted test file, run as the runner runs the real ones.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readIdentity } from '../helpers/process.ts';
import { listTestFiles } from '../helpers/runner/files.ts';
import { parsePlan } from '../helpers/runner/options.ts';
import { addTallies, judgeRun, makeTally } from '../helpers/runner/tally.ts';
import { runTestFile } from '../helpers/runner/test-file.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const root = join(import.meta.dirname, '../..');
const imports = `import test, { describe } from 'node:test'; import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { makeWorkspace } from '${pathToFileURL(join(root, 'test/helpers/workspace.ts'))}';\n`;

test('the runner counts passes, failures, skips and todos apart, and no suite or parent twice', async (t) => {
  const tally = await runPlanted(
    t,
    `test('passes', () => {});
    test('fails', () => assert.equal(1, 2));
    test('parent', async (t) => { await t.test('child', () => { throw new Error('child is at fault'); }); });
    test('skips', { skip: 'no time' }, () => {});
    test('todo', { todo: true }, () => { throw new Error('not yet'); });
    describe('suite', () => { test('inner', () => {}); });`,
  );
  assert.equal(tally.passed, 2);
  assert.deepEqual(tally.skipped, ['skip: planted: skips', 'todo: planted: todo']);
  assert.deepEqual(
    tally.failures.map(({ name }) => name),
    ['planted: fails', 'planted: parent > child'],
  );
  assert.match(tally.failures[1]!.detail, /child is at fault/);
});

const faults: [what: string, text: string, passed: number, detail: RegExp][] = [
  ['runs no test', "console.log('hello');", 0, /the file ran no test\nhello/],
  ['dies while it loads', "test('a', () => {}); throw new Error('at load');", 0, /ended with code 7[\s\S]*at load/],
  ['is killed', "test('a', () => process.kill(process.pid, 'SIGKILL'));", 0, /the process ended with SIGKILL/],
  ['throws late', "test('a', () => {}).then(() => setTimeout(() => { throw new Error('late'); }, 50));", 1, /late/],
  ['does not end', "test('a', () => {}); setInterval(() => {}, 999);", 1, /not over after 10 s, killed/],
  ['exits before its tests', "test('a', () => {}); process.exit(0);", 0, /the file ran no test/],
];
for (const [what, text, passed, detail] of faults) {
  test(`the runner fails a file that ${what}`, async (t) => {
    const tally = await runPlanted(t, text);
    assert.equal(tally.passed, passed);
    assert.equal(tally.failures.length, 1);
    assert.match(tally.failures[0]!.detail, detail);
  });
}

test('a test that leaves a process of its workspace behind fails, and the process is ended', async (t) => {
  const tally = await runPlanted(
    t,
    `const options = { detached: true, stdio: 'ignore' } as const;
    test('by variable', (t) => {
      const { env } = makeWorkspace(t, { leakLimitMs: 100 });
      spawn('sleep', ['300.1'], { ...options, env }).unref();
    });
    test('by folder', (t) => {
      const { dir } = makeWorkspace(t, { leakLimitMs: 100 });
      spawn('sleep', ['300.2'], { ...options, env: {}, cwd: dir }).unref();
    });
    test('goes by itself', (t) => {
      const { env } = makeWorkspace(t, { leakLimitMs: 60_000 });
      spawn('sleep', ['0.3'], { ...options, env }).unref();
    });`,
  );
  assert.equal(tally.passed, 1, JSON.stringify(tally));
  assert.match(tally.failures[0]!.detail, /left 1 process\(es\) behind, killed now: pid \d+ \(sleep 300\.1\)/);
  assert.match(tally.failures[1]!.detail, /left 1 process\(es\) behind, killed now: pid \d+ \(sleep 300\.2\)/);
  for (const { detail } of tally.failures) {
    assert.equal(readIdentity(Number(/pid (\d+)/.exec(detail)![1])), undefined);
  }
});

test('a file that leaves a process outside any workspace behind fails, and the process is ended', async (t) => {
  const tally = await runPlanted(
    t,
    "test('a', () => { spawn('sleep', ['300.3'], { detached: true, stdio: 'ignore' }).unref(); });",
  );
  assert.equal(tally.passed, 1);
  assert.match(tally.failures[0]!.detail, /left processes behind, killed now: pid \d+ \(sleep 300\.3\)/);
});

test('the closing line names the counts alone, and a run without any test fails', () => {
  assert.deepEqual(judgeRun(makeTally({ passed: 3 })), { text: '3 passed, 0 failed', code: 0 });
  assert.deepEqual(judgeRun(makeTally()), { text: 'no test was run\n0 passed, 0 failed', code: 1 });
  const skipped = judgeRun(makeTally({ passed: 1, skipped: ['skip: a'] }));
  assert.deepEqual(skipped, { text: 'not run, skip: a\n1 passed, 0 failed, 1 skipped', code: 0 });
  assert.equal(judgeRun(makeTally({ skipped: ['skip: a'] })).code, 1);
  const failed = judgeRun(
    addTallies([makeTally({ passed: 2 }), makeTally({ failures: [{ name: 'a', detail: 'b' }] })]),
  );
  assert.deepEqual(failed, { text: '\nFAILED a\n  b\n\n2 passed, 1 failed', code: 1 });
});

test('the runner refuses an unknown step, a Node that is not installed, and a filter that matches nothing', () => {
  for (const [args, reason] of [
    [['--only', 'lints'], /no step is called 'lints'; there are lint, types, unit/],
    [['--only', 'unit', '--nodes', '22'], /--nodes is for the acceptance step/],
    [['--only', 'acceptance', '--nodes', '3'], /Node 3 is not installed; run: npm ci --prefix test\/lab\/nodes/],
    [['no-such-file'], /no test file matches no-such-file/],
    [['--fast'], /Unknown option '--fast'/],
  ] as const) {
    const options = { cwd: root, encoding: 'utf8', timeout: 20_000 } as const;
    const { stdout, status } = spawnSync(process.execPath, ['test/run.mjs', ...args], options);
    assert.match(stdout, reason);
    assert.match(stdout, /\n0 passed, 1 failed\n$/);
    assert.equal(status, 1);
  }
});

test('a run holds every step, the real agent CLIs last; the name of a CLI means that one alone', () => {
  const everything = ['lint', 'types', 'unit', 'structure', 'identity', 'acceptance', 'agents'];
  assert.deepEqual(parsePlan([]).steps, everything);
  assert.deepEqual(parsePlan(['codex']).steps, ['unit', 'structure', 'acceptance']);
  assert.deepEqual(parsePlan(['test/agents/codex.test.ts']).steps, ['agents']);
  const one = parsePlan(['--only', 'agents', '--full', 'codex']);
  assert.deepEqual([one.steps, one.full, one.filters], [['agents'], true, ['codex']]);
  assert.equal(parsePlan([]).full, false);
  assert.deepEqual(listTestFiles('agents', ['codex']), ['test/agents/codex.test.ts']);
  assert.deepEqual(listTestFiles('agents', ['code']), []);
  assert.ok(listTestFiles('acceptance', ['code']).length > 1);
});

async function runPlanted(t: TestContext, text: string) {
  const { base } = makeWorkspace(t, { git: false });
  writeFileSync(join(base, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(base, 'planted.test.ts'), imports + text);
  // Only the planted file that never ends may meet its limit, however busy the machine is.
  const limitMs = text.includes('setInterval') ? 10_000 : 120_000;
  return runTestFile(join(base, 'planted.test.ts'), 'planted', { limitMs });
}
