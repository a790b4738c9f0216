// Who is before a job in its queue and who is at work, from records made by hand: pools, order, limits, and what does not count.
import assert from 'node:assert/strict';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import type { Spec } from '../../companion/src/core/job.ts';
import { lookAtQueue, makeQueueMemory, poolOf } from '../../companion/src/jobs/queue.ts';
import { queueWords } from '../../companion/src/jobs/queue-words.ts';
import { bootId, ownIdentity } from '../../companion/src/platform/identity.ts';
import type { JobPaths } from '../../companion/src/store/layout.ts';
import { macOf } from '../../companion/src/store/mac.ts';
import { writeTurn } from '../../companion/src/store/turn.ts';
import { testKey, useKey } from '../helpers/key.ts';
import { makeJob, makePlace, makeSpec, makeState } from '../store/job-record.ts';

const alive = ownIdentity();
const dead = { ...alive, start_token: '1' };
const elsewhere = { ...alive, pid_ns: 'pid:[1]' };
const turn = { at: new Date().toISOString(), boot_id: bootId(), mono_ms: 1, files: {} };
const minute = 60_000;

interface Member {
  change?: Partial<Spec>;
  worker?: unknown;
  hasTurn?: boolean;
  isForged?: boolean;
  files?: Parameters<typeof makeJob>[1];
  isActive?: boolean;
}

function makePool(t: TestContext) {
  const { workspace, root } = makePlace(t);
  useKey(t, workspace);
  let count = 0;
  const add = async ({ change, worker = alive, hasTurn, isForged, files, isActive = true }: Member = {}) => {
    const id = `run-loyw3v28-00000${count}`;
    count += 1;
    const { mac: _mac, ...rest } = makeSpec({ id, max_live: 2, ...change });
    const spec = { ...rest, mac: isForged ? 'f'.repeat(64) : await macOf(rest, testKey) };
    const record = { worker, shim: null, child: null, fifo: true };
    const paths = makeJob(
      root,
      { spec, worker: record, launch: { worker, generation: 1 }, lease: {}, ...files },
      { id, isActive },
    );
    if (hasTurn) writeTurn(paths, id, turn);
    return { id, spec, paths };
  };
  return { add, look: (spec: Spec, memory = makeQueueMemory()) => lookAtQueue(root, spec, memory) };
}

const old = (paths: JobPaths, ms: number): void => {
  for (const file of [paths.lease, paths.launch, paths.spec])
    utimesSync(file, (Date.now() - ms) / 1000, (Date.now() - ms) / 1000);
};

test('a job may go when fewer are at work than it asked for, and no earlier one waits', async (t) => {
  const { add, look } = makePool(t);
  const first = await add({ hasTurn: true });
  const second = await add();
  const third = await add();
  assert.deepEqual(await look(second.spec), {
    ahead: [],
    atWork: [{ id: first.id, condition: 'supervised' }],
    place: 1,
    mayGo: true,
  });
  const { ahead, place, mayGo } = await look(third.spec);
  assert.deepEqual([ahead, place, mayGo], [[second.id], 2, false]);
  writeTurn(second.paths, second.id, turn);
  assert.deepEqual([(await look(third.spec)).atWork.length, (await look(third.spec)).mayGo], [2, false]);
  const wide = await add({ change: { max_live: 3 } });
  assert.equal((await look(wide.spec)).mayGo, false, 'nobody overtakes');
});

test('one without --max-live is at work from its launch', async (t) => {
  const { add, look } = makePool(t);
  await add({ change: { max_live: null } });
  await add({ change: { max_live: null } });
  assert.equal((await look((await add()).spec)).mayGo, false);
});

test('owners, watches and timers are no members of this pool', async (t) => {
  const { add, look } = makePool(t);
  await add({ change: { owner: 'another' } });
  await add({ change: { kind: 'watch', run: null, watch: { condition: 'file' } as never } });
  await add({ change: { kind: 'timer', run: null, timer: { due_at: '2200-01-01T00:00:00Z', message: '' } as never } });
  assert.deepEqual(await look((await add({ change: { max_live: 1 } })).spec), {
    ahead: [],
    atWork: [],
    place: 1,
    mayGo: true,
  });
  const staff = { kind: 'staff' as const, owner: 'me' };
  assert.equal(poolOf(makeSpec(staff)), poolOf(makeSpec({ owner: 'me' })));
  assert.notEqual(poolOf(makeSpec({ owner: null })), poolOf(makeSpec({ owner: 'null' })));
  assert.equal(poolOf(makeSpec({ kind: 'timer' })), null);
});

test('what others wrote, what has ended and what was taken away does not count', async (t) => {
  const { add, look } = makePool(t);
  await add({ isForged: true });
  await add({ isForged: true, hasTurn: true });
  await add({ hasTurn: true, worker: dead, files: { state: makeState({ state: 'done' }) } });
  await add({ hasTurn: true, isActive: false });
  const gone = await add();
  const { spec, paths } = await add({ change: { max_live: 1 } });
  writeFileSync(`${paths.root}/active/run-loyw3v28-zzzzzz`, '');
  const memory = makeQueueMemory();
  assert.deepEqual((await look(spec, memory)).ahead, [gone.id]);
  mkdirSync(`${paths.root}/elsewhere`);
  const { renameSync, rmSync } = await import('node:fs');
  renameSync(gone.paths.folder, `${paths.root}/elsewhere/x`);
  rmSync(gone.paths.marker);
  assert.equal((await look(spec, memory)).mayGo, true);
  assert.equal(memory.members.has(gone.id), false);
});

test('a forged turn lets nobody go, and a start without a turn was one', async (t) => {
  const { add, look } = makePool(t);
  const forged = await add({ files: { turn: { ...turn, mac: '0'.repeat(64) } } });
  const begun = await add();
  mkdirSync(begun.paths.started);
  const { ahead, atWork } = await look((await add()).spec);
  assert.deepEqual([ahead, atWork.map(({ id }) => id)], [[forged.id], [begun.id]]);
});

test('an earlier one is waited for while it gives signs of life, and passed over after two silent looks', async (t) => {
  const { add, look } = makePool(t);
  for (const worker of [alive, dead, elsewhere]) {
    const silent = await add({ worker });
    const { spec } = await add();
    const memory = makeQueueMemory();
    assert.equal((await look(spec, memory)).ahead.at(-1), silent.id);
    old(silent.paths, minute);
    assert.equal((await look(spec, memory)).ahead.at(-1), silent.id, 'a machine that slept');
    memory.silent.set(silent.id, (memory.silent.get(silent.id) ?? 0) - 20_000);
    assert.ok(!(await look(spec, memory)).ahead.includes(silent.id));
    old(silent.paths, 0);
    assert.equal((await look(spec, memory)).ahead.at(-1), silent.id, 'it is back');
    assert.equal(memory.silent.has(silent.id), false);
    writeTurn(silent.paths, silent.id, turn);
    writeTurn(makeJobPaths(spec, silent.paths), spec.id, turn);
  }
});

test('one at work whose worker is gone takes its place until its end is known, or cannot be published from here', async (t) => {
  const { add, look } = makePool(t);
  const limit = { max_live: 1 };
  const lost = await add({ hasTurn: true, worker: dead });
  const { spec } = await add({ change: limit });
  const memory = makeQueueMemory();
  assert.deepEqual((await look(spec, memory)).atWork, [{ id: lost.id, condition: 'unclaimed' }]);
  mkdirSync(lost.paths.started);
  old(lost.paths, minute);
  utimesSync(lost.paths.started, 1, 1);
  const seen = await look(spec, memory);
  assert.deepEqual([seen.atWork, seen.mayGo], [[{ id: lost.id, condition: 'lost' }], false]);
  memory.unsettled.add(lost.id);
  assert.equal((await look(spec, memory)).mayGo, true);
});

test('a turn that nobody takes up from here holds nobody up for ever', async (t) => {
  const { add, look } = makePool(t);
  const { id, paths } = await add({ hasTurn: true, worker: dead });
  const { spec } = await add({ change: { max_live: 1 } });
  const memory = makeQueueMemory();
  old(paths, minute);
  assert.equal((await look(spec, memory)).mayGo, false);
  memory.silent.set(id, (memory.silent.get(id) ?? 0) - 20_000);
  assert.equal((await look(spec, memory)).mayGo, true);
});

test('where a job stands, in words', () => {
  const seen = { place: 3, live: 4, max_live: 4, behind: ['run-a', 'run-b'] };
  assert.equal(queueWords(seen), 'place 3, behind run-a, run-b; 4 at work, at most 4 at a time');
  assert.equal(queueWords({ ...seen, place: null }), 'place not known yet, at most 4 at a time');
  assert.equal(queueWords({ ...seen, live: null, behind: [] }), 'place 3; 0 at work, at most 4 at a time');
});

function makeJobPaths(spec: Spec, { root }: JobPaths): JobPaths {
  return makeJob(root, {}, { id: spec.id });
}
