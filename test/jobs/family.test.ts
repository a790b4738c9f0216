// Which job hangs below which: rings, long chains and parents that are gone neither hide a job nor show one twice.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Spec } from '../../companion/src/core/job.ts';
import { familyOf } from '../../companion/src/jobs/family.ts';
import type { View } from '../../companion/src/jobs/view.ts';

const idOf = (n: number) => `run-loyw3v28-${String(n).padStart(6, '0')}`;

function job(n: number, { parent, owner }: { parent?: number; owner?: string } = {}): View {
  const lineage = parent === undefined ? null : { relation: 'restart', parent: idOf(parent), root: idOf(0) };
  return { id: idOf(n), spec: { lineage, owner: owner ?? null } as Spec } as View;
}

const shapeOf = (views: View[]) =>
  familyOf(views).map(({ id, depth, relation, view }) => [Number(id.slice(-6)), depth, relation, view !== null]);

test('lineage comes before the owner, and an owner that is no id is none', () => {
  const views = [
    job(1),
    job(2, { parent: 1, owner: idOf(3) }),
    job(3, { owner: 'builder' }),
    job(4, { owner: idOf(3) }),
  ];
  assert.deepEqual(shapeOf(views), [
    [1, 0, null, true],
    [2, 1, 'restart', true],
    [3, 0, null, true],
    [4, 1, 'started by', true],
  ]);
});

test('a ring, a job that names itself, and a parent that is gone', () => {
  const views = [
    job(1, { parent: 2 }),
    job(2, { parent: 1 }),
    job(3, { parent: 3 }),
    job(5, { parent: 4 }),
    job(6, { parent: 4 }),
  ];
  assert.deepEqual(shapeOf(views), [
    [3, 0, null, true],
    [4, 0, null, false],
    [5, 1, 'restart', true],
    [6, 1, 'restart', true],
    [1, 0, null, true],
    [2, 1, 'restart', true],
  ]);
});

test('a chain of ten thousand', () => {
  const views = Array.from({ length: 10_000 }, (_, n) => job(n, n === 0 ? {} : { parent: n - 1 }));
  const rows = familyOf(views);
  assert.deepEqual([rows.length, rows.at(-1)?.depth], [10_000, 9999]);
});
