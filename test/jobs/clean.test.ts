// What a cleaning would remove, what it keeps and why, and that a removed job is gone in one step.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JobState, Spec } from '../../companion/src/core/job.ts';
import { type CleanPlan, planClean, removeDebris, removeJobs } from '../../companion/src/jobs/clean.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { makeJob, makePlace, makeSpec, makeState } from '../store/job-record.ts';

const day = 86_400_000;
const own = ownIdentity();
const dead = { ...own, start_token: '1' };
const launch = { worker: own, generation: 1 };

/** The n-th job: a higher number is newer. */
const idOf = (n: number) => `run-loyw3v28-00000${n}`;

interface Made {
  spec?: Partial<Spec>;
  state?: Partial<JobState>;
  files?: Parameters<typeof makeJob>[1];
  isActive?: boolean;
}

/** A job that is done, collected and a hundred days old, unless it is made otherwise. */
function makeDone(root: string, n: number, { spec = {}, state = {}, files = {}, isActive = false }: Made = {}) {
  const id = idOf(n);
  const ended_at = new Date(Date.now() - 100 * day).toISOString();
  const all = {
    spec: makeSpec({ id, ...spec }),
    state: makeState({ id, state: 'done', ended_at, ...state }),
    collected: { by: 'wait' },
    ...files,
  };
  return makeJob(root, all, { id, isActive });
}

function makeLive(root: string, n: number, spec: Partial<Spec> = {}) {
  return makeDone(root, n, {
    spec,
    state: { state: 'running', ended_at: null },
    files: { launch, collected: undefined },
    isActive: true,
  });
}

const plan = (root: string, change: Partial<Parameters<typeof planClean>[1]> = {}): Promise<CleanPlan> =>
  planClean(root, { olderThanMs: 14 * day, keep: 0, includeUncollected: false, ...change });
const age = (file: string) => utimesSync(file, Date.now() / 1000 - 3600, Date.now() / 1000 - 3600);

async function expectKept(t: TestContext, why: RegExp, make: (root: string) => void): Promise<void> {
  const { root } = makePlace(t);
  make(root);
  const { remove, keep } = await plan(root, {
    olderThanMs: 0,
    includeUncollected: why.source !== 'nobody has collected',
  });
  assert.deepEqual(remove, []);
  assert.equal(keep.length, 1);
  assert.match(keep[0]!.why, why);
}

test('a finished, collected and old job is removed, a young one is not', async (t) => {
  const { root } = makePlace(t);
  makeDone(root, 1);
  makeDone(root, 2, { state: { ended_at: new Date().toISOString() } });
  makeDone(root, 3, { state: { ended_at: new Date(Date.now() - 13 * day).toISOString() } });
  makeDone(root, 4, { state: { ended_at: new Date(Date.now() - 15 * day).toISOString() } });
  assert.deepEqual((await plan(root)).remove, [idOf(4), idOf(1)]);
  assert.deepEqual((await plan(root, { olderThanMs: 200 * day })).remove, []);
  assert.deepEqual((await plan(root, { olderThanMs: 0 })).remove, [4, 3, 2, 1].map(idOf));
});

test('every outcome may be removed', async (t) => {
  const { root } = makePlace(t);
  (['done', 'failed', 'timed_out', 'crashed', 'canceled'] as const).forEach((state, n) => {
    makeDone(root, n, { state: { state } });
  });
  assert.equal((await plan(root)).remove.length, 5);
});

test('the newest finished jobs are kept, as many as asked for', async (t) => {
  const { root } = makePlace(t);
  for (const n of [1, 2, 3, 4]) makeDone(root, n);
  makeLive(root, 5);
  assert.deepEqual((await plan(root, { keep: 2 })).remove, [idOf(2), idOf(1)]);
  assert.deepEqual((await plan(root, { keep: 9 })).remove, []);
});

test('a live job is kept', (t) => expectKept(t, /^it is live$/, (root) => makeLive(root, 1)));

test('a job that cannot be seen from here is kept', (t) =>
  expectKept(t, /^it is live$/, (root) => {
    const elsewhere = { worker: { ...own, pid_ns: 'pid:[1]' }, generation: 1 };
    makeDone(root, 1, {
      spec: { created_at: new Date().toISOString() },
      state: { state: 'running' },
      files: { launch: elsewhere },
    });
  }));

test('a damaged job is kept, with its damage', (t) =>
  expectKept(t, /^its record is damaged \(state\.json is no JSON object\)$/, (root) => {
    makeDone(root, 1, { files: { state: '{' } });
  }));

test('a job that nobody has collected is kept, unless asked otherwise', async (t) => {
  await expectKept(t, /nobody has collected/, (root) => makeDone(root, 1, { files: { collected: undefined } }));
  const { root } = makePlace(t);
  makeDone(root, 1, { files: { collected: undefined } });
  assert.deepEqual((await plan(root, { includeUncollected: true })).remove, [idOf(1)]);
});

test('a job that somebody waits for is kept, one whose waiters are dead is not', async (t) => {
  for (const [waiter, isKept] of [
    [own, true],
    [{ ...own, pid_ns: 'pid:[1]' }, true],
    [dead, false],
    ['odd', false],
  ] as const) {
    const { root } = makePlace(t);
    const { waiters } = makeDone(root, 1);
    mkdirSync(waiters);
    writeFileSync(join(waiters, '5-5.json'), JSON.stringify({ waiter, ids: [], since: 'x', timeout_ms: 1 }));
    const { remove, keep } = await plan(root);
    assert.deepEqual([remove.length, keep[0]?.why], isKept ? [0, 'somebody waits for it'] : [1, undefined]);
  }
});

test('every ancestor of a live job is kept, and nobody else', async (t) => {
  const { root } = makePlace(t);
  const from = (n: number): Partial<Spec> => ({ lineage: { relation: 'continue', parent: idOf(n), root: idOf(1) } });
  makeDone(root, 1);
  makeDone(root, 2, { spec: from(1) });
  makeDone(root, 3, { spec: from(2) });
  makeLive(root, 4, from(3));
  makeDone(root, 5, { spec: from(1) });
  makeDone(root, 6);
  const { remove, keep } = await plan(root);
  assert.deepEqual(remove, [idOf(6), idOf(5)]);
  assert.deepEqual(
    keep.map(({ id, why }) => `${id}: ${why}`),
    [`${idOf(4)}: it is live`, ...[3, 2, 1].map((n) => `${idOf(n)}: a live job descends from it`)],
  );
});

test('a lineage that goes in a circle or leads out of the folder ends', async (t) => {
  const { root } = makePlace(t);
  const from = (parent: string): Partial<Spec> => ({ lineage: { relation: 'restart', parent, root: parent } });
  makeLive(root, 1, from(idOf(2)));
  makeDone(root, 2, { spec: from(idOf(1)) });
  makeLive(root, 3, from('../../../etc'));
  makeDone(root, 4);
  assert.deepEqual((await plan(root)).remove, [idOf(4)]);
});

test('left-overs of launches and cleanings are debris once they are old', async (t) => {
  const { root } = makePlace(t);
  const at = (name: string) => join(root, 'jobs', name);
  for (const name of [`.new-${idOf(1)}`, `.gone-${idOf(2)}`, `.new-${idOf(3)}`, '.other', 'notes']) mkdirSync(at(name));
  for (const n of [4, 5]) writeFileSync(join(root, 'active', idOf(n)), '');
  makeLive(root, 6);
  for (const file of [at(`.new-${idOf(1)}`), at(`.gone-${idOf(2)}`), at('.other'), at('notes')]) age(file);
  for (const n of [4, 6]) age(join(root, 'active', idOf(n)));
  const { debris, remove } = await plan(root);
  assert.deepEqual(
    debris.sort(),
    [join(root, 'active', idOf(4)), at(`.gone-${idOf(2)}`), at(`.new-${idOf(1)}`)].sort(),
  );
  assert.deepEqual(remove, []);
  removeDebris(debris);
  assert.deepEqual(readdirSync(join(root, 'jobs')).sort(), [`.new-${idOf(3)}`, '.other', 'notes', idOf(6)].sort());
  assert.deepEqual(readdirSync(join(root, 'active')).sort(), [idOf(5), idOf(6)]);
});

test('planning changes nothing', async (t) => {
  const { root } = makePlace(t);
  makeDone(root, 1);
  makeLive(root, 2);
  const before = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  await plan(root);
  assert.deepEqual(readdirSync(root, { recursive: true, encoding: 'utf8' }).sort(), before);
});

test('removing takes folder and marker, leaves once-keys and other jobs, and tells what is gone', async (t) => {
  const { root } = makePlace(t);
  makeDone(root, 1, { isActive: true });
  makeDone(root, 2);
  writeFileSync(join(root, 'once', 'key'), '{}');
  assert.deepEqual((await removeJobs(root, [idOf(1), idOf(3)])).removed, [idOf(1)]);
  assert.deepEqual(readdirSync(join(root, 'jobs')), [idOf(2)]);
  assert.deepEqual(readdirSync(join(root, 'active')), []);
  assert.deepEqual(readdirSync(join(root, 'once')), ['key']);
});

test('a link in the place of a job is removed, and not what it points to', async (t) => {
  const { root, workspace } = makePlace(t);
  workspace.write('precious/file', 'x');
  symlinkSync(workspace.path('precious'), join(root, 'jobs', idOf(1)));
  assert.deepEqual((await removeJobs(root, [idOf(1)])).removed, [idOf(1)]);
  assert.ok(existsSync(workspace.path('precious', 'file')));
  assert.deepEqual(readdirSync(join(root, 'jobs')), []);
});
