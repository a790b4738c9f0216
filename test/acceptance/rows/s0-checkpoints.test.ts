/**
 * S0, checkpoints: when one is written, what it says, and what it never does to the command.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import * as z from 'zod';
import type { Checkpoint, Spec } from '../../../companion/src/core/job.ts';
import { run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { type Job, killNow, launch, launchHeld } from '../../helpers/jobs.ts';
import { untilQuiet } from '../../helpers/rows.ts';
import { makeWorkspace, type Workspace } from '../../helpers/workspace.ts';

type Told = Checkpoint & { seq: number; baseline_reset?: boolean };

const often = (every: string) => ['--checkpoint-every', every, '--sample-every', every];
const checkpointsOf = (job: Job) => job.events('checkpoint') as unknown as Told[];

/** The first checkpoint after `after` that is as wanted. */
function untilCheckpoint(job: Job, what: string, isWanted: (told: Told) => boolean, after = 0): Promise<Told> {
  const find = () => checkpointsOf(job).find((told) => told.seq > after && isWanted(told));
  return eventually(what, find, { limitMs: 30_000 });
}

/** Two checkpoints, from this one on, that are less than a long interval apart. */
function untilClose(job: Job, from: number): Promise<unknown> {
  const numbers = () => checkpointsOf(job).flatMap(({ n, seq }) => (seq >= from ? [n] : []));
  const isClose = () => numbers().some((n, index) => n - (numbers()[index - 1] ?? 0) < 5);
  return eventually('two close checkpoints', isClose, { limitMs: 30_000 });
}

/** The end of a held job, which its checkpoints cannot have changed. */
async function release(workspace: Workspace, job: Job & { release(): void }): Promise<void> {
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.deepEqual([job.state().state, job.state().exit_code], ['done', 0]);
}

test('S0.11 a checkpoint is written every hour by default, or at the interval that was given', async (t) => {
  const workspace = makeWorkspace(t);
  const plain = await launch(workspace, ['--', 'true']);
  assert.equal(plain.json<Spec>('spec.json').run?.checkpoint_ms, 3_600_000);
  const job = await launchHeld(workspace, { options: often('1s') });
  assert.equal(job.json<Spec>('spec.json').run?.checkpoint_ms, 1_000);
  await eventually('three checkpoints', () => checkpointsOf(job).length >= 3, { limitMs: 30_000 });
  for (const { n, elapsed_seconds } of checkpointsOf(job)) assert.ok(n >= 1 && elapsed_seconds >= n, `${n}`);
  await release(workspace, job);
});

test('S0.12 crossing the expected duration asks for attention, and the command runs on to its own end', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--expect', '1s', ...often('500ms')] });
  const told = await untilCheckpoint(job, 'attention', ({ state }) => state === 'attention');
  assert.equal(told.attention_kind, 'task_attention');
  assert.match(told.reason, /expected/);
  await release(workspace, job);
});

test('S0.13 a probe that does not end is ended, and only that checkpoint is unknown for it', async (t) => {
  const workspace = makeWorkspace(t);
  const probe = `[ -e fast ] && echo '{"completed":1,"total":2,"phase":"train"}' || sleep 60`;
  const options = ['--probe', probe, '--probe-timeout', '300ms', ...often('1s')];
  const job = await launchHeld(workspace, { options });
  const first = await untilCheckpoint(job, 'a checkpoint', () => true);
  assert.equal(first.state, 'unknown');
  assert.match(first.reason, /probe.*(300 ?ms|time|limit)/);
  workspace.write('fast', '');
  const later = await untilCheckpoint(job, 'a good probe', ({ phase }) => phase === 'train');
  assert.deepEqual([later.completed, later.total], [1, 2]);
  assert.equal((await launch(workspace, ['--', 'true'])).json<Spec>('spec.json').run?.probe_ms ?? 30_000, 30_000);
  await release(workspace, job);
  await untilQuiet(workspace);
});

test('S0.37 a checkpoint only asks what is known of the named paths, and a probe of garbage is unknown', async (t) => {
  const workspace = makeWorkspace(t);
  const options = ['--result', 'result', '--log', 'log', '--probe', 'echo progress: nice; echo 42', ...often('700ms')];
  const job = await launchHeld(workspace, { options });
  const first = await untilCheckpoint(job, 'a checkpoint', () => true);
  assert.deepEqual([first.state, first.completed], ['unknown', null]);
  assert.match(first.reason, /probe/);
  // Whoever opened one of these to read it would wait for a writer for ever.
  execFileSync('mkfifo', [workspace.path('result'), workspace.path('log')]);
  const changed = await untilCheckpoint(job, 'progress', ({ state }) => state === 'progressing');
  assert.ok(changed.reason.includes('result'), changed.reason);
  await untilCheckpoint(job, 'the next', () => true, changed.seq);
  await release(workspace, job);
});

test('S0.38 an advance, another phase, or a result that grows is progress, and the reason says which', async (t) => {
  const workspace = makeWorkspace(t);
  const say = (completed: number, phase: string) =>
    workspace.write('progress.json', JSON.stringify({ completed, total: 10, phase }));
  say(1, 'load');
  workspace.write('out.bin', '1');
  const options = ['--probe', 'cat progress.json', '--result', 'out.bin', ...often('700ms')];
  const job = await launchHeld(workspace, { options });
  await untilCheckpoint(job, '1 of 10', ({ completed }) => completed === 1);
  say(2, 'load');
  const advanced = await untilCheckpoint(job, '2 of 10', ({ completed }) => completed === 2);
  assert.deepEqual([advanced.state, advanced.attention_kind], ['progressing', null]);
  say(2, 'train');
  const moved = await untilCheckpoint(job, 'the phase', ({ phase }) => phase === 'train');
  assert.equal(moved.state, 'progressing');
  appendFileSync(workspace.path('out.bin'), '23');
  const grown = await untilCheckpoint(job, 'growth', ({ state }) => state === 'progressing', moved.seq);
  assert.match(grown.reason, /out\.bin/);
  assert.notEqual(moved.reason, advanced.reason);
  await release(workspace, job);
});

test('S0.39 a first interval without evidence is unknown', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: often('500ms') });
  const first = await untilCheckpoint(job, 'a checkpoint', () => true);
  assert.deepEqual([first.state, first.attention_kind, first.eta_seconds], ['unknown', null, null]);
  assert.ok(first.reason.length > 0);
  await release(workspace, job);
});

test('S0.40 a probe that reports failure, too long a time, and two intervals without change each ask for attention', async (t) => {
  const workspace = makeWorkspace(t);
  const causes = [
    ['--probe', `echo '{"status":"failed","message":"loss is NaN"}'`],
    ['--expect', '100ms'],
    ['--probe', `echo '{"completed":3,"total":9}'`],
  ];
  const told: Told[] = [];
  for (const options of causes) {
    const job = await launchHeld(workspace, { options: [...options, ...often('500ms')] });
    told.push(await untilCheckpoint(job, `attention with ${options.join(' ')}`, ({ state }) => state === 'attention'));
    await release(workspace, job);
  }
  assert.deepEqual([...new Set(told.map(({ attention_kind }) => attention_kind))], ['task_attention']);
  assert.equal(new Set(told.map(({ reason }) => reason)).size, 3);
  assert.equal(new Set(told.map(({ fingerprint }) => fingerprint)).size, 3);
});

test('S0.41 the kind of attention is null but for attention, in every event', async (t) => {
  const workspace = makeWorkspace(t);
  const document = z.union([
    z.object({ state: z.enum(['progressing', 'unknown']), attention_kind: z.null() }),
    z.object({ state: z.literal('attention'), attention_kind: z.literal('task_attention') }),
  ]);
  workspace.write('progress.json', '{"completed":1,"total":3}');
  const job = await launchHeld(workspace, { options: ['--probe', 'cat progress.json', ...often('400ms')] });
  const states = () => new Set(checkpointsOf(job).map(({ state }) => state));
  await eventually('attention', () => states().has('attention'), { limitMs: 30_000 });
  workspace.write('progress.json', '{"completed":2,"total":3}');
  await eventually('all three states', () => states().size === 3, { limitMs: 30_000 });
  for (const told of checkpointsOf(job)) document.parse(told);
  await release(workspace, job);
});

test('S0.43 the remaining time is that of the probe, or comes from two advancing points, and is null before', async (t) => {
  const workspace = makeWorkspace(t);
  const count = 'n=$(($(cat n 2>/dev/null || echo 0) + 10)); echo $n >n; echo "{\\"completed\\":$n,\\"total\\":10000}"';
  const job = await launchHeld(workspace, { options: ['--probe', count, ...often('1s')] });
  await eventually('three checkpoints', () => checkpointsOf(job).length >= 3, { limitMs: 30_000 });
  const [first, second, third] = checkpointsOf(job);
  assert.equal(first?.eta_seconds, null);
  // 10 in each second or so: what is left takes about a thousand times as long as the interval.
  for (const [before, after] of [
    [first!, second!],
    [first!, third!],
  ] as const) {
    const seconds = (Date.parse(after.at) - Date.parse(before.at)) / 1000;
    const expected = (seconds * (10_000 - after.completed!)) / (after.completed! - before.completed!);
    assert.ok(Math.abs((after.eta_seconds ?? 0) / expected - 1) < 0.3, `${after.eta_seconds} for about ${expected}`);
  }
  await release(workspace, job);
  const told = await launchHeld(workspace, { options: ['--probe', `echo '{"eta_seconds":77}'`, ...often('500ms')] });
  assert.equal((await untilCheckpoint(told, 'a checkpoint', () => true)).eta_seconds, 77);
  await release(workspace, told);
});

test('S0.45 each checkpoint is one line with the task, the time, the judgement and its reason', async (t) => {
  const workspace = makeWorkspace(t);
  const document = z.object({
    type: z.literal('checkpoint'),
    job: z.string(),
    owner: z.literal('lead'),
    at: z.iso.datetime(),
    elapsed_seconds: z.int().nonnegative(),
    state: z.enum(['progressing', 'unknown', 'attention']),
    attention_kind: z.enum(['task_attention']).nullable(),
    phase: z.string().nullable(),
    completed: z.number().nullable(),
    total: z.number().nullable(),
    eta_seconds: z.number().nullable(),
    reason: z.string().min(1).max(400),
  });
  const long = `{\\"phase\\":\\"$(printf %05000d 1)\\",\\"completed\\":1,\\"total\\":2}`;
  const options = ['--owner', 'lead', '--probe', `echo "${long}"`, ...often('400ms')];
  const job = await launchHeld(workspace, { options });
  await eventually('two checkpoints', () => checkpointsOf(job).length >= 2, { limitMs: 30_000 });
  await release(workspace, job);
  const lines = job
    .text('events.ndjson')
    .split('\n')
    .filter((line) => line.includes('"checkpoint"'));
  for (const line of lines) {
    document.parse(JSON.parse(line));
    assert.ok(line.length < 2_000, `${line.length} characters`);
  }
});

test('S0.46 there are never more checkpoints than whole intervals', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--probe', 'sleep 0.7', ...often('500ms')] });
  await eventually('four checkpoints', () => checkpointsOf(job).length >= 4, { limitMs: 30_000 });
  await release(workspace, job);
  const told = checkpointsOf(job);
  const lifeMs = Date.parse(job.state().ended_at ?? '') - Date.parse(job.state().created_at);
  assert.ok(told.length <= lifeMs / 500, `${told.length} in ${lifeMs} ms`);
  assert.equal(new Set(told.map(({ n }) => n)).size, told.length);
});

test('S0.69 each interval has one attempt, also when the probe fails', async (t) => {
  const workspace = makeWorkspace(t);
  const calls = join(workspace.base, 'calls');
  const options = ['--probe', `echo call >>${calls}; exit 1`, ...often('500ms')];
  const job = await launchHeld(workspace, { options });
  await eventually('three checkpoints', () => checkpointsOf(job).length >= 3, { limitMs: 30_000 });
  await release(workspace, job);
  const told = checkpointsOf(job);
  const count = readFileSync(calls, 'utf8').split('\n').length - 1;
  // The end may come between the last probe and its checkpoint.
  assert.ok(count === told.length || count === told.length + 1, `${count} probes for ${told.length} checkpoints`);
  assert.ok(told.every(({ state, reason }) => state !== 'progressing' && reason.length > 0));
});

test('S0.73 with auto, checkpoints come at the long interval, and five times as often when it stalls or nears its end', async (t) => {
  const workspace = makeWorkspace(t);
  const plain = await launch(workspace, ['--checkpoint-every', 'auto', '--', 'true']);
  assert.equal(plain.json<Spec>('spec.json').run?.checkpoint_ms, 300_000);
  // Advances at each look until somebody says where it stands.
  const count =
    'n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n; cat stands 2>/dev/null || echo "{\\"completed\\":$n,\\"total\\":1000}"';
  const job = await launchHeld(workspace, { options: ['--probe', count, '--checkpoint-every', 'auto:2500ms'] });
  const steady = await untilCheckpoint(job, 'steady progress', ({ n }) => n >= 10);
  // A busy machine may be late for one: then only the newest that is due is made up for.
  const early = checkpointsOf(job).filter(({ seq }) => seq <= steady.seq);
  assert.ok(early.length <= steady.n / 5, early.map(({ n }) => n).join(' '));
  workspace.write('stands', '{"completed":500,"total":1000}');
  const stalled = await untilCheckpoint(job, 'a stall', ({ state }) => state === 'attention', steady.seq);
  await untilClose(job, stalled.seq);
  workspace.write('stands', '{"completed":950,"total":1000}');
  const late = await untilCheckpoint(job, 'the end to be near', ({ completed }) => completed === 950);
  assert.equal(late.state, 'progressing');
  await untilClose(job, late.seq);
  await release(workspace, job);
  assert.ok(job.has('result.md'));
});

test('S0.74 the first good probe of a replacement is the new baseline, and that checkpoint says so', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('progress.json', '{"completed":5,"total":9}');
  const job = await launchHeld(workspace, { options: ['--probe', 'cat progress.json', ...often('700ms')] });
  const before = await untilCheckpoint(job, '5 of 9', ({ completed }) => completed === 5);
  assert.equal(before.baseline_reset ?? false, false);
  await killNow('the worker', job.identity('worker'));
  // A bad probe is no baseline.
  workspace.write('progress.json', 'no progress today');
  const waiting = start(workspace, ['wait', job.id]);
  const last = checkpointsOf(job).at(-1)!.seq;
  await untilCheckpoint(job, 'a checkpoint of the replacement', () => true, last);
  workspace.write('progress.json', '{"completed":6,"total":9}');
  const first = await untilCheckpoint(job, '6 of 9', ({ completed }) => completed === 6);
  // Compared with nothing: what the earlier worker knew is no advance and gives no rate.
  assert.deepEqual([first.baseline_reset, first.state === 'progressing', first.eta_seconds], [true, false, null]);
  const next = await untilCheckpoint(job, 'the next', () => true, first.seq);
  assert.equal(next.baseline_reset ?? false, false);
  job.release();
  assert.equal((await waiting.promise).code, 0);
  assert.ok(existsSync(job.path('result.md')));
});
