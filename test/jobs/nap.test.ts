// A sleep that can be ended early, and that loses no ring.
import assert from 'node:assert/strict';
import test from 'node:test';
import { makeNap } from '../../companion/src/jobs/nap.ts';

const forever = 2 ** 40;

test('a ring before the sleep is heard, each once', async () => {
  const nap = makeNap<'a' | 'b'>(new AbortController().signal);
  nap.ring('a');
  nap.ring('b');
  nap.ring('a');
  assert.deepEqual(await nap.sleep(forever), ['a', 'b']);
  assert.deepEqual(await nap.sleep(1), []);
});

test('a ring ends the sleep, and so does the signal', async () => {
  const stop = new AbortController();
  const nap = makeNap<'a'>(stop.signal);
  const first = nap.sleep(forever);
  nap.ring('a');
  assert.deepEqual(await first, ['a']);
  const second = nap.sleep(forever);
  stop.abort();
  assert.deepEqual(await second, []);
  assert.deepEqual(await nap.sleep(forever), []);
});

test('what the sleeper is deaf to does not end its sleep and is kept for the next', async () => {
  const nap = makeNap<'a' | 'b'>(new AbortController().signal);
  nap.ring('a');
  const deaf = nap.sleep(forever, 'a');
  nap.ring('a');
  nap.ring('b');
  assert.deepEqual(await deaf, ['b']);
  assert.deepEqual(await nap.sleep(forever), ['a']);
});
