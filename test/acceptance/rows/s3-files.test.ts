/**
 * S3, the files of a loop and what is read from them.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import test from 'node:test';
import { run } from '../../helpers/companion.ts';
import { expectCode, makeLoop } from '../../helpers/loop.ts';
import { makeWorkspace } from '../../helpers/workspace.ts';

const verbs = [
  'init',
  'plan',
  'status',
  'next',
  'start',
  'checkpoint',
  'check',
  'gate',
  'resume',
  'pace',
  'stop',
  'run',
  'trust',
];

test('S3.4 every need of a long run has its verb', async (t) => {
  const workspace = makeWorkspace(t);
  const help = await expectCode(0, run(workspace, ['loop', '--help']));
  for (const verb of verbs) assert.match(help.stdout, new RegExp(`^${verb} +\\S`, 'm'));
  const init = await expectCode(0, run(workspace, ['loop', 'init', '--help']));
  assert.match(init.stdout, /--max-iterations/);
  assert.match(init.stdout, /--stop-when/);
});

test('S3.5 orient, execute, verify, checkpoint, enforce and pace are done one after the other', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('resume'));
  await expectCode(0, at.loop('next', '--prompt'));
  await expectCode(0, at.loop('check', '--run'));
  await at.iterate();
  assert.equal((await at.gate()).code, 2);
  await expectCode(0, at.loop('pace', '--waiting-on', 'none'));
});

test('S3.6 loop status shows the handoff, the next milestone and the newest entries, bounded', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  await at.iterate();
  const { stdout } = await expectCode(0, at.loop('status'));
  assert.match(stdout, /next: m3 \(pending\): step m3/);
  assert.match(stdout, /-- handoff\n# Handoff/);
  assert.match(stdout, /## Iteration 2 --/);
  assert.ok(stdout.split('\n').length <= 62);
});

test('S3.7 two milestones in progress are a conflict that names both', async (t) => {
  const at = await makeLoop(t);
  const state = at.state();
  for (const one of state.milestones.slice(0, 2)) one.status = 'in_progress';
  writeFileSync(at.path('.loop/state.json'), JSON.stringify(state));
  await expectCode(0, at.loop('trust', '--yes'));
  const { stdout } = await expectCode(3, at.loop('check'));
  assert.match(stdout, /m1, m2/);
});

test('S3.8 the brief has the id, the acceptance, the order of work and the suite; a job carries its milestone', async (t) => {
  const at = await makeLoop(t);
  const { stdout } = await expectCode(0, at.loop('next', '--prompt'));
  for (const part of [
    /Milestone m1: step m1/,
    /- code\.js has m1/,
    /tests that prove the acceptance first/,
    /`sh verify\.sh`/,
    /no debug code/,
    /no files outside the scope/,
  ])
    assert.match(stdout, part);
  const job = await expectCode(0, run(at, ['run', '--milestone', 'm1', '--id-only', '--', 'true']));
  const spec = JSON.parse(at.read(`.job-state/jobs/${job.stdout.trim()}/spec.json`));
  assert.equal(spec.milestone, 'm1');
  await expectCode(0, run(at, ['wait', job.stdout.trim()]));
  const odd = await expectCode(1, run(at, ['run', '--milestone', 'm9', '--', 'true']));
  assert.match(odd.stderr, /there are m1, m2, m3/);
});

test('S3.10 a checkpoint moves iteration, milestone, journal and handoff, and commits them with the code', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const state = at.state();
  assert.deepEqual([state.iteration, state.milestones[0]?.status, state.current], [1, 'done', null]);
  const files = at.git('show', '--name-only', '--format=%s', 'HEAD').trim().split('\n');
  assert.deepEqual(files.filter((line) => line !== '').sort(), [
    '.loop/handoff.md',
    '.loop/journal.md',
    '.loop/state.json',
    'code.js',
    'feat(m1): a step',
  ]);
  assert.equal(at.git('status', '--porcelain').trim(), '');
});

test('S3.11 an entry has the heading, the four parts and what was told', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  assert.match(
    at.read('.loop/journal.md'),
    /^## Iteration 1 -- \d{4}-\d\d-\d\dT[\d:.]+Z\n\n### Did\n\n[\s\S]*- a step\n\n### Verified\n\n- verify\.sh passed\n\n### Deficiencies\n\n- none\n\n### Next\n/m,
  );
});

test('S3.12 the handoff has goal, completed work, next step with acceptance, risks, verify commands and key files', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  await expectCode(0, at.loop('checkpoint', '--did', 'x', '--risk', 'the parser is slow', '--key-file', 'code.js'));
  const text = at.read('.loop/handoff.md');
  for (const part of [
    /## Goal\n\nThree steps/,
    /## Completed\n\n1 of 3/,
    /## Next step\n\nm2: step m2\n\nAcceptance:\n\n- code\.js has m2/,
    /## Risks\n\n- the parser is slow/,
    /`sh verify\.sh`/,
    /Key files:\n\n- code\.js/,
  ])
    assert.match(text, part);
});

test('S3.27 an edit by hand is told by check and refused by whoever writes', async (t) => {
  const at = await makeLoop(t);
  writeFileSync(at.path('.loop/state.json'), at.read('.loop/state.json').replace('"iteration": 0', '"iteration": 7'));
  assert.match((await expectCode(3, at.loop('check'))).stdout, /edited by hand/);
  assert.match((await expectCode(1, at.loop('start'))).stderr, /edited by hand/);
});

test('S3.28 a journal whose committed part was changed is told', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  writeFileSync(at.path('.loop/journal.md'), `x${at.read('.loop/journal.md')}`);
  assert.match((await expectCode(3, at.loop('check'))).stdout, /journal\.md was rewritten/);
});

test('S3.29 the last line of the handoff names the iteration and the plan, and is rewritten with each of them', async (t) => {
  const at = await makeLoop(t);
  const stamp = () => at.read('.loop/handoff.md').trimEnd().split('\n').at(-1);
  const first = stamp();
  assert.match(first ?? '', /^<!-- loop iteration 0 plan [0-9a-f]{16} -->$/);
  await expectCode(0, at.loop('plan', '--milestone', 'm4: one more', '--acceptance', 'm4: x'));
  assert.notEqual(stamp(), first);
  await at.iterate();
  assert.match(stamp() ?? '', /iteration 1/);
});

test('S3.30 a goal alone begins a loop, and next says what is to be done', async (t) => {
  const workspace = makeWorkspace(t);
  await expectCode(0, run(workspace, ['loop', 'init', 'x']));
  assert.match((await expectCode(0, run(workspace, ['loop', 'next']))).stdout, /^plan \(pending\): Write the plan/);
});

test('S3.31 resume prints handoff, state, the last three entries and the check, and ends with its code', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const { stdout } = await expectCode(0, at.loop('resume'));
  const heads = stdout.split('\n').filter((line) => line.startsWith('-- '));
  assert.deepEqual(heads, ['-- handoff', '-- state', '-- journal', '-- check']);
  at.write('stray.txt', 'x');
  assert.match((await expectCode(3, at.loop('resume'))).stdout, /begin no milestone/);
});

test('S3.33 resume of a loop with long texts stays within 200 lines', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  const many = Array.from({ length: 150 }, (_, index) => ['--did', `line ${index}`, '--risk', `risk ${index}`]).flat();
  await expectCode(0, at.loop('checkpoint', ...many));
  const { stdout } = await at.loop('resume');
  assert.ok(stdout.split('\n').length <= 200, `${stdout.split('\n').length} lines`);
});

test('S3.35c a clone of the files goes on where they stand', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  at.git('clone', '-q', at.dir, at.path('../clone'));
  const cwd = at.path('../clone');
  assert.match((await expectCode(0, run(at, ['loop', 'next'], { cwd }))).stdout, /^m2 \(pending\)/);
  await expectCode(0, run(at, ['loop', 'start'], { cwd }));
});
