/** Pacing (S3.16 to S3.20, S3.49): the number, its range, and a reason that is true of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paceFor } from '../../companion/src/loop/pace.ts';

test('the least and the most need no reason, one second beyond does', () => {
  assert.equal(paceFor('none', 60, undefined).seconds, 60);
  assert.equal(paceFor('none', 1800, undefined).seconds, 1800);
  for (const seconds of [59, 1801])
    for (const reason of [undefined, '', '  '])
      assert.throws(() => paceFor('none', seconds, reason), /outside 60 to 1800 s a --reason is needed/);
  assert.deepEqual(paceFor('none', 1801, 'night').reason, 'night');
});

test('a number beside the range of its kind is not told with the reason of that range', () => {
  assert.match(paceFor('external', 100, undefined).reason, /prompt cache/);
  assert.equal(paceFor('external', 600, undefined).reason, 'asked for; external is 60 to 270 s');
  assert.equal(paceFor('human', 300, undefined).reason, 'asked for; human is 1800 s');
});
