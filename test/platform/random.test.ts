// Random bytes: as many as asked for, and never the same twice.
import assert from 'node:assert/strict';
import test from 'node:test';
import { randomBytes } from '../../companion/src/platform/random.ts';

test('random bytes come in the number asked for, and differ', () => {
  for (const count of [0, 1, 22, 32, 100_000]) assert.equal(randomBytes(count).length, count);
  const seen = new Set(Array.from({ length: 200 }, () => Buffer.from(randomBytes(16)).toString('hex')));
  assert.equal(seen.size, 200);
});
