// The bar of a job: full only when all is done, empty only when nothing is, and none where nothing can be told.
import assert from 'node:assert/strict';
import test from 'node:test';
import { renderBar } from '../../companion/src/output/bar.ts';

const cases: [completed: number | null, total: number | null, bar: string | null][] = [
  [0, 10, '[----------]   0%'],
  [4, 10, '[####------]  40%'],
  [10, 10, '[##########] 100%'],
  // A little is seen, and almost all is not all.
  [1, 1000, '[#---------]   0%'],
  [999, 1000, '[#########-]  99%'],
  [30, 10, '[##########] 100%'],
  [-5, 10, '[----------]   0%'],
  [1, 0, null],
  [1, -4, null],
  [1, null, null],
  [null, 10, null],
  [Number.NaN, 10, null],
  [1, Number.POSITIVE_INFINITY, '[----------]   0%'],
  [1e308, 1e-300, '[##########] 100%'],
];

for (const [completed, total, bar] of cases)
  test(`${completed} of ${total}`, () => assert.equal(renderBar(completed, total), bar));

test('a narrow bar is as exact', () => assert.equal(renderBar(1, 2, 6), '[###---]  50%'));
