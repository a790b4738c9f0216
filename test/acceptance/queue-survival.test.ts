/**
 * What a queue loses when workers of queued and of running jobs are killed, stopped or forged: nothing. Nobody looks at the jobs meanwhile
 * unless a test says so; the queue looks after itself.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Hold, type Job, killNow, launch, makeHold, untilHeld } from '../helpers/jobs.ts';
import { killByIdentity } from '../helpers/process.ts';
import { patient, untilAllEnded, untilQueued } from '../helpers/queue.ts';
import { canRestart, runAfterRestart } from '../helpers/restarted.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('workers of queued and of running jobs killed in the middle: nobody looks, and all end, in order, once each', async (t) => {
  const workspace = makeWorkspace(t);
  const holds = Array.from({ length: 5 }, () => makeHold(workspace));
  // What workers start without, and hand back to their child: also one that another worker started.
  const caller = { NODE_OPTIONS: '--no-deprecation', NODE_EXTRA_CA_CERTS: '/none' };
  const jobs: Job[] = [];
  for (const hold of holds)
    jobs.push(await launch(workspace, ['--max-live', '2', '--', ...hold.command], { env: caller }));
  const [first, second, third, fourth, fifth] = jobs as [Job, Job, Job, Job, Job];
  await untilHeld(holds[1] as Hold);
  for (const job of [third, fourth, fifth]) await untilQueued(job);
  // The two before the last, and one that runs: its command goes on under its shim.
  await killNow('the worker of the first', first.identity('worker'));
  await Promise.all([third, fourth].map((job) => killNow('the worker of a queued job', job.identity('worker'))));
  for (const job of [third, fourth])
    await eventually('a replacement that waits', () => job.events('worker_replaced').length === 1, patient);
  assert.deepEqual(
    [third, fourth].map((job) => job.state().state),
    ['queued', 'queued'],
  );
  assert.ok(!third.has('started'));

  holds[0]?.release();
  await untilHeld(holds[2] as Hold);
  assert.deepEqual([first.state().state, first.state().reconciled], ['done', true]);
  assert.ok(!fourth.has('started'));
  for (const hold of holds.slice(1)) {
    await untilHeld(hold);
    hold.release();
  }
  await untilAllEnded(workspace);
  assert.deepEqual(
    jobs.map((job) => job.state().state),
    Array(5).fill('done'),
  );
  for (const job of jobs) assert.deepEqual([job.id, job.state().warnings], [job.id, []]);
  // Told where it happened, and not once more when the turn came.
  assert.deepEqual(
    third
      .events()
      .map((event) => event.type)
      .filter((type) => /claimed|replaced|turn/.test(type)),
    ['worker_replaced', 'turn', 'claimed'],
  );
  assert.ok(second.has('turn.json'));
});

test('a worker that is killed between its turn and the start is replaced by the first of the queue', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const next = await launch(workspace, ['--max-live', '1', '--', 'sh', '-c', 'echo next']);
  const last = await launch(workspace, ['--max-live', '1', '--', 'sh', '-c', 'echo last']);
  for (const job of [next, last]) await untilQueued(job);
  const worker = next.identity('worker');
  hold.release();
  await eventually('its turn', () => next.has('turn.json'), { everyMs: 1, ...patient });
  killByIdentity(worker);
  await untilAllEnded(workspace);
  assert.deepEqual(
    [holder, next, last].map((job) => job.state().state),
    ['done', 'done', 'done'],
  );
});

test('a turn that somebody else wrote down is none', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const queued = await launch(workspace, ['--max-live', '1', '--', 'true']);
  await untilQueued(queued);
  const taken = holder.text('turn.json');
  for (const text of [taken, taken.replace(/"mac":"[^"]*"/, '"mac":""'), '{}', 'x']) {
    workspace.write(`.job-state/jobs/${queued.id}/turn.json`, text);
    // A replacement would believe it first of all.
    await killNow('the worker', queued.identity('worker'));
    assert.equal((await run(workspace, ['wait', queued.id, '--timeout', '1s'])).code, 2);
    assert.equal(queued.state().state, 'queued', text);
    assert.ok(!queued.has('started'));
  }
  hold.release();
  assert.equal((await run(workspace, ['wait', queued.id])).code, 0);
});

test('a stopped worker holds its queue up for a lease, not for ever', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const stopped = await launch(workspace, ['--max-live', '1', '--', 'true']);
  await untilQueued(stopped);
  const behind = await launch(workspace, ['--max-live', '1', '--', 'true']);
  await untilQueued(behind);
  const worker = stopped.identity('worker');
  killByIdentity(worker, 'SIGSTOP');
  t.after(() => killByIdentity(worker, 'SIGCONT'));
  hold.release();
  assert.equal((await run(workspace, ['wait', holder.id, behind.id, '--all'])).code, 0);
  assert.deepEqual([stopped.state().state, stopped.has('turn.json')], ['queued', false]);
  killByIdentity(worker, 'SIGCONT');
  assert.equal((await run(workspace, ['wait', stopped.id])).code, 0);
});

test('a job that is queued when the machine is booted again goes on waiting, and has its turn', async (t) => {
  if (!canRestart()) return t.skip('needs the right to make a mount namespace');
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const jobs = [];
  for (const word of ['a', 'b'])
    jobs.push(await launch(workspace, ['--max-live', '1', '--', 'sh', '-c', `echo ${word} >>log`]));
  const [first, second] = jobs as [Job, Job];
  for (const job of jobs) await untilQueued(job);
  // What a restart takes: the command and all workers at once.
  const workers = [...jobs, holder].map((job) => job.identity('worker'));
  for (const worker of workers) killByIdentity(worker, 'SIGSTOP');
  for (const one of [holder.identity('shim'), holder.identity('child'), ...workers]) killByIdentity(one);
  // Only the last one is waited for: it brings those before it back.
  assert.equal((await runAfterRestart(workspace, ['wait', second.id, '--timeout', '5m'])).code, 0);
  assert.deepEqual(
    jobs.map((job) => job.state().state),
    ['done', 'done'],
  );
  assert.deepEqual([holder.state().state, holder.state().error?.code], ['crashed', 'host_restarted']);
  assert.equal(workspace.read('log'), 'a\nb\n');
  assert.ok(first.events('worker_replaced').length === 1);
});

test('the workers of queued jobs leave when their state folder is taken away', async (t) => {
  const workspace = makeWorkspace(t, { leakLimitMs: 30_000 });
  const hold = makeHold(workspace);
  await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  for (const _ of [1, 2]) await untilQueued(await launch(workspace, ['--max-live', '1', '--', 'true']));
  workspace.defer(() => hold.release());
  rmSync(workspace.path('.job-state'), { recursive: true });
});
