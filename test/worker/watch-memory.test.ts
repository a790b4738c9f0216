/** What an answer makes of a watch's memory: news once per key, trouble once per cause, the end; and when the next look comes. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { limits, watchRetry, watchTroubles } from '../../companion/src/core/limits.ts';
import type { WatchPart } from '../../companion/src/core/waiting.ts';
import type { Look, Trouble } from '../../companion/src/watches/watch.ts';
import { fold, freshMemory, type Memory, pauseAfter } from '../../companion/src/worker/watch-memory.ts';

const part: WatchPart = {
  condition: 'toy',
  input: {},
  words: 'toy',
  every_ms: 60_000,
  attempt_ms: 30_000,
  tolerate: null,
  repeat: false,
};
const look = (verdict: Look['verdict'], word: string, more: Partial<Look> = {}): Look => ({
  kind: 'look',
  verdict,
  word,
  evidence: `it is ${word}`,
  key: word,
  facts: {},
  cursor: { word },
  ...more,
});
const trouble = (cause: Trouble['cause'] = 'network', more: Partial<Trouble> = {}): Trouble => ({
  kind: 'trouble',
  cause,
  message: `no answer (${cause})`,
  retryAfterMs: null,
  ...more,
});
const types = (memory: Memory) => memory.telling.map(({ type }) => type);

/** All answers, one after the other; what each made it tell. */
function follow(answers: Parameters<typeof fold>[1][], of = part): { memory: Memory; told: string[][] } {
  let memory = freshMemory(null);
  const told: string[][] = [];
  for (const answer of answers) {
    memory = fold(memory, answer, of);
    told.push(types(memory));
  }
  return { memory, told };
}

test('the first look is news and says so; the same key is silent; another one is news', () => {
  const first = fold(freshMemory(null), look('pending', 'red'), part);
  const [event] = first.telling;
  assert.deepEqual(event, {
    type: 'news',
    n: 1,
    verdict: 'pending',
    word: 'red',
    evidence: 'it is red',
    facts: {},
    key: 'red',
    first: true,
  });
  const second = fold(first, look('pending', 'red', { evidence: 'other words' }), part);
  assert.deepEqual(second.telling, []);
  const third = fold(second, look('pending', 'blue'), part);
  assert.deepEqual([types(third), third.telling[0]?.first, third.telling[0]?.n], [['news'], undefined, 2]);
  assert.deepEqual([first.note.changes, third.note.changes, third.telling[0]?.wake], [0, 1, ['news']]);
  assert.deepEqual([third.note.polls, third.note.told, third.cursor], [3, 2, { word: 'blue' }]);
});

test('met and failed end it, pending does not; with --repeat only what is settled ends it', () => {
  const repeat = { ...part, repeat: true };
  const end = (answer: Look, of = part) => fold(freshMemory(null), answer, of).end?.reason;
  assert.equal(end(look('met', 'there')), 'met');
  assert.equal(end(look('failed', 'broken')), 'watch_failed');
  assert.equal(end(look('pending', 'red')), undefined);
  assert.equal(end(look('met', 'green'), repeat), undefined);
  assert.equal(end(look('failed', 'red'), repeat), undefined);
  assert.equal(end(look('met', 'merged', { isSettled: true }), repeat), 'met');
  assert.equal(end(look('failed', 'closed', { isSettled: true }), repeat), 'watch_failed');
});

test('a fault ends it at once, with its words', () => {
  const { end, note } = fold(freshMemory(null), { kind: 'fault', cause: 'tool_missing', message: 'no /opt/x' }, part);
  assert.deepEqual(
    [end, note.verdict, note.word],
    [{ reason: 'watch_error', detail: 'no /opt/x' }, 'error', 'tool_missing'],
  );
});

test('trouble is told when its cause changes, and when it is over', () => {
  const { told, memory } = follow([
    look('pending', 'red'),
    trouble('network'),
    trouble('network'),
    trouble('server'),
    look('pending', 'red'),
    trouble('server'),
    look('pending', 'blue'),
  ]);
  assert.deepEqual(told, [['news'], ['trouble'], [], ['trouble'], ['recovered'], ['trouble'], ['recovered', 'news']]);
  assert.deepEqual([memory.note.troubles, memory.note.trouble, memory.cause], [0, null, null]);
  assert.deepEqual(
    memory.telling.map(({ n }) => n),
    [6, 7],
  );
});

test('ten failed attempts in a row ask for attention, once', () => {
  const { told, memory } = follow(Array.from({ length: watchTroubles - 1 }, () => trouble()));
  assert.equal(told.flat().length, 1);
  const tenth = fold(memory, trouble(), part);
  assert.deepEqual(
    [types(tenth), tenth.telling[0]?.wake, tenth.telling[0]?.in_a_row],
    [['trouble'], ['attention'], 10],
  );
  assert.deepEqual(fold(tenth, trouble(), part).telling, []);
});

test('news that ask for attention wake those who wait for it', () => {
  const memory = fold(freshMemory(null), look('pending', 'red', { needsAttention: true }), part);
  assert.deepEqual(memory.telling[0]?.wake, ['attention'], 'the first look is no change');
  const later = fold(memory, look('pending', 'blue', { needsAttention: true }), part);
  assert.deepEqual(later.telling[0]?.wake, ['news', 'attention']);
});

test('more failures in a row than tolerated end it; a look in between starts the count again', () => {
  const of = { ...part, tolerate: 2 };
  const answers = [trouble(), trouble(), look('pending', 'red'), trouble(), trouble()];
  assert.equal(follow(answers, of).memory.end, null);
  const { end } = follow([...answers, trouble()], of).memory;
  assert.equal(end?.reason, 'watch_error');
  assert.match(end?.detail ?? '', /^3 attempts in a row failed \(--tolerate 2\): no answer/);
  assert.match(
    follow([trouble()], { ...part, tolerate: 0 }).memory.end?.detail ?? '',
    /^an attempt failed \(--tolerate 0\)/,
  );
  assert.equal(follow(Array.from({ length: 500 }, () => trouble())).memory.end, null);
});

test('what comes from outside is plain, one line and short before it is told', () => {
  const evil = `\x1b[31mred\x1b[0m\nsecond\u202e line ${'x'.repeat(5_000)}`;
  const answer = look('pending', evil, { evidence: evil, facts: { big: 'y'.repeat(900_000), evil } });
  const { note, telling } = fold(freshMemory(null), answer, part);
  for (const text of [note.evidence, note.word]) {
    assert.equal([...text].length, 200);
    assert.match(text, /^red second line x+\u2026$/);
  }
  assert.ok(JSON.stringify(telling).length < 4_000);
  const wide = fold(
    freshMemory(null),
    look('pending', 'a', { facts: { rows: Array.from({ length: 9_000 }, () => 'row') } }),
    part,
  );
  assert.deepEqual(wide.note.facts, { truncated: true });
});

test('two long keys that begin alike are two keys', () => {
  const key = 'k'.repeat(400);
  const first = fold(freshMemory(null), look('pending', 'a', { key: `${key}1` }), part);
  assert.deepEqual(types(fold(first, look('pending', 'a', { key: `${key}2` }), part)), ['news']);
  assert.deepEqual(types(fold(first, look('pending', 'a', { key: `${key}1` }), part)), []);
});

test('failed attempts are tried again later and later, and not before a server allows it', () => {
  const pauses = (of: WatchPart, count: number) => {
    let memory = freshMemory(null);
    return Array.from({ length: count }, () => {
      memory = fold(memory, trouble(), of);
      return pauseAfter(memory, trouble(), of, watchRetry) / 1000;
    });
  };
  assert.deepEqual(pauses(part, 9), [5, 10, 20, 40, 80, 160, 300, 300, 300]);
  assert.deepEqual(pauses({ ...part, every_ms: 1000 }, 4), [1, 2, 4, 8]);
  assert.deepEqual(pauses({ ...part, every_ms: 3_600_000 }, 12).at(-1), 3_600);
  const memory = fold(freshMemory(null), trouble(), part);
  assert.equal(pauseAfter(memory, trouble('rate_limit', { retryAfterMs: 90_000 }), part, watchRetry), 90_000);
  assert.equal(pauseAfter(memory, trouble('rate_limit', { retryAfterMs: 1 }), part, watchRetry), 5_000);
});

test('after a look comes the interval, or what the look says when that is sooner', () => {
  const after = (againMs?: number) => {
    const answer = look('pending', 'red', againMs === undefined ? {} : { againMs });
    return pauseAfter(fold(freshMemory(null), answer, part), answer, part, watchRetry);
  };
  assert.deepEqual([after(), after(20_000), after(1), after(900_000)], [60_000, 20_000, 1_000, 60_000]);
  assert.ok(limits.watchEvery.min >= 1_000);
});

test('a rate limit that is known to last is told for attention at once, and once', () => {
  const long = trouble('rate_limit', { retryAfterMs: 40 * 60_000 });
  const { memory, told } = follow([long]);
  assert.deepEqual(told, [['trouble']]);
  assert.deepEqual(memory.telling[0]?.wake, ['attention']);
  assert.match(String(memory.telling[0]?.message), /^not asked again for 40m: no answer/);
  assert.equal(memory.note.alarm, 'long');
  let later = memory;
  for (let round = 0; round < 20; round += 1) {
    later = fold(later, long, part);
    assert.deepEqual(later.telling, []);
  }
  // Something else that lasts after it is another cause, told once as well.
  const other = fold(later, trouble(), part);
  assert.deepEqual(other.telling[0]?.wake, ['attention']);
  assert.deepEqual(fold(other, trouble(), part).telling, []);
  // When it is over, the next one is news.
  const over = fold(later, look('pending', 'red'), part);
  assert.equal(over.note.alarm, undefined);
  assert.deepEqual(fold(over, long, part).telling[0]?.wake, ['attention']);
});

test('a short rate limit, and another trouble with a late retry, wait for the tenth failure', () => {
  for (const one of [
    trouble('rate_limit', { retryAfterMs: 14 * 60_000 }),
    trouble('server', { retryAfterMs: 3_600_000 }),
  ]) {
    const answers = Array.from({ length: watchTroubles }, () => one);
    const woken = answers.map((_, index) => follow(answers.slice(0, index + 1)).memory.telling[0]?.wake);
    assert.deepEqual(
      woken.flatMap((wake, index) => (wake ? [index + 1] : [])),
      [watchTroubles],
    );
  }
});
