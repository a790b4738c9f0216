/**
 * S3, the gate at a boundary: its word, its evidence, and what stops a loop.
 */
import assert from 'node:assert/strict';
import { appendFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { run } from '../../helpers/companion.ts';
import { expectCode, type LoopWorkspace, makeLoop } from '../../helpers/loop.ts';

test('S3.9 verify commands run in their order, and the first failure ends it', async (t) => {
  const at = await makeLoop(t, [
    '--verify',
    'one: echo 1 >>../ran',
    '--verify',
    'two: echo 2 >>../ran; exit 4',
    '--verify',
    'three: echo 3 >>../ran',
  ]);
  await at.iterate();
  const report = await at.gate();
  assert.equal(at.read('../ran'), '1\n2\n');
  assert.match(report.fixes[0]?.what ?? '', /two: exit 4/);
});

test('S3.13 the gate gives one verdict, with evidence of each check', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const report = await at.gate();
  assert.equal(report.verdict, 'GO');
  assert.deepEqual(
    report.checks.map(({ id }) => id),
    ['E1', 'E2', 'E2b', 'E3', 'E4', 'E5', 'E6', 'E7'],
  );
  for (const { evidence } of report.checks) assert.ok(evidence.length > 0);
});

test('S3.14 a repair writes the files of the loop and nothing else, and does nothing when code is at fault', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  rmSync(at.path('.loop/handoff.md'));
  assert.equal((await at.gate()).code, 3);
  assert.equal((await at.gate('--repair')).code, 2);
  const changed = at.git('status', '--porcelain').trim().split('\n');
  assert.ok(
    changed.every((line) => line.includes('.loop/')),
    changed.join('\n'),
  );
  rmSync(at.path('.loop/handoff.md'));
  at.write('stray.js', '');
  const report = await at.gate('--repair');
  assert.deepEqual([report.code, report.failed_checks], [3, ['E4', 'E5']]);
});

test('S3.15 the third NO-GO of one iteration is STOP remediation_exhausted', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  at.write('broken', '');
  const seen = [];
  for (let round = 0; round < 3; round += 1) seen.push((await at.gate()).reason);
  assert.deepEqual(seen, [null, null, 'remediation_exhausted']);
  assert.equal(at.state().remediation_rounds, 3);
});

test('S3.21 the gate behind the last milestone exits 0', async (t) => {
  const at = await makeLoop(t);
  for (let count = 0; count < 3; count += 1) await at.iterate();
  const report = await at.gate();
  assert.deepEqual([report.code, report.reason], [0, 'finished']);
});

test('S3.22 iteration equal to the budget is 3 iterations_exhausted', async (t) => {
  const at = await makeLoop(t, ['--max-iterations', '1']);
  await at.iterate();
  const report = await at.gate();
  assert.deepEqual([report.code, report.reason], [3, 'iterations_exhausted']);
});

test('S3.23 the same failure three iterations running is 3 repeated_failure', async (t) => {
  const at = await makeLoop(t, ['--milestone', 'm4: four', '--acceptance', 'm4: x']);
  at.write('broken', '');
  const seen = [];
  for (let count = 0; count < 3; count += 1) {
    await at.iterate();
    seen.push((await at.gate()).reason);
  }
  assert.deepEqual(seen, [null, null, 'repeated_failure']);
});

test('S3.24 file, date and command conditions are evaluated; words become a question', async (t) => {
  const at = await makeLoop(t, [
    '--stop-when',
    'the user is content',
    '--stop-when',
    'file:enough',
    '--stop-when',
    'date:2999-01-01',
    '--stop-when',
    'cmd:test -e ../enough',
  ]);
  await at.iterate();
  const report = await at.gate();
  assert.equal(report.code, 2);
  assert.match(report.questions.find(({ id }) => id === 'E7.1')?.question ?? '', /the user is content/);
  assert.match(
    report.checks.at(-1)?.evidence.join('\n') ?? '',
    /file:enough: not met[\s\S]*date:2999-01-01: not met[\s\S]*cmd:test -e \.\.\/enough: not met/,
  );
  at.write('../enough', '');
  assert.equal((await at.gate()).code, 4);
});

test('S3.25 the last entry of the journal names the condition that fired', async (t) => {
  const at = await makeLoop(t, ['--stop-when', 'date:2020-01-01']);
  await at.iterate();
  assert.equal((await at.gate()).code, 4);
  const last = at.read('.loop/journal.md').split('\n## ').at(-1) ?? '';
  assert.match(last, /STOP: declared \(date:2020-01-01\)/);
});

async function startJob(at: LoopWorkspace, ...args: string[]): Promise<string> {
  return (await expectCode(0, run(at, ['run', '--milestone', 'm1', '--id-only', '--', ...args]))).stdout.trim();
}

test('S3.34 jobs of the milestone stand in the entry with start, end and outcome; a failed one is NO-GO until it is made good', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  const bad = await startJob(at, 'test', '-e', '../there');
  await expectCode(3, run(at, ['wait', bad]));
  await expectCode(0, at.loop('checkpoint', '--did', 'x'));
  assert.match(at.read('.loop/journal.md'), new RegExp(`job ${bad} \\(m1\\): failed, from 20\\S+ to 20\\S+`));
  const report = await at.gate();
  assert.deepEqual([report.code, report.failed_checks], [3, ['E2b']]);
  assert.match(report.fixes[0]?.what ?? '', new RegExp(bad));
  at.write('../there', '');
  const good = await startJob(at, 'test', '-e', '../there');
  await expectCode(0, run(at, ['wait', good]));
  assert.equal((await at.gate()).code, 2);
});

test('S3.36 a damaged state and a next milestone without acceptance are NO-GO', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('plan', '--milestone', 'm4: vague'));
  for (let count = 0; count < 3; count += 1) await at.iterate();
  assert.match((await at.gate()).fixes.map(({ what }) => what).join('\n'), /milestone m4 has no acceptance/);
  writeFileSync(at.path('.loop/state.json'), '{"schema": 1');
  assert.match((await expectCode(3, at.loop('check'))).stdout, /state\.json is no JSON/);
});

test('S3.37 a suite that fails is NO-GO with its last words', async (t) => {
  const at = await makeLoop(t, ['--verify', 'suite: echo 3 tests failed; exit 1']);
  await at.iterate();
  const report = await at.gate();
  assert.deepEqual([report.code, report.failed_checks], [3, ['E2']]);
  assert.match(report.fixes[0]?.what ?? '', /suite: exit 1: 3 tests failed/);
});

test('S3.38 a harness is told from its files, and asked about', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const report = await at.gate();
  assert.match(report.checks.find(({ id }) => id === 'E3')?.evidence.join() ?? '', /package\.json/);
  assert.ok(report.questions.some(({ id }) => id === 'E3'));
});

test('S3.39 TODO, FIXME and HACK on added lines are NO-GO with file and line', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  at.write('code.js', 'a\n// TODO b\nc // FIXME\n/* HACK */\nTODOS are fine\n');
  await expectCode(0, at.loop('checkpoint', '--did', 'x'));
  const told = (await at.gate()).fixes.map(({ what }) => what);
  assert.deepEqual(
    told.map((what) => what.split(' ')[0]),
    ['code.js:2', 'code.js:3', 'code.js:4'],
  );
});

test('S3.40 new times of all files change nothing, another stamp does', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  for (const name of ['handoff.md', 'state.json']) utimesSync(at.path(`.loop/${name}`), 1, 1);
  assert.equal((await at.gate()).code, 2);
  writeFileSync(
    at.path('.loop/handoff.md'),
    at.read('.loop/handoff.md').replace('loop iteration 1 ', 'loop iteration 0 '),
  );
  assert.deepEqual((await at.gate()).failed_checks, ['E5']);
});

test('S3.41 an iteration without its entry is NO-GO', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  writeFileSync(at.path('.loop/state.json'), at.read('.loop/state.json').replace('"iteration": 1', '"iteration": 2'));
  await expectCode(0, at.loop('trust', '--yes'));
  const report = await at.gate();
  assert.match(report.fixes.map(({ what }) => what).join('\n'), /no whole entry of iteration 2/);
});

test('S3.42 a stop comes before GO, also when everything passes', async (t) => {
  const at = await makeLoop(t, ['--stop-when', 'date:2020-01-01']);
  await at.iterate();
  const report = await at.gate();
  assert.deepEqual([report.code, report.verdict, report.failed_checks], [4, 'STOP', []]);
});

test('S3.43 three failed checks are code 3 and a list of three', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  at.write('broken', '');
  rmSync(at.path('.loop/handoff.md'));
  const report = await at.gate();
  assert.deepEqual([report.code, report.failed_checks], [3, ['E2', 'E4', 'E5']]);
});

test('S3.46 debug code is told on added lines of code, never in prose or in what stood there', async (t) => {
  const at = await makeLoop(t);
  at.write('old.py', 'breakpoint()\n');
  at.git('add', '-A');
  at.git('commit', '-q', '-m', 'Old');
  await expectCode(0, at.loop('start'));
  at.write('a.py', 'import pdb\npdb.set_trace()\nbreakpoint()\nprint("DEBUG", x)\nlogger.debug(x)\n');
  at.write('a.js', 'console.log(1)\ndebugger;\n');
  at.write('a.md', 'use console.log for it\n');
  appendFileSync(at.path('old.py'), 'fine()\n');
  await expectCode(0, at.loop('checkpoint', '--did', 'x'));
  const places = new Set((await at.gate()).fixes.map(({ what }) => what.split(' ')[0]));
  assert.deepEqual([...places].sort(), ['a.js:1', 'a.js:2', 'a.py:1', 'a.py:2', 'a.py:3', 'a.py:4', 'a.py:5']);
});

test('S3.48 questions are listed; answers count only for the questions as they are, and a no is NO-GO', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const asked = await at.gate();
  assert.deepEqual(asked.unanswered, ['E1', 'E3', 'E5']);
  const judged = (holds: boolean, digest = asked.judge_digest) => {
    const answers = Object.fromEntries(asked.unanswered.map((id) => [id, { holds, why: 'seen' }]));
    at.write('../judge.json', JSON.stringify({ for: digest, answers }));
    return at.loop('gate', '--json', '--judge', '../judge.json');
  };
  assert.deepEqual(JSON.parse((await expectCode(2, judged(true))).stdout).unanswered, []);
  await expectCode(3, judged(false));
  await expectCode(1, judged(true, 'yesterday'));
});
