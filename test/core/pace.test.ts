// The estimate of a run: steady for a steady job whatever its steps and checkpoints are, and soon another one when the rate is another.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Activity } from '../../companion/src/core/activity.ts';
import { freshMemory, judgeHealth } from '../../companion/src/core/health.ts';
import type { ProbeAnswer } from '../../companion/src/core/probe-answer.ts';

type Answer = { completed?: number | null; total?: number | null; phase?: string };

/** What stands in `eta_seconds` of each checkpoint, one every `everyS` seconds. */
function estimates(everyS: number, answers: (Answer | 'trouble')[]): (number | null)[] {
  let memory = freshMemory;
  const everyMs = everyS * 1000;
  const activity: Activity = {
    ...{
      spanMs: everyMs,
      cpuMs: everyMs,
      hasOutput: false,
      outputBytes: 0,
      hasLog: false,
      descendants: 0,
      changed: [],
    },
  };
  return answers.map((answer, index) => {
    const n = index + 1;
    const none = { status: null, phase: null, completed: null, total: null, etaSeconds: null, message: null };
    const probe: ProbeAnswer =
      answer === 'trouble' ? { kind: 'trouble', why: 'x' } : { kind: 'ok' as const, ...none, ...answer };
    const judged = judgeHealth(memory, {
      ...{ n, at: '', elapsedMs: n * everyMs, expectMs: null, everyMs, probe, activity },
    });
    memory = judged.memory;
    return judged.checkpoint.eta_seconds;
  });
}

const counts = (total: number, ...values: number[]): Answer[] => values.map((completed) => ({ completed, total }));

test('S0.43: 10 of 100, then 20 of 100 a second later: 8 s; one checkpoint alone: null', () => {
  assert.deepEqual(estimates(1, counts(100, 10, 20)), [null, 8]);
});

for (const [stepS, everyS, total] of [
  [2, 3, 30],
  [2, 3, 100],
  [3, 2, 60],
  [2, 5, 60],
  [7, 3, 40],
  [3, 3, 20],
] as const) {
  test(`a steady job with steps of ${stepS} s, looked at every ${everyS} s, has a steady estimate (${total} steps)`, () => {
    const length = Math.floor((total * stepS) / everyS);
    const done = Array.from({ length }, (_, index) => Math.floor(((index + 1) * everyS) / stepS));
    const told = estimates(everyS, counts(total, ...done));
    let checked = 0;
    for (const [index, eta] of told.entries()) {
      // The first few show how long it takes until it is steady.
      if (eta === null || index < (8 * Math.max(stepS, everyS)) / everyS) continue;
      const truth = (total - (done[index] as number)) * stepS;
      assert.ok(
        Math.abs(eta - truth) <= Math.max(stepS, 0.05 * truth),
        `checkpoint ${index + 1}: ${eta}, not about ${truth} (${told})`,
      );
      checked += 1;
    }
    assert.ok(checked > 3, String(told));
  });
}

test('steps of 2 s, looked at every 3 s: after ten checkpoints within one step', () => {
  const done = Array.from({ length: 66 }, (_, index) => Math.floor(((index + 1) * 3) / 2));
  for (const [index, eta] of estimates(3, counts(100, ...done)).entries())
    if (index >= 10)
      assert.ok(Math.abs((eta as number) - (100 - (done[index] as number)) * 2) <= 2, `${index}: ${eta}`);
});

test('a rate that slows down or speeds up shows within four checkpoints', () => {
  const bent = (before: number, after: number) => {
    const values = Array.from({ length: 20 }, (_, index) => (index + 1) * before);
    for (let more = 0; more < 4; more += 1) values.push((values.at(-1) as number) + after);
    const truth = (100_000 - (values.at(-1) as number)) / after;
    return (estimates(1, counts(100_000, ...values)).at(-1) as number) / truth;
  };
  for (const [before, after] of [
    [100, 50],
    [100, 10],
    [10, 100],
    [100, 200],
  ] as const) {
    const ratio = bent(before, after);
    assert.ok(ratio > 0.75 && ratio < 1.33, `${before} to ${after}: ${ratio} of the truth`);
  }
});

test('a wait before the first step does not slow the estimate', () => {
  assert.deepEqual(estimates(1, counts(10, 0, 0, 0, 0, 0, 0, 1, 2)).slice(-2), [9, 8]);
});

test('a halt in the middle is no part of the rate; steps that are slow from now on are', () => {
  const halted = [1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 6];
  assert.deepEqual(estimates(1, counts(20, ...halted)).slice(-2), [15, 14]);
  const slow = [1, 2, 3, 4, ...[5, 6, 7, 8].flatMap((value) => [value - 1, value - 1, value - 1, value - 1, value])];
  const left = estimates(1, counts(20, ...slow)).at(-1) as number;
  assert.ok(left > 45 && left < 75, `${left}, not about 60`);
});

test('an interval without an advance has no estimate, and the next advance counts it', () => {
  assert.deepEqual(
    estimates(1, counts(11, 1, 2, 2, 3)).map((eta) => eta === null),
    [true, false, true, false],
  );
});

test('going back begins anew', () => {
  const told = estimates(1, counts(100, 10, 20, 30, 0, 1, 2));
  assert.deepEqual(told, [null, 8, 7, null, 99, 98]);
});

test('another total begins anew: with the step before it, unless the phase is another one too', () => {
  assert.deepEqual(estimates(1, [...counts(100, 10, 20, 30), ...counts(50, 31)]), [null, 8, 7, 19]);
  const phases = [
    { phase: 'a', completed: 10, total: 100 },
    { phase: 'a', completed: 20, total: 100 },
    { phase: 'b', completed: 30, total: 50 },
    { phase: 'b', completed: 31, total: 50 },
  ];
  assert.deepEqual(estimates(1, phases), [null, 8, null, 19]);
});

test('another phase of the same count goes on; trouble and answers without numbers leave it alone', () => {
  const phase = (name: string, completed: number) => ({ phase: name, completed, total: 100 });
  assert.deepEqual(estimates(1, [phase('epoch 1', 10), phase('epoch 2', 20)]), [null, 8]);
  assert.deepEqual(estimates(1, [phase('a', 10), 'trouble', { phase: 'a' }, phase('a', 40)]), [null, null, null, 6]);
});
