// What only a reader can see: a worker that is stopped, silent or gone, and a checkpoint that did not come.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { utimesSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import type { Checkpoint, JobState, Spec } from '../../companion/src/core/job.ts';
import { healthOf } from '../../companion/src/jobs/health-seen.ts';
import { conditionOf, inspect } from '../../companion/src/jobs/view.ts';
import { monotonicMs } from '../../companion/src/platform/clock.ts';
import { identityOf, ownIdentity } from '../../companion/src/platform/identity.ts';
import { eventually } from '../helpers/eventually.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState, staffChange } from '../store/job-record.ts';

const launch = { worker: ownIdentity(), generation: 1 };
const dead = { worker: { ...ownIdentity(), start_token: '1' }, generation: 1 };
const minute = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

function seen(t: TestContext, files: Parameters<typeof makeJob>[1], leaseAgeMs = 0) {
  const { root } = makePlace(t);
  const paths = makeJob(root, { lease: '{}', ...files });
  const at = (Date.now() - leaseAgeMs) / 1000;
  utimesSync(paths.lease, at, at);
  const view = inspect(root, jobId);
  const { health, attention_kind, reason = '' } = healthOf(view, conditionOf(view));
  return [health, attention_kind, reason] as const;
}

const checkpoint = (change: Partial<Checkpoint> = {}): Checkpoint => ({
  n: 1,
  at: ago(minute),
  elapsed_seconds: 60,
  state: 'progressing',
  attention_kind: null,
  phase: null,
  completed: null,
  total: null,
  eta_seconds: null,
  reason: 'the output grew',
  fingerprint: null,
  ...change,
});

/** A run that was launched so long ago and is judged every minute. */
function judged(launchedMs: number, run: Partial<NonNullable<Spec['run']>> = {}): Spec {
  const spec = makeSpec({ created_at: ago(launchedMs) });
  return {
    ...spec,
    deadline_mono_ms: monotonicMs() - launchedMs + spec.deadline_ms,
    run: { ...spec.run!, checkpoint_ms: minute, ...run },
  };
}

const running = (change: Partial<JobState> = {}) =>
  makeState({ created_at: ago(5 * minute), started_at: ago(5 * minute), ...change });

test('what the worker said of a run is told with its reason', (t) => {
  const state = running({ health: 'progressing', checkpoint: checkpoint({ n: 5, at: ago(100) }) });
  assert.deepEqual(seen(t, { spec: judged(5 * minute), state, launch }), ['progressing', null, 'the output grew']);
  const bad = checkpoint({
    n: 5,
    at: ago(100),
    state: 'attention',
    attention_kind: 'task_attention',
    reason: 'no change',
  });
  const worse = running({ health: 'attention', attention_kind: 'task_attention', checkpoint: bad });
  assert.deepEqual(seen(t, { spec: judged(5 * minute), state: worse, launch }), [
    'attention',
    'task_attention',
    'no change',
  ]);
});

test('a monitor_attention that stands in state.json is not believed: it is the readers own word', (t) => {
  const state = running({ health: 'attention', attention_kind: 'monitor_attention' });
  assert.equal(seen(t, { spec: makeSpec(), state, launch })[1], 'task_attention');
  const odd = { ...running(), health: 'unknown', attention_kind: 'monitor_attention' } as JobState;
  assert.deepEqual(seen(t, { spec: makeSpec(), state: odd, launch }), ['unknown', null, '']);
});

test('a stopped worker is seen at once, and no longer when it goes on', async (t) => {
  const { root, workspace } = makePlace(t);
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  workspace.defer(() => child.kill('SIGKILL'));
  const worker = identityOf(child.pid ?? 0)!;
  makeJob(root, { spec: makeSpec(), state: makeState(), launch: { worker, generation: 1 }, lease: '{}' });
  const look = () => {
    const view = inspect(root, jobId);
    return healthOf(view, conditionOf(view));
  };
  assert.equal(look().health, 'unknown');
  child.kill('SIGSTOP');
  const stopped = await eventually('the stop', () => look().attention_kind === 'monitor_attention' && look());
  assert.match(stopped.reason ?? '', new RegExp(`the worker is stopped .*kill -CONT ${child.pid}$`));
  child.kill('SIGCONT');
  await eventually('the end of it', () => look().attention_kind === null);
});

test('a lease that nobody renews is seen', (t) => {
  const [health, kind, reason] = seen(t, { spec: makeSpec(), state: makeState(), launch }, 30_000);
  assert.deepEqual([health, kind], ['attention', 'monitor_attention']);
  assert.match(reason, /no sign of life of the worker for 3\d s/);
});

test('a checkpoint is missing after its interval, the probe limit and a grace; never sooner', (t) => {
  const kindOf = (spec: Spec, last: Partial<Checkpoint> | null) =>
    seen(t, { spec, state: running({ checkpoint: last && checkpoint(last) }), launch })[1];
  assert.equal(kindOf(judged(5 * minute), null), 'monitor_attention');
  assert.equal(kindOf(judged(5 * minute), { n: 3, at: ago(2 * minute) }), 'monitor_attention');
  assert.equal(kindOf(judged(5 * minute), { n: 4, at: ago(minute + 2000) }), null);
  assert.equal(
    kindOf(judged(5 * minute + 20_000, { probe: 'true', probe_ms: 30_000 }), { n: 4, at: ago(minute + 20_000) }),
    null,
  );
  assert.equal(kindOf(judged(5 * minute + 20_000), { n: 4, at: ago(minute + 20_000) }), 'monitor_attention');
  // With two intervals n counts the shorter one, and the longer one is what may pass.
  const two = { checkpoint_ms: 2 * minute, checkpoint_fast_ms: minute / 2 };
  assert.equal(kindOf(judged(5 * minute, two), { n: 8, at: ago(minute) }), null);
  assert.equal(kindOf(judged(5 * minute, two), { n: 4, at: ago(3 * minute) }), 'monitor_attention');
  // Runs of an older release have none, and a job that is being stopped gets none any more.
  assert.equal(kindOf(judged(5 * minute, { checkpoint_ms: undefined as unknown as number }), null), null);
  const stopping = { spec: judged(5 * minute), state: running({ state: 'stopping' }), launch };
  assert.equal(seen(t, stopping)[1], null);
});

test('a machine that slept has missed no checkpoint', (t) => {
  // By the wall clock the last one is an hour old, by the clock that counts awake time it came a moment ago.
  const spec = { ...judged(5 * minute), deadline_mono_ms: monotonicMs() - minute - 1000 + 86_400_000 };
  const state = running({ checkpoint: checkpoint({ at: ago(60 * minute) }) });
  assert.equal(seen(t, { spec, state, launch })[1], null);
});

test('a checkpoint with an unreadable time counts as none, and is not shown', (t) => {
  const spec = judged(5 * minute);
  for (const at of ['soon 1', '', 5, null]) {
    const state = running({ checkpoint: checkpoint({ at: at as string, reason: 'unreadable' }) });
    const [, kind, reason] = seen(t, { spec, state, launch });
    assert.equal(kind, 'monitor_attention');
    assert.match(reason, /no checkpoint for 5m/);
  }
});

test('whose worker is gone is told in the words of its kind', (t) => {
  const watch = {
    condition: 'file',
    input: {},
    words: 'x exists',
    every_ms: 1000,
    attempt_ms: 1000,
    tolerate: 0,
    repeat: false,
  };
  const watching = makeSpec({
    kind: 'watch',
    verb: 'watch',
    run: null,
    watch,
    deadline_mono_ms: monotonicMs() + minute,
  });
  assert.match(
    seen(t, { spec: watching, state: makeState(), launch: dead })[2],
    /nobody looks at the condition; the next wait/,
  );
  assert.match(
    seen(t, { spec: makeSpec(), state: makeState(), launch: dead })[2],
    /died before it started the command/,
  );
  const timer = {
    due_at: new Date(Date.now() + minute).toISOString(),
    message: 'x',
    slot: null,
    delay_ms: null,
    durable: true as const,
  };
  const armed = makeSpec({ kind: 'timer', verb: 'timer', run: null, timer });
  assert.equal(seen(t, { spec: armed, state: makeState() })[1], null);
  const [, kind, reason] = seen(t, { spec: { ...armed, notify: ['/bin/x'] }, state: makeState(), launch: dead });
  assert.equal(kind, 'monitor_attention');
  assert.match(reason, /its worker is gone; whoever looks first when it is due/);
});

test('an agent that printed something lately is progressing, unless its worker is silent', (t) => {
  const files = { spec: makeSpec(staffChange), state: makeState(), launch, output: '{}' };
  assert.equal(seen(t, files)[0], 'progressing');
  assert.equal(seen(t, files, 30_000)[0], 'attention');
});
