// Bounded matching: the answer of RegExp in the ordinary case, and an end to a pattern that would never come to one.
import assert from 'node:assert/strict';
import test from 'node:test';
import { matchPattern } from '../../companion/src/platform/matching.ts';

test('a pattern matches as RegExp does, line by line', async () => {
  const text = 'first\nstatus: ready\nlast\n';
  assert.equal(await matchPattern('^status: ready$', text), true);
  assert.equal(await matchPattern('^ready', text), false);
});

test('a pattern that backtracks for ever is stopped', { timeout: 60_000 }, async () => {
  assert.equal(await matchPattern('^(a+)+$', `${'a'.repeat(60)}!`, 100), 'slow');
});

test('a text of others is only a text', async () => {
  assert.equal(await matchPattern('^x$', '");process.exit(3);//'), false);
});
