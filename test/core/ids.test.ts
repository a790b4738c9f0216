// Job ids: what one looks like, what could begin one, and their order by time, also when the time gets one digit longer.
import assert from 'node:assert/strict';
import test from 'node:test';
import { compareIds, idTimeMs, isId, isIdPrefix, makeId, sortIds } from '../../companion/src/core/ids.ts';

const random = new Uint8Array([0, 9, 10, 35, 36, 255, 7, 7]);

test('an id is the verb, the time in base 36 and six digits from the first six random bytes', () => {
  assert.equal(makeId('run', 1_700_000_000_000, random), 'run-loyw3v28-09az03');
  assert.ok(isId(makeId('implement', 1_700_000_000_000, random)));
});

test('the time of creation can be read from an id', () => {
  for (const ms of [1_700_000_000_000, 36 ** 8 - 1, 36 ** 8]) assert.equal(idTimeMs(makeId('run', ms, random)), ms);
});

test('ids sort by time, across verbs and across the day in 2059 when the time gets a ninth digit', () => {
  const times = [1_600_000_000_000, 1_700_000_000_000, 36 ** 8 - 1, 36 ** 8, 36 ** 8 + 1, 4_000_000_000_000];
  const verbs = ['run', 'ask', 'staffer', 'zz', 'aa', 'run'];
  const ids = times.map((ms, index) => makeId(verbs[index]!, ms, random));
  assert.deepEqual([...ids].reverse().sort(compareIds), ids);
  assert.ok(ids.every(isId));
  // By text alone the order would be another one.
  assert.notDeepEqual([...ids].sort(), ids);
});

test('ids of one instant have one order, and an id equals itself', () => {
  const [a, b] = ['ask-loyw3v28-000001', 'run-loyw3v28-000000'];
  assert.ok(compareIds(a, b) < 0 && compareIds(b, a) > 0);
  assert.equal(compareIds(a, a), 0);
});

test('nothing that does not look like an id is one', () => {
  for (const text of [
    ...[
      '',
      '.',
      '..',
      '/',
      'run',
      'run-',
      'run-loyw3v28',
      'run-loyw3v28-',
      'run-loyw3v28-09az0',
      'run-loyw3v28-09az033',
    ],
    ...[
      'Run-loyw3v28-09az03',
      'run-LOYW3v28-09az03',
      'r-loyw3v28-09az03',
      'run1-loyw3v28-09az03',
      'abcdefghijklm-loyw3v28-09az03',
    ],
    ...[
      'run-loyw3v2-09az03',
      'run-loyw3v2800-09az03',
      'run-loyw3v28-09az03\n',
      '\nrun-loyw3v28-09az03',
      ' run-loyw3v28-09az03',
    ],
    ...[
      'run-loyw3v28-09az03/',
      '../run-loyw3v28-09az03',
      'run-loyw3v28-..az03',
      'run-loyw3v28-09az0\u00e9',
      '.gone-run-loyw3v28-09az03',
    ],
  ]) {
    assert.equal(isId(text), false, JSON.stringify(text));
  }
});

test('every beginning of an id of at least two letters could begin one', () => {
  const id = 'staffer-loyw3v28-09az03';
  for (let length = 2; length <= id.length; length += 1)
    assert.ok(isIdPrefix(id.slice(0, length)), id.slice(0, length));
});

test('what has a slash, dots or odd characters could begin no id', () => {
  for (const text of [
    '',
    'r',
    '.',
    '..',
    'run/',
    '/run',
    'run-../x',
    'run-loyw3v28-09az03x',
    'run-loyw3v28-09az03-',
    'RUN',
    'run ',
    '-',
    'run\n',
    '*',
    'run-*',
  ]) {
    assert.equal(isIdPrefix(text), false, JSON.stringify(text));
  }
});

test('many at once have the same order as two', () => {
  const times = [36 ** 8 - 1, 36 ** 8, 1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_000, 36 ** 8 + 5];
  const ids = times.flatMap((time) => ['run', 'implement', 'ask'].map((verb) => makeId(verb, time, random)));
  assert.deepEqual(sortIds(ids), [...ids].sort(compareIds));
});
