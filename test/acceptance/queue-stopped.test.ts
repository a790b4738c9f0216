/**
 * What stands in the way of a queue and does not go away by itself - stopped workers, a lock that is not given back, a key that is missing -
 * holds nobody up for ever, is told, and never lets one too many begin.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { identityOf } from '../../companion/src/platform/identity.ts';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Job, killNow, launch, makeHold, untilHeld } from '../helpers/jobs.ts';
import { killByIdentity } from '../helpers/process.ts';
import { patient, untilQueued } from '../helpers/queue.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

async function makeQueue(t: TestContext) {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const queued = await launch(workspace, ['--max-live', '1', '--', 'true']);
  await untilQueued(queued);
  return { workspace, hold, holder, queued };
}

function stopWorker(t: TestContext, job: Job) {
  const worker = job.identity('worker');
  killByIdentity(worker, 'SIGSTOP');
  t.after(() => killByIdentity(worker, 'SIGCONT'));
  return worker;
}

const alarmsOf = (job: Job) => job.events('queued').filter((event) => event.wake !== undefined);
const untilEnded = (job: Job) =>
  eventually('its end', () => !['queued', 'starting', 'running'].includes(job.state().state), patient);

test('a job at work whose worker is stopped is told, and keeps its place only as long as its command runs', async (t) => {
  const { workspace, hold, holder, queued } = await makeQueue(t);
  const worker = stopWorker(t, holder);
  await eventually('the event', () => alarmsOf(queued).length > 0, patient);
  const seen = JSON.parse((await run(workspace, ['observe', queued.id, '--json'])).stdout);
  assert.deepEqual([seen.health, seen.attention_kind], ['attention', 'monitor_attention']);
  assert.match(seen.reason, new RegExp(`^behind ${holder.id}, .*kill -CONT ${worker.pid}`));
  assert.ok(!queued.has('turn.json'));
  hold.release();
  await untilEnded(queued);
  assert.deepEqual([queued.state().state, alarmsOf(queued).length], ['done', 1]);
  assert.equal(holder.state().state, 'running');
  killByIdentity(worker, 'SIGCONT');
  assert.equal((await run(workspace, ['wait', holder.id])).code, 0);
});

for (const what of ['stopped', 'killed'])
  test(`cancel of a queued job whose worker is ${what} needs nobody else, and it is never started`, async (t) => {
    const { workspace, hold, holder, queued } = await makeQueue(t);
    const worker = queued.identity('worker');
    if (what === 'stopped') stopWorker(t, queued);
    else await killNow('the worker', worker);
    assert.equal((await run(workspace, ['cancel', queued.id])).code, 0);
    const state = queued.state();
    assert.equal(state.state, 'canceled');
    hold.release();
    killByIdentity(worker, 'SIGCONT');
    assert.equal((await run(workspace, ['wait', holder.id])).code, 0);
    await eventually('its worker to go', () => !identityOf(worker.pid), patient);
    assert.deepEqual(queued.state(), state);
    assert.deepEqual([queued.has('started'), queued.has('turn.json')], [false, false]);
  });

test('the key is missing for a while when a turn can be taken: it is taken later', async (t) => {
  const { workspace, hold, holder, queued } = await makeQueue(t);
  const key = join(workspace.env.XDG_CONFIG_HOME as string, 'job-companion/key');
  const worker = queued.identity('worker');
  renameSync(key, `${key}.away`);
  hold.release();
  await eventually('the end before', () => holder.state().state === 'done', patient);
  await eventually('the event', () => alarmsOf(queued).length > 0, patient);
  assert.ok(!queued.has('turn.json'));
  renameSync(`${key}.away`, key);
  await untilEnded(queued);
  assert.deepEqual([queued.state().state, queued.identity('worker').pid], ['done', worker.pid]);
});

test('a stopped process that holds the lock of the queue is told and passed', async (t) => {
  const { workspace, hold, queued } = await makeQueue(t);
  const idle = spawn('sleep', ['600'], { env: workspace.env });
  const holder = identityOf(idle.pid as number);
  assert.ok(holder);
  idle.kill('SIGSTOP');
  const gone = once(idle, 'exit');
  workspace.write('.job-state/queue.lock/1000', JSON.stringify(holder));
  hold.release();
  await untilEnded(queued);
  idle.kill('SIGKILL');
  await gone;
  assert.equal(queued.state().state, 'done');
  assert.match(String(alarmsOf(queued)[0]?.message), new RegExp(`kill -CONT ${holder.pid}`));
});

test('a sign of life of the future is none: a stopped worker does not hold its queue up with it', async (t) => {
  const { workspace, hold, queued } = await makeQueue(t);
  const behind = await launch(workspace, ['--max-live', '1', '--', 'true']);
  await untilQueued(behind);
  const worker = stopWorker(t, queued);
  const later = Date.now() / 1000 + 172_800;
  utimesSync(workspace.path(`.job-state/jobs/${queued.id}/lease.json`), later, later);
  hold.release();
  await untilEnded(behind);
  assert.deepEqual([behind.state().state, queued.state().state], ['done', 'queued']);
  killByIdentity(worker, 'SIGCONT');
  assert.equal((await run(workspace, ['wait', queued.id])).code, 0);
});
