/**
 * Waits on what other parts write: checkpoints of a judged run, attention that is told once per cause, timers that nobody looks after.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, launch, launchHeld } from '../helpers/jobs.ts';
import { killByIdentity } from '../helpers/process.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

interface Woken {
  wake: string;
  state: string;
  event: { seq: number | null; type: string; n?: number; fingerprint?: string; cause?: string };
  next_seq: number;
  checkpoint: { n: number; completed: number | null } | null;
  attention_kind: string | null;
  reason?: string;
}

const untilWaiting = (job: Job) =>
  eventually('the waiter', () => readdirSync(job.path('waiters')).length > 0, { limitMs: 20_000 });

test('a judged run wakes whoever asked for checkpoints, one after the other, and nobody else', async (t) => {
  const workspace = makeWorkspace(t);
  const counter = workspace.path('count');
  writeFileSync(counter, '1');
  const probe = `printf '{"completed": %s, "total": 10}' $(cat '${counter}')`;
  const judged = ['--checkpoint-every', '500ms', '--sample-every', '100ms', '--probe', probe];
  const job = await launchHeld(workspace, { options: judged });
  const ask = (after: number) =>
    run(workspace, [
      'wait',
      job.id,
      '--until',
      'checkpoint',
      '--after-seq',
      String(after),
      '--timeout',
      '1m',
      '--json',
    ]);
  const first = await ask(0);
  assert.equal(first.code, 2);
  const one = parseReply<Woken>(first);
  assert.deepEqual([one.wake, one.event.type, one.next_seq], ['checkpoint', 'checkpoint', one.event.seq]);
  const two = parseReply<Woken>(await ask(one.next_seq));
  assert.ok((two.event.n ?? 0) > (one.event.n ?? 0));
  const plain = await run(workspace, ['wait', job.id, '--timeout', '2s', '--json']);
  assert.deepEqual([plain.code, parseReply<Woken>(plain).wake], [2, 'soft_timeout']);
  job.release();
});

test('one cause for attention wakes once, however many checkpoints repeat it', async (t) => {
  const workspace = makeWorkspace(t);
  const judged = ['--checkpoint-every', '400ms', '--sample-every', '100ms', '--expect', '1ms'];
  const job = await launchHeld(workspace, { options: judged });
  const ask = (after: number, patience: string) =>
    run(workspace, [
      'wait',
      job.id,
      '--until',
      'attention',
      '--after-seq',
      String(after),
      '--timeout',
      patience,
      '--json',
    ]);
  let after = 0;
  const seen: (string | undefined)[] = [];
  for (let rounds = 0; rounds < 5; rounds += 1) {
    const { wake, event, next_seq } = parseReply<Woken>(await ask(after, '4s'));
    if (wake === 'soft_timeout') break;
    assert.equal(wake, 'attention');
    seen.push(event.fingerprint);
    after = next_seq;
  }
  assert.ok(seen.length > 0 && seen.length < 5, seen.join(' '));
  assert.equal(new Set(seen).size, seen.length, seen.join(' '));
  assert.ok(job.events('checkpoint').length > seen.length);
  job.release();
});

test('a stopped worker is monitor_attention in the mouth of readers only, and the outcome is untouched by it', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--checkpoint-every', '1h'] });
  const worker = job.identity('worker');
  killByIdentity(worker, 'SIGSTOP');
  workspace.defer(() => killByIdentity(worker, 'SIGCONT'));
  const seen = await eventually('the stop to be seen', async () => {
    const picture = parseReply<Woken>(await run(workspace, ['observe', job.id]));
    return picture.attention_kind === 'monitor_attention' && picture;
  });
  assert.match(seen.reason ?? '', /the worker is stopped/);
  assert.doesNotMatch(readFileSync(job.path('state.json'), 'utf8') + job.text('events.ndjson'), /monitor_attention/);
  killByIdentity(worker, 'SIGCONT');
  job.release();
  const { code, stdout } = await run(workspace, ['wait', job.id, '--json']);
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /monitor_attention/);
});

test('a wait for a timer that nobody looks after ends at its instant, and at once when it is canceled', async (t) => {
  const workspace = makeWorkspace(t);
  const arm = async (...words: string[]): Promise<Job> => {
    const armed = await run(workspace, ['timer', ...words, '--id-only']);
    assert.equal(armed.code, 0, armed.stderr);
    return findJob(workspace, armed.stdout.trim());
  };
  const soon = await arm('in', '2s', '--message', 'now');
  const due = await run(workspace, ['wait', soon.id]);
  assert.deepEqual([due.code, due.stdout.trim()], [0, 'now']);

  const later = await arm('in', '1h');
  const waiting = start(workspace, ['wait', later.id, '--timeout', '2h', '--until', 'attention']);
  await untilWaiting(later);
  assert.equal((await run(workspace, ['cancel', later.id])).code, 0);
  // The folder tells of it: the slow look alone would come in a minute.
  assert.equal((await waiting.promise).code, 4);
  assert.ok(
    parseReply<{ jobs: { timer: { due_in_ms: number | null } }[] }>(
      await run(workspace, ['status', '--json']),
    ).jobs.every(({ timer }) => timer.due_in_ms === null),
  );
});

test('a job that has ended keeps no other one from waking a wait for all', async (t) => {
  const workspace = makeWorkspace(t);
  const done = await launch(workspace, ['--', 'true']);
  const held = await launchHeld(workspace, { options: ['--checkpoint-every', '300ms'] });
  const { code, stdout } = await run(workspace, [
    'wait',
    done.id,
    held.id,
    '--all',
    '--until',
    'checkpoint',
    '--json',
    '--timeout',
    '1m',
  ]);
  const { wake, id, pending } = parseReply<{ wake: string; id: string; pending: string[] }>({ stdout } as never);
  assert.deepEqual([code, wake, id, pending], [2, 'checkpoint', held.id, [held.id]]);
  held.release();
});
