/**
 * S0, what is fixed at the launch: the command and its words, its folder, its owner, its limits.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Spec } from '../../../companion/src/core/job.ts';
import { run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { launch } from '../../helpers/jobs.ts';
import { listJobs, listLiving, runToEnd } from '../../helpers/rows.ts';
import { makeWorkspace } from '../../helpers/workspace.ts';

test('S0.2 a command that reads its input finds the end of it at once', async (t) => {
  const { wait, state } = await runToEnd(makeWorkspace(t), ['--', 'cat']);
  assert.deepEqual([wait.code, wait.stdout, state.exit_code], [0, '', 0]);
});

test('S0.4 the exact command runs once, whoever waits, dies or asks again', async (t) => {
  const workspace = makeWorkspace(t);
  const count = join(workspace.base, 'count');
  const hold = [
    'sh',
    '-c',
    'echo "$*" >>"$0"; while [ ! -e "$2" ]; do sleep 0.1; done',
    count,
    'a b',
    join(count, '..', 'end'),
  ];
  const job = await launch(workspace, ['--', ...hold]);
  const waits = [0, 1].map(() => start(workspace, ['wait', job.id]));
  await eventually('the command to run', () => existsSync(count));
  for (const waiting of waits) {
    waiting.kill('SIGKILL');
    await waiting.promise;
  }
  workspace.write('../end', '');
  for (const _ of [0, 1]) assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.equal(readFileSync(count, 'utf8'), `a b ${join(workspace.base, 'end')}\n`);
  assert.deepEqual(job.json<Spec>('spec.json').run?.argv, hold);
});

test('S0.5 a missing folder, or a file in its place, is refused with 1 and makes no job', async (t) => {
  const workspace = makeWorkspace(t);
  for (const folder of ['/no/such', workspace.path('README.md')]) {
    const { code, stdout, stderr } = await run(workspace, ['run', '--cwd', folder, '--', 'true']);
    assert.deepEqual([code, stdout], [1, '']);
    assert.ok(stderr.includes(folder), stderr);
  }
  assert.deepEqual(listJobs(workspace), []);
});

test('S0.7 the owner stands in the record and in every event', async (t) => {
  const { job } = await runToEnd(makeWorkspace(t), ['--owner', 'team/lead-7', '--', 'true']);
  assert.equal(job.json<Spec>('spec.json').owner, 'team/lead-7');
  const owners = job.events().map(({ owner }) => owner);
  assert.ok(owners.length >= 3);
  assert.deepEqual([...new Set(owners)], ['team/lead-7']);
});

test('S0.10 the hard limit is 24 hours, or the one that was given by either name', async (t) => {
  const workspace = makeWorkspace(t);
  const limit = async (...words: string[]) =>
    (await launch(workspace, [...words, '--', 'true'])).json<Spec>('spec.json').deadline_ms;
  assert.equal(await limit(), 86_400_000);
  assert.equal(await limit('--deadline', '2h'), 7_200_000);
  assert.equal(await limit('--timeout', '2h'), 7_200_000);
});

test('S0.14 a bad option anywhere is refused with 1 before anything is made or started', async (t) => {
  const workspace = makeWorkspace(t);
  const ran = workspace.path('ran');
  for (const words of [
    ['--no-such'],
    ['--deadline', '0'],
    ['--timeout', '31d'],
    ['--kill-after', '-1s'],
    ['--checkpoint-every', '10'],
    ['--sample-every', '0s'],
    ['--probe-timeout', '1y'],
    ['--expect', 'soon'],
    ['--success-exit', '256'],
    ['--success-file', ''],
    ['--max-output', '1'],
    ['--stall-after', '-5m'],
    ['--identity', 'task-1'],
    ['--cwd', '/no/such'],
    ['--shell', '--', 'touch', ran],
  ]) {
    const whole = words.includes('--') ? words : [...words, '--', 'touch', ran];
    const { code, stdout, stderr } = await run(workspace, ['run', ...whole]);
    assert.deepEqual([code, stdout], [1, ''], words.join(' '));
    assert.match(stderr, /^job-companion: cannot |^job-companion: .*unknown/, words.join(' '));
  }
  assert.deepEqual([listJobs(workspace), listLiving(workspace), existsSync(ran)], [[], [], false]);
});

test('S0.29 quotes, dollars, newlines and bytes of every kind reach the command as they are', async (t) => {
  const weird = `it's "q" $HOME \`id\` $(id) \\n\n\ttab *? ~ --timeout 1s; exit 9 & | > < € \u{1f600} `;
  const { wait } = await runToEnd(makeWorkspace(t), ['--', 'printf', '%s|', weird, '', '--', '-x']);
  assert.deepEqual([wait.code, wait.stdout], [0, `${weird}||--|-x|`]);
});
