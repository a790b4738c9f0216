/**
 * S0, waiting: what it costs, what wakes it, and what a reader says when the worker itself is in trouble.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import type { Spec } from '../../../companion/src/core/job.ts';
import { parseReply, run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { type Job, launchHeld } from '../../helpers/jobs.ts';
import { killByIdentity } from '../../helpers/process.ts';
import { untilPassed } from '../../helpers/rows.ts';
import { makeWorkspace, type Workspace } from '../../helpers/workspace.ts';

interface Seen {
  state: string;
  health: string;
  attention_kind: string | null;
  reason?: string;
  next_seq: number;
}

const often = ['--checkpoint-every', '300ms', '--sample-every', '300ms'];
const observe = async (workspace: Workspace, job: Job) => parseReply<Seen>(await run(workspace, ['observe', job.id]));
const untilAwaited = (job: Job) =>
  eventually('the wait', () => readdirSync(job.path('waiters')).length > 0, { limitMs: 20_000 });
/** In ticks of 10 ms. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
const wakeUps = (pid: number) =>
  Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

test('S0.36 a pending wait uses no CPU to speak of', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const waiting = start(workspace, ['wait', job.id]);
  await untilAwaited(job);
  await untilPassed(1_000);
  const before = cpuTicks(waiting.pid);
  await untilPassed(3_000);
  const spent = cpuTicks(waiting.pid) - before;
  job.release();
  assert.equal((await waiting.promise).code, 0);
  assert.ok(spent <= 2, `${spent * 10} ms of CPU in 3 s`);
});

test('S0.68 a pending wait does not poll, and has no upper limit', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const waiting = start(workspace, ['wait', job.id, '--timeout', '720h']);
  await untilAwaited(job);
  await untilPassed(1_000);
  const before = wakeUps(waiting.pid);
  await untilPassed(3_000);
  const woken = wakeUps(waiting.pid) - before;
  assert.equal(waiting.stdout() + waiting.stderr(), '');
  job.release();
  assert.equal((await waiting.promise).code, 0);
  assert.ok(woken <= 6, `woken ${woken} times in 3 s`);
});

test('S0.42 a stopped worker is told by every reader as monitor_attention, and never by the worker', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: often });
  await eventually('a checkpoint', () => job.events('checkpoint').length > 0, { limitMs: 20_000 });
  const worker = job.identity('worker');
  killByIdentity(worker, 'SIGSTOP');
  workspace.defer(() => killByIdentity(worker, 'SIGCONT'));
  const seen = await eventually(
    'observe to say so',
    async () => {
      const one = await observe(workspace, job);
      return one.attention_kind === 'monitor_attention' && one;
    },
    { limitMs: 30_000 },
  );
  assert.deepEqual([seen.state, seen.health], ['running', 'attention']);
  const status = await run(workspace, ['status', job.id]);
  assert.match(status.stdout, /^health: +attention/m);
  const waited = await run(workspace, ['wait', job.id, '--timeout', '1s']);
  assert.equal(waited.code, 2);
  assert.match(waited.stdout, /monitor_attention/);
  killByIdentity(worker, 'SIGCONT');
  const count = job.events('checkpoint').length;
  await eventually('the next checkpoint', () => job.events('checkpoint').length > count, { limitMs: 20_000 });
  assert.doesNotMatch(job.text('state.json') + job.text('events.ndjson'), /monitor_attention/);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S0.53 a wait that did not ask for checkpoints is silent through all of them', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: often });
  const plain = start(workspace, ['wait', job.id]);
  await untilAwaited(job);
  const asked = await run(workspace, ['wait', job.id, '--until', 'checkpoint', '--timeout', '50s']);
  assert.equal(asked.code, 2);
  const count = job.events('checkpoint').length;
  await eventually('two more', () => job.events('checkpoint').length >= count + 2, { limitMs: 20_000 });
  assert.deepEqual([plain.stdout(), plain.stderr(), plain.child.exitCode], ['', '', null]);
  job.release();
  const { code } = await plain.promise;
  assert.equal(code, 0);
});

test('S0.54 a cause of attention wakes once: with its cursor a wait sleeps on until another cause', async (t) => {
  const workspace = makeWorkspace(t);
  // It advances at each look, so that being late is the only cause until the probe reports failure.
  const count =
    'n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n; cat failed 2>/dev/null || echo "{\\"completed\\":$n}"';
  const job = await launchHeld(workspace, { options: ['--expect', '1ms', '--probe', count, ...often] });
  const until = async (...words: string[]) => {
    const result = await run(workspace, ['wait', job.id, '--json', '--until', 'attention', ...words]);
    assert.equal(result.code, 2);
    return parseReply<Seen & { wake?: { seq: number } | string }>(result);
  };
  const first = await until('--timeout', '50s');
  const seq = String(first.next_seq);
  const attentions = () => job.events('checkpoint').filter(({ wake }) => (wake as string[]).includes('attention'));
  assert.deepEqual([attentions().length, Number(seq) >= attentions()[0]!.seq], [1, true]);
  const asleep = start(workspace, ['wait', job.id, '--json', '--until', 'attention', '--after-seq', seq]);
  const told = job.events('checkpoint').length;
  await eventually('the same cause twice more', () => job.events('checkpoint').length >= told + 2);
  assert.deepEqual([asleep.child.exitCode, attentions().length], [null, 1]);
  workspace.write('failed', '{"status":"failed"}');
  assert.equal((await asleep.promise).code, 2);
  assert.equal(attentions().length, 2);
  assert.notEqual(attentions()[0]?.fingerprint, attentions()[1]?.fingerprint);
  // Whoever asks from the start gets the first again: nothing was consumed.
  assert.equal((await until('--after-seq', '0', '--timeout', '50s')).next_seq, first.next_seq);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S0.55 a checkpoint that does not come is the trouble of the worker, and a short wait is no miss', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--checkpoint-every', '1h'] });
  const short = await run(workspace, ['wait', job.id, '--timeout', '500ms']);
  assert.equal(short.code, 2);
  assert.doesNotMatch(short.stdout, /monitor_attention/);
  // The worker goes by what it read at the start; for a reader an interval of 100 ms passes again and again.
  const spec = job.json<Spec>('spec.json');
  writeFileSync(job.path('spec.json'), JSON.stringify({ ...spec, run: { ...spec.run, checkpoint_ms: 100 } }));
  const seen = await eventually(
    'observe to miss a checkpoint',
    async () => {
      const one = await observe(workspace, job);
      return one.attention_kind === 'monitor_attention' && one;
    },
    { limitMs: 40_000, everyMs: 200 },
  );
  assert.match(seen.reason ?? '', /no checkpoint for/);
  assert.equal(seen.state, 'running');
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});
