/**
 * Waits that are woken before the end (contract 5): opted in, exit 2, with the event and the next cursor; nothing is consumed, so any
 * number of waiters see the same; and the line that waits on can be run as it stands. The events are written as a worker writes them.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, launchHeld } from '../helpers/jobs.ts';
import { killByIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface WakeDocument {
  wake: string;
  id: string;
  event: { seq: number | null; type: string; reason?: string };
  next_seq: number;
  pending_events: number;
  state: string;
  now: string;
  age_ms: number;
  next: { wait: string };
}

/** The event after the newest one, as the job's worker would append it. */
function tell(job: Job, wake: string[], fields: object = {}): number {
  const seq = (job.events().at(-1)?.seq ?? 0) + 1;
  const line = { seq, at: new Date().toISOString(), job: job.id, owner: null, type: 'checkpoint', wake, ...fields };
  appendFileSync(job.path('events.ndjson'), `${JSON.stringify(line)}\n`);
  return seq;
}

/** The worker numbers from 1 without a gap. */
function eventsThatCount(job: Job): number {
  const seqs = new Set(
    [...job.text('events.ndjson').matchAll(/^\{"seq":(\d+),"at"/gm)].map((match) => Number(match[1])),
  );
  let count = 0;
  while (seqs.has(count + 1)) count += 1;
  return count;
}

const untilWaiting = (job: Job, count = 1) =>
  eventually('the waiters', () => readdirSync(job.path('waiters')).length >= count, { limitMs: 20_000 });

/** stdout of a wake: a document, then the command that waits on. */
function parseWake(stdout: string): { document: WakeDocument; again: string } {
  const lines = stdout.trimEnd().split('\n');
  const again = lines.pop() ?? '';
  return { document: JSON.parse(lines.join('\n')) as WakeDocument, again };
}

/** As a shell would run it. */
function runLine(workspace: Workspace, line: string) {
  const words = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(2, -1);
  return run(workspace, words);
}

test('without --until nothing wakes but the end', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  tell(job, ['checkpoint', 'attention', 'news', 'handback']);
  const { code, stdout } = await run(workspace, ['wait', job.id, '--timeout', '300ms', '--json']);
  assert.equal(code, 2);
  assert.equal(parseReply({ stdout } as never).wake, 'soft_timeout');
  const waiting = start(workspace, ['wait', job.id, '--json']);
  await untilWaiting(job);
  tell(job, ['attention']);
  job.release();
  const ended = await waiting.promise;
  assert.equal(ended.code, 0);
  const record = parseReply<WakeDocument>(ended);
  assert.deepEqual([record.wake, record.state], ['terminal', 'done']);
  assert.ok(record.age_ms >= 0 && Date.parse(record.now) > 0);
});

test('a wake has the event and the cursor first, and its last line waits on after it', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const waiting = start(workspace, ['wait', job.id, '--until', 'checkpoint,attention', '--timeout', '9m']);
  await untilWaiting(job);
  const before = Date.now();
  const seq = tell(job, ['checkpoint', 'attention'], { reason: 'no observable change' });
  const woken = await waiting.promise;
  assert.equal(woken.code, 2);
  const { document, again } = parseWake(woken.stdout);
  assert.deepEqual(Object.keys(document).slice(0, 4), ['wake', 'event', 'next_seq', 'pending_events']);
  assert.deepEqual(
    [document.wake, document.event.seq, document.next_seq, document.state],
    ['attention', seq, seq, 'running'],
  );
  assert.equal(document.event.reason, 'no observable change');
  assert.equal(document.next.wait, again);
  assert.ok(again.endsWith(`wait ${job.id} --until checkpoint,attention --after-seq ${seq} --timeout 9m`), again);
  assert.ok(Date.parse(document.now) >= before);
  assert.match(woken.stderr, new RegExp(`woken by attention \\(event ${seq}\\)`));
  assert.equal(parseReply(await run(workspace, ['observe', job.id])).last_collected_seq, seq);

  // The same again finds nothing new; a newer one wakes it, and of plain checkpoints only the newest.
  const later = [tell(job, ['checkpoint']), tell(job, ['checkpoint'])];
  const next = parseWake((await runLine(workspace, again)).stdout).document;
  assert.deepEqual([next.wake, next.event.seq, next.pending_events], ['checkpoint', later[1], 0]);
  job.release();
  const end = await runLine(workspace, next.next.wait);
  assert.equal(end.code, 0);
});

test('nothing that happened before a wait without cursor is missed, and nothing is consumed by reading', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const first = tell(job, ['news'], { type: 'news' });
  tell(job, ['news'], { type: 'news' });
  const digest = () =>
    createHash('sha256')
      .update(readFileSync(job.path('state.json')))
      .digest('hex');
  const was = digest();
  const ask = ['wait', job.id, '--until', 'news', '--json', '--timeout', '30s'];
  const replies = await Promise.all(Array.from({ length: 6 }, () => run(workspace, ask)));
  for (const reply of replies) {
    assert.equal(reply.code, 2);
    const { wake, event, next_seq, pending_events } = parseReply<WakeDocument>(reply);
    assert.deepEqual([wake, event.seq, next_seq, pending_events], ['news', first, first, 1]);
  }
  assert.equal(digest(), was);
  job.release();
  // The end wins over what was not seen yet.
  await eventually('the end', () => job.state().state === 'done');
  const ended = await run(workspace, ask);
  assert.equal(ended.code, 0);
  assert.equal(parseReply<WakeDocument>(ended).wake, 'terminal');
});

test('of several jobs the wake of any one ends the wait in both modes, and the next line has a cursor for it', async (t) => {
  const workspace = makeWorkspace(t);
  const [one, two] = [await launchHeld(workspace), await launchHeld(workspace)];
  for (const mode of ['--all', '--any']) {
    const words = ['wait', one.id, two.id, mode, '--until', 'attention', '--timeout', '9m'];
    const seq = tell(two, ['attention']);
    const { code, stdout } = await run(workspace, [...words, '--after-seq', `${two.id}:${seq - 1}`]);
    assert.equal(code, 2);
    const { document, again } = parseWake(stdout);
    assert.deepEqual([document.id, document.event.seq], [two.id, seq]);
    assert.ok(
      again.endsWith(`${words.join(' ')}`.replace(' --timeout', ` --after-seq ${two.id}:${seq} --timeout`)),
      again,
    );
    const json = parseReply<{ wake: string; id: string; jobs: WakeDocument[]; pending: string[] }>(
      await run(workspace, [...words, '--after-seq', `${two.id}:${seq - 1}`, '--json']),
    );
    assert.deepEqual(
      [json.wake, json.id, json.jobs[0]?.event.seq, json.pending],
      ['attention', two.id, seq, [one.id, two.id]],
    );
  }
  one.release();
  const ended = await run(workspace, [
    'wait',
    one.id,
    two.id,
    '--any',
    '--until',
    'attention',
    '--after-seq',
    `${two.id}:99`,
  ]);
  assert.equal(ended.code, 0);
  two.release();
});

test('a cursor beyond all events is taken as the newest one, with a warning', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const known = tell(job, ['attention']);
  const waiting = start(workspace, ['wait', job.id, '--until', 'attention', '--after-seq', '500']);
  await untilWaiting(job);
  // One that is told before its first look belongs to what it takes as known: so tell until it is woken.
  let isOver = false;
  void waiting.promise.finally(() => {
    isOver = true;
  });
  await eventually('the wake', () => isOver || !tell(job, ['attention']), { limitMs: 30_000, everyMs: 200 });
  const { code, stdout, stderr } = await waiting.promise;
  assert.equal(code, 2);
  const { document } = parseWake(stdout);
  assert.ok(document.event.seq !== null && document.event.seq > known && document.event.seq < 500, stdout);
  assert.match(
    stderr,
    new RegExp(
      `warning: --after-seq 500 is beyond the events of job ${job.id}, whose newest was ${document.event.seq - 1}`,
    ),
  );
  job.release();
});

test('a stopped worker wakes a wait for attention once, and a wait that goes on only when it happens again', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const worker = job.identity('worker');
  workspace.defer(() => killByIdentity(worker, 'SIGCONT'));
  const waiting = start(workspace, ['wait', job.id, '--until', 'attention', '--timeout', '9m']);
  await untilWaiting(job);
  killByIdentity(worker, 'SIGSTOP');
  const woken = await waiting.promise;
  assert.equal(woken.code, 2);
  const { document, again } = parseWake(woken.stdout);
  assert.deepEqual([document.wake, document.event.seq, document.event.type], ['attention', null, 'monitor_attention']);
  assert.match(document.event.reason ?? '', /the worker is stopped/);
  assert.equal(document.next_seq, 0);
  for (const reader of [
    ['observe', job.id],
    ['status', job.id, '--json'],
  ])
    assert.equal(parseReply(await run(workspace, reader)).attention_kind, 'monitor_attention');
  // It holds already: no tight loop.
  assert.ok(again.includes('--after-seq 0'), again);
  const calm = await runLine(workspace, again.replace('9m', '500ms'));
  assert.equal(parseWake(calm.stdout).document.wake, 'soft_timeout');
  // Without a cursor nobody has said that it is known.
  assert.equal((await run(workspace, ['wait', job.id, '--until', 'attention', '--json', '--timeout', '1m'])).code, 2);
  killByIdentity(worker, 'SIGCONT');
  assert.equal(job.state().attention_kind, null);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id, '--until', 'attention', '--after-seq', '0'])).code, 0);
});

test('a soft timeout keeps its cursor, and a hostile journal neither crashes nor wakes', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const odd = [
    'null',
    '[]',
    '"x"',
    '{"seq":1e300,"wake":["attention"]}',
    '{"seq":900,"wake":"attention"}',
    '{"seq":-4,"wake":["attention"]}',
  ];
  appendFileSync(job.path('events.ndjson'), `${odd.join('\n')}\n${'x'.repeat(200_000)}\n`);
  const reply = await run(workspace, [
    'wait',
    job.id,
    '--until',
    'attention',
    '--after-seq',
    '2',
    '--timeout',
    '300ms',
    '--json',
  ]);
  assert.equal(reply.code, 2, reply.stderr);
  const { wake, next_seq } = parseReply<WakeDocument>(reply);
  assert.deepEqual([wake, next_seq], ['soft_timeout', 2]);
  // Numbers that do not follow hide none that does.
  const seq = eventsThatCount(job) + 1;
  const huge = {
    seq,
    at: '\u001b[31m',
    job: job.id,
    owner: null,
    type: 'news',
    wake: ['news'],
    x: '\u001b[2J'.repeat(9000),
  };
  appendFileSync(job.path('events.ndjson'), `${JSON.stringify(huge)}\n`);
  const woken = await run(workspace, ['wait', job.id, '--until', 'news', '--json']);
  assert.equal(parseReply<WakeDocument>(woken).next_seq, seq);
  assert.ok(woken.stdoutBytes.length <= 8192, `${woken.stdoutBytes.length} bytes`);
  assert.doesNotMatch(woken.stdout, /\\u001b/);
  job.release();
});

test('words that cannot be meant are refused with what is allowed', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const refused: [string[], RegExp][] = [
    [['--until', 'done'], /cannot wait until "done": allowed are terminal, checkpoint, attention, handback, news/],
    [['--until', 'news', '--after-seq', '-1'], /cannot take --after-seq "-1": allowed are N or ID:N/],
    [['--until', 'news', '--after-seq', '1', '--after-seq', '2'], /two --after-seq/],
    [['--until', 'news', '--after-seq', 'run-0-0:1'], /cannot find job run-0-0/],
  ];
  for (const [words, message] of refused) {
    const { code, stderr, stdout } = await run(workspace, ['wait', job.id, ...words]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, message);
  }
  assert.equal(findJob(workspace, job.id).state().state, 'running');
  job.release();
});
