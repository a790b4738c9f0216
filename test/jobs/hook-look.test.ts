/** A hook's look has an end: what was not looked at by then is not told, and what is told is no more than a screen holds. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { makeId } from '../../companion/src/core/ids.ts';
import { hookLines, lookForHook } from '../../companion/src/jobs/hook-look.ts';
import { jobPaths } from '../../companion/src/store/layout.ts';
import { makeJob, makePlace, makeSpec, makeState } from '../store/job-record.ts';

const never = () => false;

/** Finished jobs that nobody has collected, oldest first. */
function makeFinished(t: TestContext, count: number): { folder: string; ids: string[] } {
  const { root: folder } = makePlace(t);
  const ids = Array.from({ length: count }, (_, at) => makeId('run', Date.now() - count + at, new Uint8Array(6)));
  for (const id of ids) {
    const state = makeState({ id, state: 'failed', ended_at: new Date().toISOString() });
    makeJob(folder, { spec: makeSpec({ id }), state }, { id });
  }
  return { folder, ids };
}

test('when the time is over from the start, it says what the first few are, and that there may be more', async (t) => {
  const { folder, ids } = makeFinished(t, 9);
  const lines = await lookForHook({ folder, option: [] }, null, () => true);
  assert.match(lines[0] ?? '', /^job-companion: at least 3 finished jobs /);
  assert.deepEqual([lines.length, lines[1]?.includes(ids[8] as string)], [4, true]);
});

test('when the time is over in between, it goes no further', async (t) => {
  const { folder } = makeFinished(t, 9);
  let looks = 0;
  const lines = await lookForHook({ folder, option: [] }, null, () => ++looks > 2);
  assert.match(lines[0] ?? '', /^job-companion: at least 5 finished jobs /);
});

test('three are named, the newest first, and the rest is counted', async (t) => {
  const { folder, ids } = makeFinished(t, 5);
  const lines = await lookForHook({ folder, option: ['--state-dir', folder] }, null, never);
  assert.match(lines[0] ?? '', /^job-companion: 5 finished jobs /);
  for (const [at, id] of ids.slice(2).reverse().entries())
    assert.ok(lines[at + 1]?.endsWith(`result ${id} --state-dir ${folder}`), lines[at + 1]);
  assert.match(lines[4] ?? '', /^- 2 more: .* status /);
  assert.equal(lines.length, 5);
});

/** So many that have ended and were collected, each with a marker that says it lives. */
function makeMarked(t: TestContext, count: number): { folder: string; ids: string[] } {
  const { folder, ids } = makeFinished(t, count);
  mkdirSync(join(folder, 'active'), { recursive: true });
  for (const id of ids) {
    writeFileSync(join(folder, 'active', id), '');
    writeFileSync(jobPaths(folder, id).collected, '{}');
  }
  return { folder, ids };
}

const noTime = /^job-companion: no time to look at the jobs \(200 ms\); ask: .* idle-check$/;

test('what lives and was not looked at in time is no silence', async (t) => {
  const { folder } = makeMarked(t, 9);
  const root = { folder, option: [] };
  assert.deepEqual(await lookForHook(root, null, never), []);
  const lines = await lookForHook(root, null, () => true);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', noTime);
});

test('a look that does not come to its end is given up, and that is said when a job lives', async (t) => {
  const { folder } = makeMarked(t, 1);
  const stuck = new Promise<string[]>(() => {});
  const lines = await hookLines({ folder, option: [] }, stuck, Promise.resolve());
  assert.match(lines[0] ?? '', noTime);
  rmSync(join(folder, 'active'), { recursive: true });
  assert.deepEqual(await hookLines({ folder, option: [] }, stuck, Promise.resolve()), []);
  assert.deepEqual(await hookLines({ folder, option: [] }, Promise.resolve(['x']), Promise.resolve()), ['x']);
});

test('a job that has ended is finished, also when its worker was killed before it took its marker away', async (t) => {
  const { folder, ids } = makeFinished(t, 1);
  mkdirSync(join(folder, 'active'), { recursive: true });
  writeFileSync(join(folder, 'active', ids[0] as string), '');
  const lines = await lookForHook({ folder, option: [] }, null, never);
  assert.match(lines[0] ?? '', /^job-companion: 1 finished job that nobody has collected/);
  assert.equal(lines.length, 2);
});
