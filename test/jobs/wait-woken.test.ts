// The end wins over whatever else there is to tell: when both are there at once, and when one comes just before the other.
import assert from 'node:assert/strict';
import { appendFileSync, readdirSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { waitAndTell } from '../../companion/src/commands/collecting.ts';
import type { Context } from '../../companion/src/commands/command.ts';
import type { Collecting } from '../../companion/src/commands/wait-again.ts';
import { tellWaited } from '../../companion/src/commands/waited.ts';
import { inspect } from '../../companion/src/jobs/view.ts';
import { waitForJobs } from '../../companion/src/jobs/wait.ts';
import { holdFifo, makeFifo } from '../../companion/src/platform/fifo.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { writeState } from '../../companion/src/store/records.ts';
import { eventually } from '../helpers/eventually.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState } from '../store/job-record.ts';

const otherId = 'run-loyw3v29-09az03';
const event = (seq: number) =>
  `${JSON.stringify({ seq, at: 'x', job: jobId, owner: null, type: 'news', wake: ['news'] })}\n`;
const context = { isTerminal: false, width: 80, live: null, tell: () => undefined } as unknown as Context;
const options: Collecting = { mode: 'any', timeoutMs: 60_000, heartbeatMs: null, isJson: true, until: ['news'] };

/** A job that this very process looks after. */
async function makeHeld(t: TestContext, root: string, id: string) {
  const worker = ownIdentity();
  const paths = makeJob(
    root,
    {
      spec: makeSpec({ id }),
      state: makeState({ id }),
      launch: { worker, generation: 1 },
      worker: { worker, shim: null, child: null, fifo: true, cgroup: null },
      lease: '{}',
      events: event(1).replace(',"wake":["news"]', ''),
    },
    { id },
  );
  await makeFifo(paths.leaseFifo);
  const release = holdFifo(paths.leaseFifo);
  t.after(() => release?.());
  return paths;
}

test('a job that ended just before its event is seen is told as ended', async (t) => {
  const { root } = makePlace(t);
  const paths = await makeHeld(t, root, jobId);
  let looks = 0;
  const waiting = waitForJobs(root, [jobId], {
    ...options,
    heartbeatMs: 50,
    onHeartbeat: () => {
      looks += 1;
    },
  });
  await eventually('it to sleep', () => looks >= 3);
  // The state first, without letting go of the FIFO: only the event wakes it.
  writeState(paths, makeState({ state: 'done', exit_code: 0, ended_at: '2023-11-14T22:14:20.000Z' }));
  appendFileSync(paths.events, event(2));
  const { views, woken } = await waiting;
  assert.equal(woken, null);
  assert.equal(views[0]?.state.state, 'done');
});

test('an event wakes without any look at the rest of the record', async (t) => {
  const { root } = makePlace(t);
  const paths = await makeHeld(t, root, jobId);
  let looks = 0;
  const onHeartbeat = () => {
    looks += 1;
  };
  const waiting = waitForJobs(root, [jobId], { ...options, heartbeatMs: 50, onHeartbeat });
  await eventually('it to sleep', () => looks >= 3);
  appendFileSync(paths.events, event(2));
  const { woken } = await waiting;
  assert.deepEqual([woken?.id, woken?.wake, woken?.nextSeq], [jobId, 'news', 2]);
});

test('with --any the end of one job comes before the wake of another', async (t) => {
  const { root } = makePlace(t);
  await makeHeld(t, root, jobId);
  makeJob(
    root,
    {
      spec: makeSpec({ id: otherId }),
      state: makeState({ id: otherId, state: 'failed', ended_at: '2023-11-14T22:14:20.000Z' }),
    },
    { id: otherId },
  );
  const views = [inspect(root, jobId), inspect(root, otherId)];
  const seen = { seq: 2, at: 'x', job: jobId, owner: null, type: 'news' as const };
  const woken = { id: jobId, wake: 'news' as const, event: seen, nextSeq: 2, pending: 0, skipped: 0 };
  const tell = (mode: 'any' | 'all') => {
    const reply = tellWaited(context, { folder: root, option: [] }, { views, woken, beyond: [] }, { ...options, mode });
    const { wake, jobs } = reply.json as { wake: string; jobs: { id: string }[] };
    return [reply.code, wake, jobs.map(({ id }) => id)];
  };
  assert.deepEqual(tell('any'), [3, 'terminal', [otherId]]);
  assert.deepEqual(tell('all'), [2, 'news', [jobId]]);
});

test('nobody is left registered after a wake, and the state was not touched', async (t) => {
  const { root } = makePlace(t);
  const paths = await makeHeld(t, root, jobId);
  const before = inspect(root, jobId).state;
  appendFileSync(paths.events, event(2));
  const reply = await waitAndTell(context, { folder: root, option: [] }, [jobId], options);
  assert.equal(reply.code, 2);
  assert.deepEqual(inspect(root, jobId).state, before);
  assert.throws(() => readdirSync(paths.waiters), { code: 'ENOENT' });
});

test('a wait for many jobs is as silent as one for one', async (t) => {
  const { root } = makePlace(t);
  const ids = Array.from({ length: 14 }, (_, at) => `run-loyw3v${(20 + at).toString(36)}-09az03`);
  for (const id of ids) await makeHeld(t, root, id);
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.message);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const { views } = await waitForJobs(root, ids, { ...options, timeoutMs: 1500 });
  assert.deepEqual([views.length, warnings], [14, []]);
});
