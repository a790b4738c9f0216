// The word on an agent from observations of equal length: what moves, what it rightly waits for, and that one standstill is told once (S2.74,
// S2.75, S2.92).
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Activity } from '../../companion/src/core/activity.ts';
import {
  freshLiveness,
  judgeLiveness,
  type LivenessJudgement,
  type LivenessMemory,
  type LivenessSeen,
} from '../../companion/src/core/liveness.ts';

const everyMs = 300_000;
const still: Activity = {
  spanMs: everyMs,
  cpuMs: 0,
  hasOutput: false,
  outputBytes: 0,
  hasLog: false,
  descendants: 0,
  changed: [],
};

type Step = Partial<Omit<LivenessSeen, 'activity'>> & { activity?: Partial<Activity> };

const nothing: Step = {};
const talks: Step = { activity: { hasOutput: true, outputBytes: 2048 }, bytes: 2148 };
const toolSleeps: Step = { activity: { descendants: 2 } };
const toolWorks: Step = { activity: { descendants: 2, cpuMs: 60_000 } };

function judge(steps: Step[], memory: LivenessMemory = freshLiveness): LivenessJudgement[] {
  let before = memory;
  return steps.map(({ activity, ...rest }) => {
    const facts = { ownCpuMs: 0, hasCommit: false, jobs: 0, standing: 0, isStopped: false, bytes: 100 };
    const seen = { at: '2026-01-01T00:00:00.000Z', everyMs, activity: { ...still, ...activity }, ...facts, ...rest };
    const judgement = judgeLiveness(before, seen);
    before = judgement.memory;
    return judgement;
  });
}

const words = (steps: Step[], memory?: LivenessMemory) => judge(steps, memory).map(({ note }) => note.word);
const last = (steps: Step[]) => judge(steps).at(-1) as LivenessJudgement;

for (const [what, step, reason] of [
  ['output', talks, /2\.0 KiB of output within 5m/],
  ['CPU of its own', { ownCpuMs: 3000, activity: { cpuMs: 3000 } }, /3s of CPU within 5m/],
  ['a commit', { hasCommit: true }, /a new commit within 5m/],
] as [string, Step, RegExp][]) {
  test(`${what} alone says at once that it works`, () => {
    const [judgement] = judge([step]);
    assert.equal(judgement?.note.word, 'working');
    assert.match(judgement?.note.reason ?? '', reason);
    assert.deepEqual([judgement?.isNews, judgement?.isAttention], [false, false]);
    assert.deepEqual(
      words([nothing, step, nothing, step, nothing, step]).filter((word) => word === 'dead_wait'),
      [],
    );
  });
}

test('one observation is never enough; two that find nothing are a dead wait, which wakes', () => {
  const [one, two] = judge([nothing, nothing]);
  assert.deepEqual([one?.note.word, one?.isNews, one?.isAttention], ['unknown', false, false]);
  assert.match(one?.note.reason ?? '', /one observation is not enough/);
  assert.deepEqual([two?.note.word, two?.isNews, two?.isAttention, two?.wakes], ['dead_wait', true, true, true]);
  assert.match(two?.note.reason ?? '', /^dead_wait: for 10m no output, no CPU of its own/);
  assert.equal(two?.fingerprint, 'dead_wait@100');
});

test('one standstill wakes once; when it is over that is told and wakes nobody; the next one is news', () => {
  const all = judge([nothing, nothing, nothing, nothing, talks, nothing, nothing]);
  assert.deepEqual(
    all.map(({ wakes }) => wakes),
    [false, true, false, false, false, false, true],
  );
  assert.deepEqual([all[3]?.isAttention, all[3]?.isNews], [true, false]);
  assert.deepEqual([all[4]?.note.word, all[4]?.isNews, all[4]?.isAttention], ['working', true, false]);
});

test('what it started and that works is a wait for good reason, for as long as it works', () => {
  const all = judge(Array.from({ length: 40 }, () => toolWorks));
  assert.deepEqual([all[1]?.note.word, all[1]?.isNews], ['waiting', true]);
  assert.match(all[1]?.note.reason ?? '', /it waits for what it started, which works \(1m of CPU within 5m\)/);
  assert.deepEqual(
    all.filter(({ isAttention }) => isAttention),
    [],
  );
  // Also what came and went between two looks.
  assert.equal(last([{ activity: { cpuMs: 60_000 } }, { activity: { cpuMs: 60_000 } }]).note.word, 'waiting');
});

test('what it started and that sleeps is a wait as well, and after three times as long somebody should look, once', () => {
  const all = judge(Array.from({ length: 12 }, () => toolSleeps));
  assert.deepEqual(
    all.map(({ wakes }) => wakes).flatMap((wakes, index) => (wakes ? [index + 1] : [])),
    [6],
  );
  assert.deepEqual([all[5]?.note.word, all[5]?.fingerprint], ['waiting', 'asleep@100']);
  assert.match(all[5]?.note.reason ?? '', /no observable change: for 30m .* 2 descendants of its own asleep for 30m/);
  // Work in between: it was no sleep.
  const mixed = judge(Array.from({ length: 20 }, (_, index) => (index % 5 === 0 ? toolWorks : toolSleeps)));
  assert.deepEqual(
    mixed.filter(({ isAttention }) => isAttention),
    [],
  );
});

test('when what it waited for has ended and nothing moves, the wait has become a dead one', () => {
  assert.deepEqual(words([toolWorks, toolWorks, nothing, nothing]), ['unknown', 'waiting', 'unknown', 'dead_wait']);
  const asleep = judge([...Array.from({ length: 6 }, () => toolSleeps), nothing, nothing]);
  // The attention stays while the kind of standstill changes, and the new cause is news.
  assert.deepEqual(
    asleep.slice(5).map(({ isAttention, wakes }) => [isAttention, wakes]),
    [
      [true, true],
      [true, false],
      [true, true],
    ],
  );
});

test('jobs of its own that are at work are a good reason, however quiet', () => {
  const all = judge(Array.from({ length: 20 }, () => ({ jobs: 1, activity: { descendants: 1 } })));
  assert.deepEqual([all.at(-1)?.note.word, all.at(-1)?.isAttention], ['waiting', false]);
  assert.match(all.at(-1)?.note.reason ?? '', /it waits for 1 job of its own/);
});

test('processes that began with it are nothing to wait for, and are counted', () => {
  assert.match(
    last([{ standing: 2 }, { standing: 2 }]).note.reason,
    /nothing that it started is left \(but 2 processes that/,
  );
});

test('a stopped agent is said to be stopped', () => {
  assert.match(last([{ isStopped: true }, { isStopped: true }]).note.reason, /the agent is stopped \(SIGSTOP\?\)/);
});

test('a time in which nobody looked proves nothing, and part of an observation neither', () => {
  const gap: Step = { activity: { spanMs: 3 * everyMs } };
  assert.deepEqual(words([nothing, gap, nothing]), ['unknown', 'unknown', 'unknown']);
  const part: Step = { activity: { spanMs: everyMs / 4 } };
  assert.deepEqual(words([nothing, part, part]), ['unknown', 'unknown', 'unknown']);
});

test('where CPU time cannot be told, no dead wait is claimed', () => {
  const blind: Step = { ownCpuMs: null, activity: { cpuMs: null } };
  assert.deepEqual(words([blind, blind, blind, talks]), ['unknown', 'unknown', 'unknown', 'working']);
  assert.match(last([blind, blind]).note.reason, /CPU time cannot be told here/);
});

test('what an earlier worker told of the same standstill is not told again', () => {
  const memory: LivenessMemory = { ...freshLiveness, word: 'dead_wait', told: ['dead_wait@100'] };
  const all = judge([nothing, nothing, talks], memory);
  assert.deepEqual(
    all.map(({ isNews, isAttention, wakes }) => [isNews, isAttention, wakes]),
    [
      [false, true, false],
      [false, true, false],
      [true, false, false],
    ],
  );
});

test('a tool that is started in a standstill is a movement: it slept only since then', () => {
  const judged = judge([nothing, nothing, nothing, nothing, ...Array.from({ length: 7 }, () => toolSleeps)]);
  const woken = judged.flatMap(({ wakes, fingerprint, note }) => (wakes ? [[fingerprint, note.reason]] : []));
  assert.deepEqual(
    woken.map(([cause]) => cause),
    ['dead_wait@100', 'asleep@100'],
  );
  assert.match(woken[1]?.[1] ?? '', /asleep for 30m/);
  assert.deepEqual([judged[8]?.fingerprint, judged[9]?.wakes], [null, true]);
});
