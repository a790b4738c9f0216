// CPU that a tree used between two looks, while its processes come and go.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type CpuBooks, type CpuRow, cpuSince, emptyBooks } from '../../companion/src/core/cpu-use.ts';

const row = (pid: number, parent: number, ownMs: number, waitedMs = 0, start = `s${pid}`): CpuRow => ({
  ...{ pid, start, parent, ownMs, waitedMs },
});

/** What each look adds. */
function usedIn(...looks: CpuRow[][]): number[] {
  let books: CpuBooks = emptyBooks;
  return looks.map((rows) => {
    const { usedMs, books: next } = cpuSince(books, rows);
    books = next;
    return usedMs;
  });
}

test('what the processes used since the last look is added up, and idle ones add nothing', () => {
  assert.deepEqual(
    usedIn([row(10, 1, 50), row(11, 10, 20)], [row(10, 1, 60), row(11, 10, 25)], [row(10, 1, 60), row(11, 10, 25)]),
    [70, 15, 0],
  );
});

test('a process that came between two looks counts with everything it used', () => {
  assert.deepEqual(usedIn([row(10, 1, 50)], [row(10, 1, 50), row(11, 10, 30)]), [50, 30]);
});

test('one that came and went between two looks counts through the parent that waited for it', () => {
  assert.deepEqual(usedIn([row(10, 1, 50)], [row(10, 1, 50, 400)]), [50, 400]);
});

test('one that was counted and then ended is not counted again by its parent', () => {
  assert.deepEqual(usedIn([row(10, 1, 0), row(11, 10, 300)], [row(10, 1, 0, 310)]), [300, 10]);
});

test('the time of a grandchild whose parent ended as well comes through the nearest that lives', () => {
  const before = [row(10, 1, 0), row(11, 10, 100), row(12, 11, 200)];
  assert.deepEqual(usedIn(before, [row(10, 1, 0, 305)]), [300, 5]);
});

test('one that ended and is waited for only after the next look is not counted twice', () => {
  const zombie = row(11, 10, 300);
  assert.deepEqual(usedIn([row(10, 1, 0), zombie], [row(10, 1, 0)], [row(10, 1, 0, 300)]), [300, 0, 0]);
});

test('one that nobody waits for hides the work of later children for one look only', () => {
  const gone = [row(10, 1, 0), row(11, 10, 300)];
  assert.deepEqual(usedIn(gone, [row(10, 1, 0)], [row(10, 1, 0)], [row(10, 1, 0, 250)]), [300, 0, 0, 250]);
});

test('a pid that another process has now counts as that process', () => {
  assert.deepEqual(
    usedIn([row(10, 1, 0), row(11, 10, 300, 0, 'old')], [row(10, 1, 0, 300), row(11, 10, 40, 0, 'new')]),
    [300, 40],
  );
});

test('a process that a stranger adopted takes its time with it', () => {
  assert.deepEqual(usedIn([row(10, 1, 0), row(11, 1, 300)], [row(10, 1, 0, 20)]), [300, 20]);
});

test('parents that name each other in a circle end the search', () => {
  assert.deepEqual(usedIn([row(10, 11, 5), row(11, 10, 5)], []), [10, 0]);
});

test('it is never negative and never more than what there was, whatever comes and goes', () => {
  let seed = 7;
  const random = (n: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % n;
  };
  for (let round = 0; round < 300; round += 1) {
    // A true model: every process uses time, ends at some point, and its parent (if it lives) waits for it.
    const living = new Map<number, CpuRow>([[1, row(1, 0, 0)]]);
    let [next, truth, counted] = [2, 0, 0];
    let books: CpuBooks = emptyBooks;
    for (let step = 0; step < 60; step += 1) {
      const pids = [...living.keys()];
      const pid = pids[random(pids.length)] as number;
      const one = living.get(pid) as CpuRow;
      const what = random(4);
      if (what === 0) {
        living.set(next, row(next, pid, 0));
        next += 1;
      } else if (what === 1 && pid !== 1 && ![...living.values()].some((other) => other.parent === pid)) {
        living.delete(pid);
        const parent = living.get(one.parent) as CpuRow;
        living.set(parent.pid, { ...parent, waitedMs: parent.waitedMs + one.ownMs + one.waitedMs });
      } else if (what === 2) {
        const gain = random(50);
        truth += gain;
        living.set(pid, { ...one, ownMs: one.ownMs + gain });
      } else {
        const { usedMs, books: now } = cpuSince(books, [...living.values()]);
        assert.ok(usedMs >= 0);
        counted += usedMs;
        books = now;
      }
    }
    counted += cpuSince(books, [...living.values()]).usedMs;
    assert.equal(counted, truth, `round ${round}`);
  }
});
