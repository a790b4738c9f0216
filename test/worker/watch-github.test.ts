/**
 * Looks at GitHub and the memory of a watch together: five polls in a row that fail, each of three calls, and then green. On the test's clock,
 * because the pauses between failed polls double.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { watchRetry } from '../../companion/src/core/limits.ts';
import type { WatchPart } from '../../companion/src/core/waiting.ts';
import { ci } from '../../companion/src/watches/ci.ts';
import { fold, freshMemory, type Memory, pauseAfter } from '../../companion/src/worker/watch-memory.ts';
import { type Desk, job, makeDesk, read, view } from '../watches/github-desk.ts';

const part: WatchPart = {
  condition: 'ci',
  input: {},
  words: 'checks',
  every_ms: 60_000,
  attempt_ms: 30_000,
  tolerate: null,
  repeat: false,
};

/** Polls until the end, and what was told. */
async function watchToEnd(desk: Desk, of: WatchPart): Promise<{ memory: Memory; told: string[]; pauses: number[] }> {
  const input = read(ci, 'octo/demo#7');
  let memory = freshMemory(null);
  const told: string[] = [];
  const pauses: number[] = [];
  while (memory.end === null) {
    const answer = await ci.look(input, desk.tools(), memory.cursor);
    memory = fold(memory, answer, of);
    told.push(...memory.telling.map(({ type, cause, word }) => `${type} ${word ?? cause}`));
    const pause = pauseAfter(memory, answer, of, watchRetry);
    pauses.push(pause);
    desk.nowMs += pause;
  }
  return { memory, told, pauses };
}

test('five failed polls and then green: told once, waited for longer and longer, met', async (t) => {
  const desk = makeDesk(t);
  const green = view({ statusCheckRollup: [job('unit', 'SUCCESS')] });
  desk.play({ fail: { stderr: 'HTTP 502: Bad Gateway' }, times: 15 }, { view: green });
  const { memory, told, pauses } = await watchToEnd(desk, part);
  assert.deepEqual(told, ['trouble server', 'recovered server', 'news passed']);
  assert.deepEqual(pauses.slice(0, 5), [5_000, 10_000, 20_000, 40_000, 80_000]);
  assert.deepEqual([memory.end?.reason, memory.note.polls], ['met', 6]);
});

test('more failures than are tolerated end the watch', async (t) => {
  const desk = makeDesk(t);
  desk.play({ fail: { stderr: 'HTTP 502: Bad Gateway' } });
  const { memory } = await watchToEnd(desk, { ...part, tolerate: 2 });
  assert.deepEqual([memory.end?.reason, memory.note.polls], ['watch_error', 3]);
});
