// When a run is judged, with a clock that the test moves: a whole day, without drift, and what becomes of missed and slow checkpoints.
import assert from 'node:assert/strict';
import test from 'node:test';
import { freshMemory, type HealthMemory, type Judgement } from '../../companion/src/core/health.ts';
import type { ProbeAnswer } from '../../companion/src/core/probe-answer.ts';
import { startCheckpoints } from '../../companion/src/worker/checkpoints.ts';
import { type Look, Sampler } from '../../companion/src/worker/sampler.ts';
import { FakeClock, settled } from './fake-clock.ts';

const hour = 3_600_000;
const minute = 60_000;

/** What the machine would say: the test turns the knobs. */
class World {
  cpuMs = 0;
  descendants = 0;
  stdout = 0;
  result = { size: 0, modified_ms: 0, inode: 5 };
  completed = 0;
  looks = 0;
  probes = 0;
  answer: (() => Promise<ProbeAnswer>) | undefined;

  look(): Promise<Look> {
    this.looks += 1;
    return Promise.resolve({
      usage: {
        cpu: [{ pid: 10, start: 'a', parent: 1, ownMs: this.cpuMs, waitedMs: 0 }],
        descendants: this.descendants,
      },
      stdout: this.stdout,
      stderr: 0,
      results: new Map([['/w/out', { ...this.result }]]),
      log: undefined,
    });
  }

  probe(): Promise<ProbeAnswer> {
    this.probes += 1;
    if (this.answer) return this.answer();
    return Promise.resolve({
      ...{ kind: 'ok' as const, status: null, phase: null, total: 1000, etaSeconds: null, message: null },
      completed: this.completed,
    });
  }
}

interface Options {
  everyMs?: number;
  stride?: number;
  expectMs?: number | null;
  hasProbe?: boolean;
  memory?: HealthMemory;
  isFirst?: boolean;
  launchedAgoMs?: number;
  world?: Partial<World>;
}

function begin(options: Options = {}) {
  const { everyMs = hour, expectMs = null, hasProbe = true, memory = freshMemory } = options;
  const { isFirst = true, launchedAgoMs = 0 } = options;
  const [clock, world] = [new FakeClock(), Object.assign(new World(), options.world)];
  const launchMs = clock.monotonicMs() - launchedAgoMs;
  const told: Judgement[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const sampler = new Sampler({
    clock,
    everyMs: Math.min(minute, everyMs),
    look: () => world.look(),
    fromMs: isFirst ? launchMs : clock.monotonicMs(),
    baseline: isFirst ? { results: new Map([['/w/out', { ...world.result }]]) } : null,
    onError,
  });
  const stop = startCheckpoints({
    ...{ clock, launchMs, everyMs, expectMs, memory, onError, stride: options.stride },
    probe: hasProbe ? () => world.probe() : null,
    take: () => sampler.take(),
    tell: (judgement) => told.push(judgement),
  });
  const end = (): void => {
    stop();
    sampler.stop();
  };
  const numbers = () => told.map(({ checkpoint }) => checkpoint.n);
  const states = () => told.map(({ checkpoint }) => checkpoint.state);
  return { clock, world, told, errors, end, numbers, states };
}

test('a run of 24 hours has 24 checkpoints, each at its hour, with the right states and estimates', async () => {
  const { clock, world, told, errors, end } = begin({ expectMs: 20 * hour });
  // Hours 1 to 8 advance by 40 of 1000; 9 and 10 compute in silence; 11 writes its result; 12 and 13 sleep with a child; 14 to 16 are
  // dead; from 17 on it advances by 60.
  for (let h = 1; h <= 24; h += 1) {
    for (let m = 0; m < 60; m += 1) {
      if (h <= 8 && m === 30) world.completed += 40;
      if (h <= 10) world.cpuMs += 30_000;
      if (h === 11 && m === 10) world.result = { size: 9, modified_ms: 9, inode: 5 };
      world.descendants = h === 12 || h === 13 ? 2 : 0;
      if (h >= 17 && m === 30) world.completed += 60;
      await clock.advance(minute);
    }
  }
  end();
  assert.deepEqual(errors, []);
  const checkpoints = told.map(({ checkpoint }) => checkpoint);
  assert.deepEqual(
    checkpoints.map(({ n, elapsed_seconds }) => [n, elapsed_seconds]),
    Array.from({ length: 24 }, (_, index) => [index + 1, (index + 1) * 3600]),
  );
  const expected = [
    ...['unknown', ...Array(7).fill('progressing')],
    // Silent but working, and the probe's numbers stand still for the second time.
    ...['unknown', 'attention'],
    'progressing',
    ...['unknown', 'attention'],
    ...['attention', 'attention', 'attention'],
    ...Array(4).fill('progressing'),
    // Over the expected 20 hours.
    ...Array(4).fill('attention'),
  ];
  assert.deepEqual(
    checkpoints.map(({ state }) => state),
    expected,
  );
  // 40 an hour, then 60 an hour.
  const [second, eighth, seventeenth, last] = [1, 7, 16, 23].map((index) => checkpoints[index]);
  assert.deepEqual([second?.completed, second?.eta_seconds], [80, Math.round((920 / 40) * 3600)]);
  assert.deepEqual([eighth?.completed, eighth?.eta_seconds], [320, Math.round((680 / 40) * 3600)]);
  // The probe stood still for nine hours: no estimate there, and a rate over one hour afterwards.
  for (const index of [0, 8, 9, 10, 11, 12, 13, 14, 15]) assert.equal(checkpoints[index]?.eta_seconds, null);
  assert.deepEqual([seventeenth?.completed, seventeenth?.eta_seconds], [380, Math.round((620 / 60) * 3600)]);
  assert.deepEqual([last?.completed, last?.eta_seconds], [800, Math.round((200 / 60) * 3600)]);
  // Still, dead beside it, over the expected time: each cause once.
  assert.deepEqual(
    told.flatMap(({ isNews, checkpoint }) => (isNews ? [checkpoint.n] : [])),
    [10, 13, 15, 21],
  );
  assert.match(checkpoints[9]?.reason ?? '', /by the probe .*but it works/);
  assert.match(checkpoints[12]?.reason ?? '', /asleep with 2 descendants/);
  assert.match(checkpoints[14]?.reason ?? '', /^dead_wait: /);
  assert.equal(world.probes, 24);
  assert.equal(clock.armed, 0);
});

test('a sample a minute is all that an idle day costs', async () => {
  const { clock, world, told, end } = begin({ hasProbe: false });
  await clock.advance(24 * hour);
  end();
  assert.equal(told.length, 24);
  assert.ok(world.looks <= 24 * 60 + 24, `${world.looks} looks`);
});

test('after a pause of the worker only the newest missed checkpoint is told, and the next comes at its own time', async () => {
  const { clock, told, numbers, end } = begin();
  await clock.advance(hour);
  // Stopped from 1h30 to 4h20: 2, 3 and 4 were due meanwhile.
  await clock.advance(hour / 2);
  clock.skip(2 * hour + 50 * minute);
  await clock.advance(0);
  assert.deepEqual(numbers(), [1, 4]);
  await clock.advance(39 * minute);
  assert.deepEqual(numbers(), [1, 4]);
  await clock.advance(minute);
  end();
  assert.deepEqual(numbers(), [1, 4, 5]);
  assert.equal(told[2]?.checkpoint.elapsed_seconds, 5 * 3600);
});

test('a probe that takes longer than the interval is never asked twice at once, and missed intervals are told once', async () => {
  const { clock, world, numbers, end } = begin({ everyMs: 1000 });
  let running = 0;
  let release: () => void = () => undefined;
  world.answer = () =>
    new Promise((resolve) => {
      running += 1;
      assert.equal(running, 1, 'two probes at once');
      release = () => {
        running -= 1;
        resolve({ kind: 'trouble', why: 'the probe printed nothing' });
      };
    });
  await clock.advance(1000);
  await clock.advance(2500);
  assert.equal(world.probes, 1);
  release();
  await settled();
  await clock.advance(0);
  // 1 was told late; 3 is the newest that is due, 2 is left out.
  assert.equal(world.probes, 2);
  release();
  await settled();
  await clock.advance(0);
  assert.deepEqual(numbers(), [1, 3]);
  await clock.advance(500);
  assert.equal(world.probes, 3);
  release();
  await settled();
  end();
  assert.deepEqual(numbers(), [1, 3, 4]);
});

test('once stopped it tells nothing any more, and breaks off the probe', async () => {
  const clock = new FakeClock();
  const told: Judgement[] = [];
  let signal: AbortSignal | undefined;
  const stop = startCheckpoints({
    ...{ clock, launchMs: clock.monotonicMs(), everyMs: 1000, expectMs: null, memory: freshMemory },
    probe: (given) => {
      signal = given;
      return new Promise((resolve) => given.addEventListener('abort', () => resolve({ kind: 'trouble', why: '' })));
    },
    take: () => Promise.reject(new Error('not to be asked')),
    tell: (judgement) => told.push(judgement),
    onError: () => undefined,
  });
  await clock.advance(1000);
  assert.equal(signal?.aborted, false);
  stop();
  await settled();
  assert.equal(signal?.aborted, true);
  await clock.advance(10_000);
  assert.deepEqual([told, clock.armed], [[], 0]);
});

test('an interval that is closed after the end is told to nobody', async () => {
  const { clock, world, told, end } = begin({ everyMs: 1000 });
  let release: () => void = () => undefined;
  world.answer = () =>
    new Promise((resolve) => {
      release = () => resolve({ kind: 'trouble', why: 'late' });
    });
  await clock.advance(1000);
  end();
  release();
  await settled();
  await settled();
  assert.deepEqual([told, clock.armed], [[], 0]);
});

test('a timer that comes early brings no checkpoint before its time, and none twice', async () => {
  const clock = new FakeClock();
  const at = clock.at.bind(clock);
  const asked = new Set<number>();
  clock.at = (atMs, fn) => {
    const isAgain = asked.has(atMs);
    asked.add(atMs);
    return at(isAgain ? atMs : atMs - 100, fn);
  };
  const told: Judgement[] = [];
  const activity = {
    spanMs: 1000,
    cpuMs: 0,
    hasOutput: false,
    outputBytes: 0,
    hasLog: false,
    descendants: 0,
    changed: [],
  };
  const stop = startCheckpoints({
    ...{ clock, launchMs: clock.monotonicMs(), everyMs: 1000, expectMs: null, memory: freshMemory, probe: null },
    take: () => Promise.resolve(activity),
    tell: (judgement) => told.push(judgement),
    onError: () => undefined,
  });
  await clock.advance(5000);
  stop();
  assert.deepEqual(
    told.map(({ checkpoint }) => [checkpoint.n, checkpoint.elapsed_seconds]),
    [1, 2, 3, 4, 5].map((n) => [n, n]),
  );
});

test('an error of a judgement costs that checkpoint only', async () => {
  const { clock, world, numbers, errors, end } = begin({ everyMs: 1000 });
  world.answer = () => Promise.reject(new Error('no process'));
  await clock.advance(1000);
  world.answer = undefined;
  await clock.advance(1000);
  end();
  assert.deepEqual([numbers(), errors.length], [[2], 1]);
});

test('another worker goes on with the numbers, makes up for the newest missed one, and compares with nothing before', async () => {
  const memory = { ...freshMemory, n: 2, since: 1, told: ['dead_wait', 'no_change@1'] };
  const before = { completed: 700, cpuMs: 99 * hour, stdout: 5000 };
  const { clock, told, numbers, states, end } = begin({
    memory,
    ...{ isFirst: false, launchedAgoMs: 4.2 * hour, world: before },
  });
  await clock.advance(0);
  assert.deepEqual([numbers(), states()], [[4], ['unknown']]);
  assert.match(told[0]?.checkpoint.reason ?? '', /first answer of the probe, 700 of 1000 \(no CPU, no output/);
  assert.equal(told[0]?.checkpoint.eta_seconds, null);
  await clock.advance(2 * hour);
  end();
  assert.deepEqual(numbers(), [4, 5, 6]);
  // The same still job as before: nothing new.
  assert.deepEqual(
    told.map(({ isNews }) => isNews),
    [false, false, false],
  );
});

test('a worker that comes in the interval of the last checkpoint tells nothing until the next is due', async () => {
  const memory = { ...freshMemory, n: 4 };
  const { clock, numbers, end } = begin({ memory, isFirst: false, launchedAgoMs: 4.2 * hour });
  await clock.advance(47 * minute);
  assert.deepEqual(numbers(), []);
  await clock.advance(minute);
  end();
  assert.deepEqual(numbers(), [5]);
});

test('with two intervals it is judged at the long one while all goes well, and at the short one else and near the end', async () => {
  const { clock, world, end, numbers } = begin({ everyMs: minute, stride: 5 });
  const go = async (minutes: number, gain: number): Promise<void> => {
    for (let m = 0; m < minutes; m += 1) {
      world.completed += gain;
      await clock.advance(minute);
    }
  };
  await go(10, 10);
  assert.deepEqual(numbers(), [5, 10]);
  // It stands still: seen at 15, and looked at closely from there until it goes on.
  await go(8, 0);
  assert.deepEqual(numbers(), [5, 10, 15, 16, 17, 18]);
  await go(5, 10);
  assert.deepEqual(numbers().slice(6), [19, 20]);
  world.completed = 890;
  await go(5, 2);
  // 896 at 25, 906 at 30: from 900 of 1000 on each minute.
  await go(5, 2);
  assert.deepEqual(numbers().slice(8), [25, 30, 31, 32, 33]);
  // A pause misses many and is made up for once.
  clock.skip(20 * minute);
  await go(2, 0);
  assert.deepEqual(numbers().slice(13), [53, 54, 55]);
  end();
});
