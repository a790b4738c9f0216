// The clock: one monotonic clock for all processes, and an alarm that is right at any distance.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test, { type TestContext } from 'node:test';
import { atMonotonic, isoNow, isoOf, monotonicMs, nowMs } from '../../companion/src/platform/clock.ts';

const longest = 2 ** 31 - 1;
const day = 86_400_000;

/** A clock of our own; every delay that a timer is given is noted. */
function fakeClock(t: TestContext) {
  let now = 1_000_000;
  const delays: number[] = [];
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fake = globalThis.setTimeout;
  t.mock.method(globalThis, 'setTimeout', ((fn: () => void, ms: number) => {
    delays.push(ms);
    return fake(fn, ms);
  }) as typeof setTimeout);
  t.mock.method(process.hrtime, 'bigint', () => BigInt(now) * 1_000_000n);
  return {
    now: () => now,
    delays,
    /** `late`: by how much the monotonic clock stands behind what the timer counted (a suspended machine). */
    pass(ms: number, behind = 0) {
      now += ms - behind;
      t.mock.timers.tick(ms);
    },
  };
}

test('an alarm within reach goes off at its time, once', (t) => {
  const clock = fakeClock(t);
  let times = 0;
  atMonotonic(clock.now() + 5000, () => {
    times += 1;
  });
  clock.pass(4999);
  assert.equal(times, 0);
  clock.pass(1);
  assert.equal(times, 1);
  clock.pass(100_000);
  assert.equal(times, 1);
});

for (const [what, distance] of [
  ['just beyond 2^31 ms', longest + 1],
  ['of 30 days', 30 * day],
  ['of 100 days', 100 * day],
] as const) {
  test(`an alarm ${what} does not go off at once, and no timer gets a delay that Node cannot hold`, (t) => {
    const clock = fakeClock(t);
    let isOver = false;
    atMonotonic(clock.now() + distance, () => {
      isOver = true;
    });
    for (let passed = 0; passed < distance - 1; ) {
      const step = Math.min(day, distance - 1 - passed);
      clock.pass(step);
      passed += step;
      assert.equal(isOver, false, `after ${passed} ms`);
    }
    clock.pass(1);
    assert.equal(isOver, true);
    assert.ok(clock.delays.length >= 2);
    for (const delay of clock.delays) assert.ok(delay >= 0 && delay <= longest, String(delay));
  });
}

test('a timer that comes too early is set again', (t) => {
  const clock = fakeClock(t);
  let isOver = false;
  atMonotonic(clock.now() + 5000, () => {
    isOver = true;
  });
  clock.pass(5000, 3000);
  assert.equal(isOver, false);
  clock.pass(2999);
  assert.equal(isOver, false);
  clock.pass(1);
  assert.equal(isOver, true);
});

test('an alarm of the past goes off soon, but not before it is returned', (t) => {
  const clock = fakeClock(t);
  let isOver = false;
  atMonotonic(clock.now() - 1, () => {
    isOver = true;
  });
  assert.equal(isOver, false);
  clock.pass(1);
  assert.equal(isOver, true);
});

test('an alarm that is stopped never goes off, also after it was set again', (t) => {
  const clock = fakeClock(t);
  const stops = [5000, 100 * day].map((ms) => atMonotonic(clock.now() + ms, () => assert.fail('it went off')));
  clock.pass(4000);
  stops[0]?.();
  for (let days = 0; days < 60; days += 1) clock.pass(day);
  stops[1]?.();
  for (let days = 0; days < 60; days += 1) clock.pass(day);
  assert.ok(clock.delays.length >= 4);
});

test('the monotonic clock never goes back and is the same for another process', () => {
  const before = monotonicMs();
  const other = spawnSync(process.execPath, ['-p', 'process.hrtime.bigint() / 1000000n'], { encoding: 'utf8' });
  const after = monotonicMs();
  const there = Number.parseInt(other.stdout, 10);
  assert.ok(before <= there && there <= after, `${before} ${there} ${after}`);
});

test('instants are told in ISO with milliseconds', () => {
  assert.equal(isoOf(1_700_000_000_123), '2023-11-14T22:13:20.123Z');
  const before = nowMs();
  const told = Date.parse(isoNow());
  assert.ok(before <= told && told <= nowMs());
});
