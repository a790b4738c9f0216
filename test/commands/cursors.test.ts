// The words of --after-seq against the jobs of a wait.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseCursors } from '../../companion/src/commands/cursors.ts';
import { makeJob, makePlace, makeSpec } from '../store/job-record.ts';

const [a, b] = ['run-loyw3v28-09az03', 'run-loyw3v29-09az03'];

test('one number for one job, ID:N for several, whole or shortened ids', (t) => {
  const { root } = makePlace(t);
  for (const id of [a, b]) makeJob(root, { spec: makeSpec({ id }) }, { id });
  const parse = (texts: string[], ids: string[]) =>
    [...parseCursors(texts, ids, { folder: root, option: [] })].map(([id, { seq, isGiven }]) => [id, seq, isGiven]);
  assert.deepEqual(parse(['7'], [a]), [[a, 7, true]]);
  assert.deepEqual(parse([`${a}:0`], [a]), [[a, 0, true]]);
  assert.deepEqual(parse([`${a}:3`, 'run-loyw3v29:4'], [a, b]), [
    [a, 3, true],
    [b, 4, true],
  ]);
  assert.deepEqual(parse([], [a, b]), []);
  const refused: [string[], string[], RegExp][] = [
    [['7'], [a, b], /which of the 2 jobs --after-seq "7" is for: write it as ID:N/],
    [['1', '2'], [a], /two --after-seq for job/],
    [[`${a}:1`, 'run-loyw3v28:1'], [a, b], /two --after-seq for job/],
    [[`${b}:1`], [a], /cannot take --after-seq for job run-loyw3v29-09az03: this wait is for run-loyw3v28-09az03/],
    [['run-loyw:1'], [a, b], /2 jobs begin so/],
    [['staffer-x:1'], [a], /cannot find job staffer-x/],
    ...['', '-1', 'x', '1.5', '1e3', '0x1', `${a}:`, `${a}:-1`, '99999999999999', ' 1'].map(
      (text): [string[], string[], RegExp] => [[text], [a], /cannot take --after-seq ".*": allowed are N or ID:N/],
    ),
  ];
  for (const [texts, ids, message] of refused) assert.throws(() => parse(texts, ids), message, texts.join(' '));
});
