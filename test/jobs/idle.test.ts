/**
 * The verdict on many jobs, on hand-made records: the one command for all of them, the bounded page and document, hostile words, and the
 * patience that is proposed.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { idleDocument } from '../../companion/src/commands/idle-document.ts';
import { idlePage } from '../../companion/src/commands/idle-page.ts';
import type { Spec } from '../../companion/src/core/job.ts';
import { judgeIdle } from '../../companion/src/jobs/idle.ts';
import { monotonicMs } from '../../companion/src/platform/clock.ts';
import { ensureKey, macOf } from '../../companion/src/store/mac.ts';
import { makeJob, makePlace, makeSpec, makeState, staffChange } from '../store/job-record.ts';

const idOf = (n: number, kind = 'run'): string => `${kind}-loyw3v28-${String(n).padStart(6, '0')}`;
/** As its launcher would have written it. */
async function signed(change: Partial<Spec>): Promise<Spec> {
  const { mac: _, ...spec } = makeSpec(change);
  return { ...spec, mac: await macOf(spec, ensureKey()) };
}

/** Starting: its launcher is this process. */
async function makeLive(root: string, n: number, change: Partial<Spec> = {}): Promise<string> {
  const kind = change.timer ? 'timer' : 'run';
  const id = idOf(n, kind);
  const spec = await signed({ id, owner: 'me', deadline_mono_ms: monotonicMs() + 86_400_000, ...change });
  makeJob(root, { spec }, { id, isActive: true });
  return id;
}

const timerIn = (ms: number): Partial<Spec> => ({
  kind: 'timer',
  run: null,
  timer: { due_at: new Date(Date.now() + ms).toISOString(), delay_ms: ms, message: 'look', slot: null, durable: true },
});

const place = (t: TestContext): string => makePlace(t).root;
const patience = (command: string | null | undefined): string | undefined => command?.split(' ').at(-1);

test('forty jobs with hostile words fit one screen and 16 KiB, what is wrong first, and one command is for all', async (t) => {
  const root = place(t);
  const label = `\u001b[31m${'x'.repeat(5000)}\n\r\u202e`;
  for (let n = 0; n < 40; n += 1) await makeLive(root, n, { label, owner: `me ${'é'.repeat(100)}` });
  const owner = `me ${'é'.repeat(100)}`;
  const report = await judgeIdle(root, owner, ['--state-dir', '/some/where']);
  assert.deepEqual([report.isSafe, report.jobs.length], [false, 40]);
  assert.match(report.next ?? '', /wait --owner 'me é+' --any --timeout 30m --state-dir \/some\/where$/);
  const page = idlePage(report, owner, []);
  const lines = page.trimEnd().split('\n');
  assert.ok(lines.length <= 40, `${lines.length} lines`);
  assert.match(page, /and 3\d more jobs; see idle-check --json/);
  assert.doesNotMatch(page, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  const isCommand = (line: string): boolean => / (arm it: {2}|cancel: {2}|mend it: ) | {2}node /.test(line);
  for (const line of lines) assert.ok(line.length <= 80 || isCommand(line), line);
  const document = idleDocument(report, owner, { folder: root, option: [] });
  assert.ok(Buffer.byteLength(JSON.stringify(document)) <= 16 * 1024);
  const { jobs, omitted } = document as { jobs: unknown[]; omitted: { jobs: number } };
  assert.equal(jobs.length + omitted.jobs, 40);
  assert.ok(jobs.length > 10, `${jobs.length} jobs`);
});

test('the proposed patience: what is left of the limit and a little, at most 30m, whole units', async (t) => {
  const root = place(t);
  const cases: [number, string][] = [
    [86_400_000, '30m'],
    [600_000, '12m'],
    [20_000, '1m50s'],
    [-5000, '1m30s'],
  ];
  for (const [n, [leftMs]] of cases.entries()) await makeLive(root, n, { deadline_mono_ms: monotonicMs() + leftMs });
  const { jobs, next } = await judgeIdle(root, null, []);
  assert.deepEqual(
    jobs.map((job) => patience(job.next)),
    cases.map(([, text]) => text),
  );
  assert.equal(patience(next), '30m');
});

test('a timer is waited for until it is due, however late that is', async (t) => {
  const root = place(t);
  await makeLive(root, 1, timerIn(5 * 3_600_000));
  const { isSafe, timers, next } = await judgeIdle(root, 'me', []);
  assert.deepEqual([isSafe, patience(timers[0]?.next), next], [false, '5h1m', null]);
});

test('a timer that is due is no backstop and no danger: it is something to collect', async (t) => {
  const root = place(t);
  const id = await makeLive(root, 1, timerIn(-1000));
  const { isSafe, timers, uncollected } = await judgeIdle(root, 'me', []);
  assert.deepEqual([isSafe, timers, uncollected.map((view) => view.id)], [true, [], [id]]);
});

test('finished jobs that nobody has collected: of this owner, the newest first, at most twenty', async (t) => {
  const root = place(t);
  for (let n = 0; n < 30; n += 1) {
    const id = idOf(n);
    const owner = n % 5 === 4 ? 'other' : 'me';
    const collected = n === 0 ? '{}' : undefined;
    makeJob(root, { spec: makeSpec({ id, owner }), state: makeState({ id, state: 'done' }), collected }, { id });
  }
  const mine = await judgeIdle(root, 'me', []);
  assert.deepEqual([mine.isSafe, mine.uncollected.length, mine.isMore], [true, 20, true]);
  assert.deepEqual([mine.uncollected[0]?.id, mine.uncollected[1]?.id], [idOf(28), idOf(27)]);
  const page = idlePage(mine, 'me', []);
  assert.match(page, /collected by nobody: 20 or more/);
  const other = await judgeIdle(root, 'other', []);
  assert.deepEqual([other.uncollected.length, other.isMore], [6, false]);
});

test('a damaged record of anybody is told, and nobody is safe', async (t) => {
  const root = place(t);
  makeJob(root, { spec: '{' }, { id: idOf(1), isActive: true });
  makeJob(root, { spec: await signed({ id: idOf(2), owner: 'other' }), state: '{' }, { id: idOf(2), isActive: true });
  makeJob(root, { spec: await signed({ id: idOf(3), owner: 'me' }), state: '{' }, { id: idOf(3), isActive: true });
  const { isSafe, unreadable, jobs } = await judgeIdle(root, 'me', []);
  assert.deepEqual([isSafe, unreadable.map(({ id }) => id), jobs], [false, [idOf(1), idOf(3)], []]);
  assert.match(unreadable[1]?.reason ?? '', /^state\.json is no JSON object/);
  assert.match(idlePage(await judgeIdle(root, 'me', []), 'me', []), /doctor run-loyw3v28-000001/);
});

test('asked for everybody, it says whose jobs they are and how to ask for one owner', async (t) => {
  const root = place(t);
  await makeLive(root, 1);
  assert.match(
    idlePage(await judgeIdle(root, null, []), null, []),
    /everybody's jobs; for those of one owner: idle-check --owner NAME/,
  );
  assert.doesNotMatch(idlePage(await judgeIdle(root, 'me', []), 'me', []), /everybody/);
});

test('a staff job and a marker without a folder', async (t) => {
  const root = place(t);
  await makeLive(root, 1, { ...staffChange, kill_grace_ms: 10_000 });
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${root}/active/${idOf(9)}`, '');
  const { jobs } = await judgeIdle(root, 'me', []);
  assert.deepEqual(
    jobs.map(({ missing }) => missing),
    [['delivery', 'backstop']],
  );
});
