// What a job's files amount to: each condition from a folder made by hand, and what a reader is told of a damaged one.
import assert from 'node:assert/strict';
import { mkdirSync, utimesSync } from 'node:fs';
import test from 'node:test';
import { earlyState } from '../../companion/src/jobs/early-state.ts';
import { type Condition, conditionOf, inspect, isEnded } from '../../companion/src/jobs/view.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import type { JobPaths } from '../../companion/src/store/layout.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState } from '../store/job-record.ts';

const alive = ownIdentity();
const dead = { ...alive, start_token: '1' };
const elsewhere = { ...alive, pid_ns: 'pid:[1]' };
const otherBoot = { ...alive, boot_id: 'other' };

const launch = (worker: unknown) => ({ worker, generation: 1 });
const worker = (who: unknown, shim: unknown = null) => ({ worker: who, shim, child: null, fifo: true });
const exit = { exit_code: 0, signaled: false, spawn_failed: false };
/** The kernel's line of a process, as a shim writes it of itself. */
const markOf = ({ pid, start_token }: { pid: number; start_token: string }) =>
  `${pid} (sh) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ${start_token} 0 0\n`;

type Files = Parameters<typeof makeJob>[1];
interface Case {
  is: Condition;
  when: string;
  files: Files;
  /** `started` is the claim. */
  isClaimed?: boolean;
  after?: (paths: JobPaths) => void;
}

/** Negative: in the future, so that no pause of the machine makes it old. */
const age = (file: string, ms: number) => utimesSync(file, (Date.now() - ms) / 1000, (Date.now() - ms) / 1000);
const recent = { created_at: new Date().toISOString() };
const claimed = { isClaimed: true };

const queued = { ...makeSpec(), max_live: 2, deadline_ms: 1, deadline_mono_ms: 1 };
const watching = { kind: 'watch' as const, run: null, watch: { condition: 'file' } as never };
const forgedTurn = { at: '2023-11-14T22:13:20.000Z', boot_id: 'b', mono_ms: 1, files: {}, mac: '0'.repeat(64) };

const cases: Case[] = [
  { is: 'ended', when: 'its state is an outcome', files: { spec: makeSpec(), state: makeState({ state: 'done' }) } },
  { is: 'ended', when: 'its spec is lost but its outcome is there', files: { state: makeState({ state: 'failed' }) } },
  {
    is: 'ended',
    when: 'its spec is damaged but its outcome is there',
    files: { spec: '{', state: makeState({ state: 'crashed' }) },
  },
  {
    is: 'ended',
    when: 'it is over although its worker still lives',
    files: { spec: makeSpec(), state: makeState({ state: 'canceled' }), launch: launch(alive), worker: worker(alive) },
  },
  { is: 'damaged', when: 'there is nothing at all', files: {} },
  { is: 'damaged', when: 'its spec is missing', files: { state: makeState(), launch: launch(dead) } },
  { is: 'damaged', when: 'its spec is damaged', files: { spec: '{"id":', state: makeState(), launch: launch(dead) } },
  { is: 'damaged', when: 'its state is damaged', files: { spec: makeSpec(), state: '{"rev":', launch: launch(dead) } },
  {
    is: 'damaged',
    when: 'its state has an unknown word',
    files: { spec: makeSpec(), state: { ...makeState(), state: 'x' }, launch: launch(dead) },
  },
  {
    is: 'supervised',
    when: 'the worker that launch.json names lives',
    files: { spec: makeSpec(), launch: launch(alive) },
  },
  {
    is: 'supervised',
    when: 'the worker that worker.json names lives',
    files: { spec: makeSpec(), launch: launch(dead), worker: worker(alive) },
  },
  {
    is: 'supervised',
    when: 'a living worker will write its damaged state again',
    files: { spec: makeSpec(), state: '{', launch: launch(alive) },
  },
  {
    is: 'unseen',
    when: 'its worker cannot be seen and has no lease',
    files: { spec: makeSpec(recent), launch: launch(elsewhere) },
  },
  {
    is: 'unseen',
    when: 'its worker cannot be seen and its lease is fresh, however old it is',
    files: { spec: makeSpec(), launch: launch(elsewhere), lease: {} },
    after: ({ lease }) => age(lease, -60_000),
  },
  {
    is: 'unseen',
    when: 'its lease is stale but its limit is not over',
    files: { spec: makeSpec(recent), launch: launch(elsewhere), lease: {} },
    after: ({ lease }) => age(lease, 3_600_000),
  },
  {
    is: 'lost',
    when: 'it cannot be seen, its lease is stale and its limit, grace and a minute are over',
    files: { spec: makeSpec(), launch: launch(elsewhere), lease: {} },
    after: ({ lease }) => age(lease, 21_000),
  },
  {
    is: 'unseen',
    when: 'its worker is dead and its shim cannot be seen',
    files: { spec: makeSpec(), worker: worker(dead, elsewhere) },
    ...claimed,
  },
  {
    is: 'host_restarted',
    when: 'its worker is of another boot',
    files: { spec: makeSpec(), launch: launch(otherBoot) },
  },
  {
    is: 'host_restarted',
    when: 'its worker and shim are of another boot',
    files: { spec: makeSpec(), worker: worker(otherBoot, otherBoot) },
    ...claimed,
  },
  {
    is: 'over',
    when: 'its end is on disk and its worker is gone',
    files: { spec: makeSpec(), worker: worker(dead, dead), exit },
    ...claimed,
  },
  {
    is: 'over',
    when: 'its end is on disk and its shim is about to leave',
    files: { spec: makeSpec(), worker: worker(dead, alive), exit },
    ...claimed,
  },
  {
    is: 'orphaned',
    when: 'its worker is gone and its shim lives',
    files: { spec: makeSpec(), worker: worker(dead, alive) },
    ...claimed,
  },
  {
    is: 'orphaned',
    when: 'its worker is gone before it wrote of the shim, and the mark of the shim says that it lives',
    files: { spec: makeSpec(), launch: launch(dead), shimMark: markOf(alive) },
  },
  {
    is: 'orphaned',
    when: 'its shim had no time yet to write its mark',
    files: { spec: makeSpec(), launch: launch(dead) },
    ...claimed,
    after: ({ started }) => age(started, -60_000),
  },
  {
    is: 'lost',
    when: 'its shim never wrote its mark',
    files: { spec: makeSpec(), launch: launch(dead) },
    ...claimed,
    after: ({ started }) => age(started, 2000),
  },
  {
    is: 'lost',
    when: 'worker and shim are gone without a word',
    files: { spec: makeSpec(), worker: worker(dead, dead) },
    ...claimed,
  },
  {
    is: 'lost',
    when: 'its exit.json is damaged',
    files: { spec: makeSpec(), worker: worker(dead, dead), exit: '{' },
    ...claimed,
  },
  {
    is: 'lost',
    when: 'the mark of its shim is that of a dead process',
    files: { spec: makeSpec(), launch: launch(dead), shimMark: markOf(dead) },
  },
  { is: 'unclaimed', when: 'its worker is gone before the start', files: { spec: makeSpec(), launch: launch(dead) } },
  {
    is: 'unclaimed',
    when: 'its replacement is gone before the start',
    files: { spec: makeSpec(), launch: launch(dead), worker: worker(dead) },
  },
  {
    is: 'starting',
    when: 'its launcher lives',
    files: { spec: makeSpec() },
    after: ({ spec }) => age(spec, 3_600_000),
  },
  {
    is: 'starting',
    when: 'its launcher is gone and its spec is fresh',
    files: { spec: makeSpec({ launcher: dead }) },
    after: ({ spec }) => age(spec, -60_000),
  },
  {
    is: 'never_started',
    when: 'its launcher is gone and its spec is old',
    files: { spec: makeSpec({ launcher: dead }) },
    after: ({ spec }) => age(spec, 11_000),
  },
  // A job that waits for its turn: it is never lost by waiting, whatever became of its worker and of the machine.
  { is: 'supervised', when: 'it is queued and its worker lives', files: { spec: queued, launch: launch(alive) } },
  { is: 'unclaimed', when: 'it is queued and its worker is gone', files: { spec: queued, worker: worker(dead) } },
  {
    is: 'unclaimed',
    when: 'it is queued and the machine was restarted',
    files: { spec: queued, launch: launch(otherBoot) },
  },
  {
    is: 'unclaimed',
    when: 'it is a queued watch, its worker is gone and its limit would be over, counted from launch',
    files: { spec: { ...queued, ...watching }, worker: worker(dead) },
  },
  {
    is: 'unseen',
    when: 'it is queued, its worker cannot be seen and its lease is stale, however old it is',
    files: { spec: queued, launch: launch(elsewhere), lease: {} },
    after: ({ lease }) => age(lease, 3_600_000),
  },
  {
    is: 'unclaimed',
    when: 'it is queued and somebody forged its turn',
    files: { spec: { ...queued, ...watching }, worker: worker(dead), turn: forgedTurn },
  },
  {
    is: 'never_started',
    when: 'it is queued and its launcher died before a worker existed',
    files: { spec: { ...queued, launcher: dead } },
    after: ({ spec }) => age(spec, 11_000),
  },
  {
    is: 'lost',
    when: 'it is queued, and was started all the same',
    files: { spec: queued, worker: worker(dead, dead) },
    ...claimed,
  },
  { is: 'starting', when: 'its launch.json is damaged', files: { spec: makeSpec(), launch: '{' } },
];

for (const { is, when, files, isClaimed, after } of cases) {
  test(`a job is ${is} when ${when}`, (t) => {
    const paths = makeJob(makePlace(t).root, files);
    if (isClaimed) mkdirSync(paths.started, { recursive: true });
    after?.(paths);
    assert.equal(conditionOf(inspect(paths.folder.replace(`/jobs/${jobId}`, ''), jobId)), is);
  });
}

test('a job whose end is on disk is over, also when the machine was restarted since', (t) => {
  const { root } = makePlace(t);
  const paths = makeJob(root, { spec: makeSpec(), worker: worker(otherBoot, otherBoot), exit });
  mkdirSync(paths.started);
  assert.equal(conditionOf(inspect(root, jobId)), 'over');
});

test('a damaged job is told as failed with state_damaged, and nothing is written', (t) => {
  const { root, workspace } = makePlace(t);
  const paths = makeJob(root, { spec: makeSpec(), state: '{"rev":', launch: launch(dead) });
  const { state, damage } = inspect(root, jobId);
  assert.equal(damage, 'state.json is no JSON object');
  assert.equal(state.state, 'failed');
  assert.deepEqual(state.error, {
    code: 'state_damaged',
    message: 'the record of this job cannot be used: state.json is no JSON object',
  });
  assert.equal(workspace.read(paths.state.replace(`${workspace.dir}/`, '')), '{"rev":');
});

test('a damaged job is as old as its id says, when nothing else does', (t) => {
  const { root } = makePlace(t);
  makeJob(root, { spec: '{' });
  assert.equal(inspect(root, jobId).state.created_at, '2023-11-14T22:13:20.000Z');
});

test('a job whose folder is gone is no damaged job', (t) => {
  const { root } = makePlace(t);
  assert.throws(() => inspect(root, jobId), { code: 'unknown_job' });
});

test('before the first word of a worker a job is starting, since its spec was made', () => {
  const { state, rev, seq, created_at } = earlyState(jobId, makeSpec({ created_at: '2024-01-01T00:00:00.000Z' }));
  assert.deepEqual([state, rev, seq, created_at], ['starting', 0, 0, '2024-01-01T00:00:00.000Z']);
});

test('before the first word of a worker a job with a queue is queued, and a timer is not', () => {
  assert.equal(earlyState(jobId, queued).state, 'queued');
  assert.equal(earlyState(jobId, { ...queued, kind: 'timer' }).state, 'starting');
});

test('only outcomes are an end', () => {
  const words = [
    'queued',
    'starting',
    'running',
    'stopping',
    'done',
    'failed',
    'timed_out',
    'crashed',
    'canceled',
  ] as const;
  const ended = words.filter((state) => isEnded(makeState({ state })));
  assert.deepEqual(ended, ['done', 'failed', 'timed_out', 'crashed', 'canceled']);
});

test('a view of a living job holds what its files say, and of an ended one only the outcome', (t) => {
  const { root } = makePlace(t);
  const cancel = { by: alive, owner: null, at: 'x', why: null };
  const files = {
    spec: makeSpec(),
    launch: launch(dead),
    worker: worker(dead, alive),
    exit,
    cancel,
    reason: 'canceled\n',
    lease: {},
  };
  makeJob(root, { ...files, state: makeState({ state: 'stopping' }) });
  const view = inspect(root, jobId);
  assert.deepEqual(view.seen, { worker: 'dead', shim: 'alive' });
  assert.deepEqual(
    [view.isClaimed, view.isOtherBoot, view.reason, view.exit, view.cancel],
    [true, false, 'canceled', exit, cancel],
  );
  assert.ok(view.leaseAgeMs !== null && view.leaseAgeMs >= 0);
  makeJob(root, { ...files, state: makeState({ state: 'done' }) });
  const ended = inspect(root, jobId);
  assert.deepEqual([ended.seen, ended.exit, ended.cancel], [{ worker: 'none', shim: 'none' }, undefined, undefined]);
});
