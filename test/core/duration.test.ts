// Durations: what is read, what is refused and in which words, both ends of a range, and the way back to text.
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatDuration, parseDuration } from '../../companion/src/core/duration.ts';
import { FaultError } from '../../companion/src/core/errors.ts';
import { limits, type Range } from '../../companion/src/core/limits.ts';

const anyLength: Range = { default: 0, min: 0, max: Number.MAX_SAFE_INTEGER };

function refusal(text: string, range: Range = anyLength): FaultError {
  try {
    const value = parseDuration(text, '--timeout', range);
    assert.fail(`${JSON.stringify(text)} was read as ${value}`);
  } catch (error) {
    assert.ok(error instanceof FaultError, String(error));
    return error;
  }
}

const read: [text: string, ms: number][] = [
  ['250ms', 250],
  ['90s', 90_000],
  ['10m', 600_000],
  ['2h', 7_200_000],
  ['30d', 2_592_000_000],
  ['1h30m', 5_400_000],
  ['1d2h3m4s5ms', 93_784_005],
  ['1m1ms', 60_001],
  ['1.5h', 5_400_000],
  ['0.5s', 500],
  ['0s', 0],
  ['007s', 7000],
  ['1.4ms', 1],
  ['0.4ms0.4ms', 1],
];
for (const [text, ms] of read) {
  test(`a duration of ${text} is ${ms} ms`, () => {
    assert.equal(parseDuration(text, '--timeout', anyLength), ms);
  });
}

for (const text of [
  ...['', ' ', '10', '1.5', '-5s', '+5s', '1w', '2y', '10 m', ' 10m', '10m ', '10m\n', '1h 30m', '5m30', 'm', '.5s'],
  ...[
    '1.s',
    '1..5s',
    '1,5s',
    '1e3s',
    '0x5s',
    '5S',
    '5M',
    '5min',
    '5 seconds',
    '\u0663s',
    'Infinitys',
    'NaN',
    '5s;',
    '1h-5m',
  ],
]) {
  test(`${JSON.stringify(text)} is no duration`, () => {
    const { code, message } = refusal(text, limits.runTimeout);
    assert.equal(code, 'usage');
    assert.equal(
      message,
      `cannot read --timeout: ${JSON.stringify(text)} is no duration; allowed: 50ms to 30d, written like 90s, 10m, 1h30m or 250ms`,
    );
  });
}

test('both ends of a range are allowed and one millisecond beyond either is not', () => {
  const range = { default: 100, min: 50, max: 200 };
  assert.equal(parseDuration('50ms', '--timeout', range), 50);
  assert.equal(parseDuration('200ms', '--timeout', range), 200);
  for (const text of ['49ms', '201ms', '0s']) {
    const { code, message } = refusal(text, range);
    assert.equal(code, 'usage');
    assert.equal(
      message,
      `cannot take --timeout ${text}: it is out of range; allowed: 50ms to 200ms, written like 90s, 10m, 1h30m or 250ms`,
    );
  }
});

test('zero is refused wherever a limit is asked for, and is no patience at all for wait', () => {
  for (const range of [limits.staffTimeout, limits.runTimeout, limits.optInLimit, limits.heartbeat])
    refusal('0s', range);
  assert.equal(parseDuration('0s', '--timeout', limits.waitTimeout), 0);
});

test('a number that is too large is out of range, also where there is no maximum', () => {
  for (const text of [
    `${'9'.repeat(30)}d`,
    `${'9'.repeat(99)}s`,
    '104249991375d',
    '9007199254740992ms',
    '99999999d'.repeat(2000),
  ]) {
    assert.match(
      refusal(text).message,
      /^cannot take --timeout \d[\dd]*[ms]*: it is out of range; allowed: 0ms on, written like/,
    );
  }
  assert.equal(parseDuration('9007199254740991ms', '--timeout', anyLength), Number.MAX_SAFE_INTEGER);
});

test('a number of more digits than the parser of its parts takes is refused or read, never lost', () => {
  assert.match(refusal(`${'9'.repeat(101)}s`, limits.runTimeout).message, /out of range|no duration/);
  assert.match(refusal(`1m${'0'.repeat(101)}s`, { default: 0, min: 0, max: 1 }).message, /out of range|no duration/);
});

const shown: [ms: number, text: string][] = [
  [0, '0ms'],
  [250, '250ms'],
  [999, '999ms'],
  [1000, '1s'],
  [2149, '2.1s'],
  [59_999, '59.9s'],
  [60_000, '1m'],
  [61_500, '1m2s'],
  [3_599_600, '1h'],
  [5_400_000, '1h30m'],
  [86_400_000, '24h'],
  [129_600_000, '36h'],
  [172_800_000, '2d'],
  [176_461_000, '2d1h1m1s'],
  [2_592_000_000, '30d'],
];
for (const [ms, text] of shown) {
  test(`${ms} ms are shown as ${text}`, () => {
    assert.equal(formatDuration(ms), text);
  });
}

test('what is shown of whole seconds is read back as the same', () => {
  for (let ms = 1000; ms < 2 ** 41; ms = Math.ceil((ms * 1.37) / 1000) * 1000) {
    const text = formatDuration(ms);
    assert.equal(parseDuration(text, '--timeout', anyLength), ms, text);
  }
});
