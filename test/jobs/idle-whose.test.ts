/**
 * Whose turn an end is to start, and who hears more than the end: jobs of jobs, agents that hand back while they work, waits whose starter is
 * gone, and what is told without changing the answer. On hand-made records, with processes that stand for waits.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { idleDocument } from '../../companion/src/commands/idle-document.ts';
import { idlePage } from '../../companion/src/commands/idle-page.ts';
import type { Spec } from '../../companion/src/core/job.ts';
import { heardSeq, lastCollectedSeq, noteDelivered } from '../../companion/src/jobs/collected.ts';
import { type IdleReport, judgeIdle } from '../../companion/src/jobs/idle.ts';
import { inspect } from '../../companion/src/jobs/view.ts';
import { sealOf } from '../../companion/src/jobs/waiter-seal.ts';
import { monotonicMs } from '../../companion/src/platform/clock.ts';
import { identityOf } from '../../companion/src/platform/identity.ts';
import { jobPaths } from '../../companion/src/store/layout.ts';
import { ensureKey, macOf } from '../../companion/src/store/mac.ts';
import { makeJob, makePlace, makeSpec, makeState, staffChange } from '../store/job-record.ts';

const idOf = (n: number, kind = 'run'): string => `${kind}-loyw3v28-${String(n).padStart(6, '0')}`;
const handback = { dir: '/hand', baseline: {} };

function place(t: TestContext) {
  const { workspace, root } = makePlace(t);
  const program = workspace.path('job-companion.cjs');
  writeFileSync(program, 'setInterval(() => undefined, 1e6); console.log("here");\n');

  /** Its launcher is this process. */
  async function live(n: number, change: Partial<Spec> = {}): Promise<string> {
    const id = idOf(n, change.timer ? 'timer' : 'run');
    const { mac: _, ...spec } = makeSpec({ id, owner: 'me', deadline_mono_ms: monotonicMs() + 86_400_000, ...change });
    const files = { spec: { ...spec, mac: await macOf(spec, ensureKey()) } };
    mkdirSync(makeJob(root, files, { id, isActive: true }).waiters);
    return id;
  }

  function ended(n: number, owner: string | null, state: 'done' | 'canceled' = 'done'): string {
    const [id, at] = [idOf(n), '2023-11-14T22:14:20.000Z'];
    makeJob(root, { spec: makeSpec({ id, owner }), state: makeState({ id, state, ended_at: at }) }, { id });
    return id;
  }

  /** A process that looks like a wait for these; `parent` null: nobody is written down. */
  async function hold(ids: string[], until: string[] = [], parent: unknown = null) {
    const child = spawn(process.execPath, [program, 'wait', ...ids], { stdio: ['ignore', 'pipe', 'inherit'] });
    const gone = new Promise((resolve) => child.once('exit', resolve));
    workspace.defer(async () => {
      child.kill('SIGKILL');
      await gone;
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const terms = { kind: 'wait', mode: 'any', until, timeout_ms: 600_000, ends_mono_ms: monotonicMs() + 600_000 };
    const waiter = identityOf(child.pid as number);
    const note = { waiter, parent, ids, since: new Date().toISOString(), ...terms };
    const text = JSON.stringify({ ...note, seal: sealOf(note) });
    for (const id of ids) writeFileSync(join(jobPaths(root, id).waiters, `${child.pid}-1.json`), text);
    return waiter;
  }

  const check = (owner: string | null = 'me') => judgeIdle(root, owner, []);
  return { root, live, ended, hold, check };
}

const wordsIn = (command: string | null | undefined): string[] => command?.split(' ').slice(2) ?? [];
const missingOf = ({ jobs }: IdleReport) => jobs.map(({ missing }) => missing);

test('a job that hands back needs somebody who hears that: a plain wait does not', async (t) => {
  const { root, live, hold, check } = place(t);
  const id = await live(1, { ...staffChange, handback });
  const bare = await check();
  assert.deepEqual(missingOf(bare), [['delivery', 'backstop', 'handback']]);
  assert.deepEqual(wordsIn(bare.jobs[0]?.next), ['wait', id, '--until', 'handback', '--timeout', '30m']);
  await hold([id], ['attention']);
  const deaf = await check();
  assert.deepEqual([deaf.isSafe, missingOf(deaf)], [false, [['handback']]]);
  const page = idlePage(deaf, 'me', []);
  assert.match(page, /^NOT safe to go idle: 1 of 1 live job whose hand-backs nobody hears \(owner me\)\n/);
  assert.match(page, /handback: nobody would hear it: no wait has --until handback\n/);
  assert.ok(page.includes(`  arm it:   ${deaf.jobs[0]?.next}\n`), page);
  const { jobs } = idleDocument(deaf, 'me', { folder: root, option: [] }) as { jobs: { missing: string[] }[] };
  assert.deepEqual(jobs[0]?.missing, ['handback']);
  await hold([id], ['attention', 'handback']);
  const heard = await check();
  assert.deepEqual([heard.isSafe, missingOf(heard)], [true, [[]]]);
});

test('what was handed back and heard before does not end the proposed wait at once; of several each has its own number', async (t) => {
  const { root, live, check } = place(t);
  const [a, b] = [await live(1, { ...staffChange, handback }), await live(2, { ...staffChange, handback })];
  const plain = await live(3);
  const view = inspect(root, a);
  noteDelivered(view, 7, ['handback']);
  // Who listened to attention only has heard of no hand-back.
  noteDelivered(view, 12, ['attention']);
  noteDelivered(view, 9, ['attention', 'handback']);
  assert.deepEqual([heardSeq(view.paths, 'handback'), heardSeq(view.paths, 'attention')], [9, 12]);
  assert.equal(lastCollectedSeq(view), 12);
  const { jobs, next } = await check();
  assert.deepEqual(wordsIn(jobs[0]?.next).slice(2, -2), ['--until', 'handback', '--after-seq', '9']);
  assert.deepEqual(wordsIn(jobs[1]?.next).slice(2, -2), ['--until', 'handback']);
  assert.deepEqual(wordsIn(jobs[2]?.next).slice(2), ['--timeout', '30m']);
  const causes = ['--until', 'handback', '--after-seq', `${a}:9`];
  assert.deepEqual(wordsIn(next), ['wait', a, b, plain, '--any', ...causes, '--timeout', '30m']);
});

test('what a live job started is counted, what an ended one left belongs to its owner, over generations', async (t) => {
  const { root, live, ended, check, hold } = place(t);
  const parent = await live(1);
  await live(2, { owner: parent });
  await hold([parent]);
  const held = await check();
  assert.deepEqual([held.isSafe, held.jobs.length, held.below], [true, 1, 1]);
  const page = idlePage(held, 'me', []);
  assert.match(page, /\n1 more live job is the business of the live job that started it\n/);
  assert.equal(idleDocument(held, 'me', { folder: root, option: [] }).below, 1);

  const left = await live(5, { owner: ended(4, ended(3, 'me')) });
  const seen = await check();
  assert.deepEqual(
    seen.jobs.map(({ view, missing }) => [view.id, missing.length]),
    [
      [parent, 0],
      [left, 2],
    ],
  );
  assert.deepEqual([seen.isSafe, (await check('you')).jobs.length, (await check(null)).jobs.length], [false, 0, 3]);
  // Left to the owner with all that it is: also his timer stands behind it.
  await hold([left]);
  assert.equal((await check()).isSafe, true);
});

test("the ended jobs of a job that lives are that one's to collect, those of an ended one are the owner's", async (t) => {
  const { live, ended, check } = place(t);
  ended(2, await live(1));
  const own = ended(4, ended(3, 'me'));
  assert.deepEqual(
    (await check()).uncollected.map(({ id }) => id),
    [own, idOf(3)],
  );
});

test('timers that an ended job left are in the window of its owner: two are one too many', async (t) => {
  const { live, ended, check } = place(t);
  const due_at = new Date(Date.now() + 600_000).toISOString();
  const timer = { due_at, delay_ms: 600_000, message: 'look', slot: null, durable: true as const };
  const terms: Partial<Spec> = { kind: 'timer', run: null, timer };
  await live(1, terms);
  await live(2, { ...terms, owner: ended(3, 'me') });
  const { timers } = await check();
  assert.deepEqual(
    timers.map(({ isExtra }) => isExtra),
    [false, true],
  );
});

test('a wait that was left alone counts, and the answer says that perhaps nobody hears it', async (t) => {
  const { root, live, hold, check } = place(t);
  const [a, b] = [await live(1), await live(2)];
  const here = identityOf(process.pid);
  const gone = { ...here, start_token: '1' };
  await hold([a], [], gone);
  await hold([b], [], here);
  const one = await check();
  assert.deepEqual([one.isSafe, one.orphans], [true, 1]);
  const words = 'but 1 of the waits was left alone by whoever started it: perhaps nobody hears it end';
  assert.ok(idlePage(one, 'me', []).replaceAll('\n', ' ').includes(words), idlePage(one, 'me', []));
  const document = idleDocument(one, 'me', { folder: root, option: [] }) as { reason: string; orphans: number };
  assert.ok(document.reason.includes(words) && document.orphans === 1, document.reason);
  // Somebody else hears the same: nothing rests on it.
  await hold([a], [], here);
  const both = await check();
  assert.deepEqual([both.isSafe, both.orphans], [true, 0]);
  assert.doesNotMatch(idlePage(both, 'me', []), /, but /);
});

test('a canceled job is nothing to collect: whoever canceled it was told', async (t) => {
  const { ended, check } = place(t);
  ended(1, 'me', 'canceled');
  const done = ended(2, 'me');
  const { uncollected, isMore } = await check();
  assert.deepEqual([uncollected.map(({ id }) => id), isMore], [[done], false]);
});

test('a run past what was expected of it is told, before the others, and the answer stays', async (t) => {
  const { root, live, hold, check } = place(t);
  const run = { argv: ['true'], program: '/bin/true', success_exit: 0, keep_children: false };
  const [a, b] = [
    await live(1, { run: { ...run, expect_ms: 86_400_000 * 36_500 } }),
    await live(2, { run: { ...run, expect_ms: 60_000 } }),
  ];
  for (const id of [a, b])
    writeFileSync(jobPaths(root, id).state, JSON.stringify(makeState({ id, started_at: '2023-11-14T22:13:20.000Z' })));
  await hold([a, b]);
  const report = await check();
  assert.deepEqual(
    report.jobs.map(({ late }) => late?.replace(/runs for .*/, '') ?? null),
    [null, 'expected to take 1m, '],
  );
  const page = idlePage(report, 'me', []);
  assert.match(page, /late: {5}expected to take 1m, runs for /);
  assert.ok(page.indexOf(b) < page.indexOf(a), page);
  const { jobs } = idleDocument(report, 'me', { folder: root, option: [] }) as { jobs: { late: string | null }[] };
  assert.match(jobs[1]?.late ?? '', /^expected to take 1m/);
});
