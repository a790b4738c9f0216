/**
 * Judged runs whose worker is stopped or killed: the numbers go on, no checkpoint is told twice, and the job ends as it would have. And
 * `--stall-after` of a run: what counts as nothing.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import type { Checkpoint } from '../../companion/src/core/health-words.ts';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Job, killNow, launch, launchHeld, untilPid } from '../helpers/jobs.ts';
import { isAlive, killByIdentity } from '../helpers/process.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

type Told = Checkpoint & Record<string, unknown> & { wake: string[] };

const told = (job: Job): Told[] => job.events('checkpoint') as unknown as Told[];
const numbers = (job: Job): number[] => told(job).map(({ n }) => n);
const until = (job: Job, count: number) =>
  eventually(`${count} checkpoints`, () => told(job).length >= count, { limitMs: 60_000 });
const onLinux = { skip: process.platform === 'linux' ? false : 'there is no CPU time here' };

function assertUpwards(list: number[]): void {
  for (const [index, n] of list.entries()) assert.ok(index === 0 || n > (list[index - 1] as number), list.join(' '));
}

test('a worker that was stopped goes on: only the newest missed checkpoint is told, and the job ends as it would', async (t) => {
  const workspace = makeWorkspace(t);
  const probes = join(workspace.base, 'probes');
  const options = ['--checkpoint-every', '500ms', '--probe', `echo x >>${probes}; echo '{}'`];
  const job = await launchHeld(workspace, { options });
  await until(job, 2);
  const worker = job.identity('worker');
  killByIdentity(worker, 'SIGSTOP');
  workspace.defer(() => killByIdentity(worker, 'SIGCONT'));
  const before = numbers(job);
  const stoppedAt = Date.now();
  // Four and more intervals pass without anybody.
  await eventually('time to pass', () => Date.now() - stoppedAt > 2500);
  assert.deepEqual(numbers(job), before);
  killByIdentity(worker, 'SIGCONT');
  await until(job, before.length + 2);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const all = numbers(job);
  assertUpwards(all);
  const gap = (all[before.length] as number) - (before.at(-1) as number);
  assert.ok(gap >= 4, `${all}: the newest comes first`);
  assert.equal(
    told(job).some((one) => one.baseline_reset),
    false,
  );
  assert.deepEqual([job.state().state, job.state().exit_code, job.state().warnings], ['done', 0, []]);
});

test('after kill -9 of the worker a new one goes on with the numbers and says that it measures anew', async (t) => {
  const workspace = makeWorkspace(t);
  const options = [
    '--checkpoint-every',
    '500ms',
    '--expect',
    '600ms',
    '--probe',
    'echo \'{"completed":5,"total":10}\'',
  ];
  const job = await launchHeld(workspace, { options });
  await eventually('attention', () => told(job).some(({ fingerprint }) => fingerprint?.includes('over_expected')), {
    limitMs: 60_000,
  });
  await killNow('the worker', job.identity('worker'));
  const before = told(job);
  const waiting = start(workspace, ['wait', job.id, '--timeout', '100s'], { limitMs: 150_000 });
  await until(job, before.length + 3);
  job.release();
  assert.equal((await waiting.promise).code, 0);
  const all = told(job);
  assertUpwards(numbers(job));
  const later = all.slice(before.length);
  assert.deepEqual(
    later.map(({ baseline_reset }) => baseline_reset),
    [true, ...Array(later.length - 1).fill(undefined)],
  );
  assert.match(later[0]?.reason ?? '', /^over the expected duration/);
  // That cause was told by the worker before; what was still then is measured anew.
  assert.equal(later[0]?.wake.includes('attention'), false);
  assert.equal(later[0]?.fingerprint, 'over_expected');
  assert.equal(job.state().state, 'done');
});

test('a probe whose worker was killed is ended by the next one, before that asks its own', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const pid = join(workspace.base, 'probe-pid');
  const line = `f=${pid}; [ -e $f ] && f=${pid}.second; echo $$ >$f.new; mv $f.new $f; exec sleep 1000`;
  const options = ['--checkpoint-every', '500ms', '--probe', line, '--probe-timeout', '5m'];
  const job = await launchHeld(workspace, { options });
  const probe = await untilPid(pid);
  await killNow('the worker', job.identity('worker'));
  const waiting = start(workspace, ['wait', job.id, '--timeout', '100s'], { limitMs: 150_000 });
  await untilPid(`${pid}.second`);
  assert.equal(isAlive(probe), false);
  job.release();
  assert.equal((await waiting.promise).code, 0);
  assert.deepEqual(job.state().warnings, []);
});

test('a cancel is settled while a probe runs, and leaves nothing of it', async (t) => {
  const workspace = makeWorkspace(t);
  const pid = join(workspace.base, 'probe-pid');
  const line = `echo $$ >${pid}.new; mv ${pid}.new ${pid}; trap '' TERM; while :; do sleep 1; done`;
  const options = ['--checkpoint-every', '200ms', '--probe', line, '--probe-timeout', '5m', '--kill-after', '5m'];
  const job = await launchHeld(workspace, { options });
  const probe = await untilPid(pid);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.equal(job.state().state, 'canceled');
  await eventually('the probe to be gone', () => !isAlive(probe));
  // The command and nothing of the probe.
  const ended = job.json<{ ended_processes?: { name: string }[] }>('result.json').ended_processes ?? [];
  assert.equal(
    ended.some(({ name }) => name === 'sleep'),
    false,
    JSON.stringify(ended),
  );
});

test(
  'a command that is silent and asleep is stalled, and what was seen is told (--stall-after)',
  onLinux,
  async (t) => {
    const workspace = makeWorkspace(t);
    const job = await launchHeld(workspace, { options: ['--stall-after', '1s', '--kill-after', '1s'] });
    assert.equal((await run(workspace, ['wait', job.id])).code, 3);
    const { error } = job.state();
    assert.equal(error?.code, 'stalled');
    assert.match(
      error?.message ?? '',
      /nothing happened .*--stall-after; for 1(?:\.\d)?s nothing printed, .* ms of CPU, no descendant$/,
    );
    assert.match(String(job.events('stopping')[0]?.seen), /nothing printed/);
    assert.match((await run(workspace, ['result', job.id])).stdout, /nothing printed, no result path changed/);
  },
);

test('descendants that sleep do not rescue a command from its stall', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const script = 'sleep 1000 & sleep 1000 & wait';
  const job = await launch(workspace, ['--stall-after', '1s', '--kill-after', '1s', '--', 'sh', '-c', script]);
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  assert.match(job.state().error?.message ?? '', /2 descendants asleep/);
});

test('a command that computes in silence, or whose grandchild does, is not stalled', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const pid = join(workspace.base, 'pid');
  const script = `(while :; do :; done) & echo $! >${pid}; wait; exit 0`;
  const options = ['--stall-after', '1s', '--checkpoint-every', '1s'];
  const job = await launch(workspace, [...options, '--', 'sh', '-c', script]);
  // Five whole windows without a word.
  await until(job, 5);
  assert.equal(job.state().state, 'running');
  killByIdentity(await untilPid(pid));
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('a result path that changes is not nothing', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('out', '');
  const options = ['--stall-after', '2s', '--checkpoint-every', '1s', '--result', 'out'];
  const job = await launchHeld(workspace, { options });
  let size = 0;
  await eventually(
    'six checkpoints, with the file growing',
    () => {
      size += 1;
      workspace.write('out', 'x'.repeat(size));
      return told(job).length >= 6;
    },
    { limitMs: 60_000, everyMs: 100 },
  );
  assert.equal(job.state().state, 'running');
  assert.deepEqual([...new Set(told(job).map(({ state }) => state))], ['progressing']);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('observe shows the newest judgement', async (t) => {
  const workspace = makeWorkspace(t);
  const options = ['--checkpoint-every', '400ms', '--expect', '1ms'];
  const job = await launchHeld(workspace, { options });
  await until(job, 1);
  const { health, attention_kind } = parseReply<Record<string, unknown>>(await run(workspace, ['observe', job.id]));
  assert.deepEqual([health, attention_kind], ['attention', 'task_attention']);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  // A judgement of a running job says nothing of an ended one.
  assert.deepEqual([job.state().health, job.state().attention_kind], ['unknown', null]);
});
