// What a job alone cost, from numbers that run on over its conversation.
import assert from 'node:assert/strict';
import test from 'node:test';
import { usageOf } from '../../companion/src/jobs/usage.ts';

const usage = (n: number, cost_usd?: number) => ({
  input_tokens: n,
  output_tokens: n / 10,
  total_tokens: n * 1.1,
  ...(cost_usd === undefined ? {} : { cost_usd }),
});
const both = { tokens: true, cost: true };
const none = { tokens: false, cost: false };

test('numbers of this run alone are told as they are', () => {
  assert.deepEqual(usageOf(usage(100), none, { earlier: usage(900) }), { usage: usage(100), usage_total: null });
  assert.deepEqual(usageOf(null, both, null), { usage: null, usage_total: null });
});

test('a first turn keeps its numbers as the total to count on from', () => {
  assert.deepEqual(usageOf(usage(100, 0.5), both, null), { usage: usage(100, 0.5), usage_total: usage(100, 0.5) });
});

test('a later turn is the difference', () => {
  const told = usageOf(usage(300, 0.3), both, { earlier: usage(100, 0.1) });
  assert.deepEqual(told.usage, {
    input_tokens: 200,
    output_tokens: 20,
    total_tokens: 330 - 110.00000000000001,
    cost_usd: 0.2,
  });
  assert.deepEqual(told.usage_total, usage(300, 0.3));
});

test('tokens of this run, cost that runs on', () => {
  const told = usageOf(usage(50, 0.3), { tokens: false, cost: true }, { earlier: usage(100, 0.1) });
  assert.deepEqual([told.usage?.input_tokens, told.usage?.cost_usd], [50, 0.2]);
});

test('without the earlier total the part of this job is not made up', () => {
  assert.equal(usageOf(usage(300), { tokens: true, cost: false }, { earlier: null }).usage, null);
  assert.deepEqual(usageOf(usage(50, 0.3), { tokens: false, cost: true }, { earlier: null }).usage, usage(50));
});

test('numbers that went down did not run on', () => {
  assert.equal(usageOf(usage(50), both, { earlier: usage(100) }).usage?.input_tokens, 50);
});
