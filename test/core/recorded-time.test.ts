// What is an instant: a whole ISO one with its zone, and nothing that Date.parse makes a day of.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ageOf, instantOf } from '../../companion/src/core/recorded-time.ts';

test('an ISO instant with its zone is one', () => {
  assert.equal(instantOf('1970-01-01T00:00:01.500Z'), 1500);
  assert.equal(instantOf('1970-01-01T01:00:01+01:00'), 1000);
});

test('anything else is none, and has no age', () => {
  for (const odd of [
    'foo 1',
    '1',
    '2026',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-13-01T00:00:00Z',
    '',
    'now',
    5,
    null,
    {},
    undefined,
  ]) {
    assert.equal(instantOf(odd), null, JSON.stringify(odd));
    assert.equal(ageOf(odd, 5), null);
  }
});

test('an age is never negative', () => {
  assert.equal(ageOf('1970-01-01T00:00:02Z', 1000), 0);
  assert.equal(ageOf('1970-01-01T00:00:02Z', 5000), 3000);
});
