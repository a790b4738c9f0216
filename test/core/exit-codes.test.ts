// The code of each state, and the code of several jobs.
import assert from 'node:assert/strict';
import test from 'node:test';
import { exitCodeOf, exitCodeOfAll } from '../../companion/src/core/exit-codes.ts';
import type { State } from '../../companion/src/core/job.ts';

const codes: Record<State, number> = {
  queued: 2,
  starting: 2,
  running: 2,
  stopping: 2,
  done: 0,
  failed: 3,
  timed_out: 3,
  crashed: 3,
  canceled: 4,
};
const states = Object.keys(codes) as State[];

for (const state of states) {
  test(`${state} is ${codes[state]}, alone and as the only one of several`, () => {
    assert.equal(exitCodeOf(state), codes[state]);
    assert.equal(exitCodeOfAll([state]), codes[state]);
  });
}

test('several jobs are 2 while one is pending, else 3 if any is 3, else 4 if any is 4, else 0', () => {
  const rank = [2, 3, 4, 0];
  for (const a of states) {
    for (const b of states) {
      for (const c of states) {
        const expected = rank.find((code) => [codes[a], codes[b], codes[c]].includes(code));
        assert.equal(exitCodeOfAll([a, b, c]), expected, `${a} ${b} ${c}`);
      }
    }
  }
});
