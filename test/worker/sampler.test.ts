// Samples of a run and what an interval of them amounts to; and whether nothing happened for as long as `--stall-after` says.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Activity } from '../../companion/src/core/activity.ts';
import type { FileFacts } from '../../companion/src/platform/file-facts.ts';
import { type Look, Sampler } from '../../companion/src/worker/sampler.ts';
import { StallWatch, stallSampleMs } from '../../companion/src/worker/stall.ts';
import { FakeClock, settled } from './fake-clock.ts';

const facts = (size: number, modified_ms = 0, inode = 1): FileFacts => ({ size, modified_ms, inode });

function begin(baseline: Map<string, FileFacts | null> | null = new Map()) {
  const clock = new FakeClock();
  const now = {
    cpuMs: 0,
    descendants: 0,
    stdout: 0,
    stderr: 0,
    files: new Map<string, FileFacts | null>(),
    log: undefined as FileFacts | null | undefined,
  };
  const samples: Activity[] = [];
  const errors: unknown[] = [];
  let slow: Promise<void> | undefined;
  let looks = 0;
  const sampler = new Sampler({
    clock,
    everyMs: 1000,
    fromMs: clock.monotonicMs(),
    baseline: baseline && { results: baseline },
    look: async (): Promise<Look> => {
      looks += 1;
      await slow;
      if (now.cpuMs < 0) throw new Error('no such thing');
      const cpu = Number.isNaN(now.cpuMs) ? null : [{ pid: 2, start: 'a', parent: 1, ownMs: now.cpuMs, waitedMs: 0 }];
      const { descendants, stdout, stderr, log } = now;
      return { usage: { cpu, descendants }, stdout, stderr, log, results: new Map(now.files) };
    },
    onSample: (activity) => samples.push(activity),
    onError: (error) => errors.push(error),
  });
  const hold = (): (() => void) => {
    let free: () => void = () => undefined;
    slow = new Promise((resolve) => {
      free = resolve;
    });
    return () => {
      slow = undefined;
      free();
    };
  };
  return { clock, now, sampler, samples, errors, hold, looks: () => looks };
}

test('an interval adds up CPU and output, and keeps the most descendants', async () => {
  const { clock, now, sampler } = begin();
  Object.assign(now, { cpuMs: 50, stdout: 10 });
  await clock.advance(1000);
  Object.assign(now, { cpuMs: 70, descendants: 4, stderr: 5 });
  await clock.advance(1000);
  Object.assign(now, { descendants: 1 });
  await clock.advance(500);
  const one = await sampler.take();
  assert.deepEqual(one, {
    ...{ spanMs: 2500, cpuMs: 70, hasOutput: true, outputBytes: 15, hasLog: false, descendants: 4, changed: [] },
  });
  await clock.advance(1000);
  const two = await sampler.take();
  assert.deepEqual([two.spanMs, two.cpuMs, two.hasOutput, two.descendants], [1000, 0, false, 1]);
  sampler.stop();
  assert.equal(clock.armed, 0);
});

test('a path changed when size, time or file is another, when it came and when it went, also between two samples', async () => {
  const { clock, now, sampler } = begin(
    new Map([
      ['/new', null],
      ['/old', facts(1)],
      ['/same', facts(3)],
    ]),
  );
  const change = async (...entries: [string, FileFacts | null][]): Promise<readonly string[]> => {
    for (const [path, one] of entries) now.files.set(path, one);
    await clock.advance(1500);
    return (await sampler.take()).changed;
  };
  assert.deepEqual(await change(['/new', null], ['/old', facts(1)], ['/same', facts(3)]), []);
  assert.deepEqual(await change(['/new', facts(0)]), ['/new']);
  assert.deepEqual(await change(['/old', facts(2)]), ['/old']);
  assert.deepEqual(await change(['/old', facts(2, 7)]), ['/old']);
  assert.deepEqual(await change(['/old', facts(2, 7, 9)]), ['/old']);
  assert.deepEqual(await change(['/old', null], ['/same', facts(3)]), ['/old']);
  // It comes and goes between two looks of `take`.
  now.files.set('/old', facts(1));
  await clock.advance(1000);
  assert.deepEqual(await change(['/old', null]), ['/old']);
  sampler.stop();
});

test('a path that cannot be looked at for a while has not changed', async () => {
  const { clock, now, sampler } = begin(new Map([['/out', facts(1)]]));
  await clock.advance(1000);
  now.files.set('/out', facts(1));
  await clock.advance(1000);
  assert.deepEqual((await sampler.take()).changed, []);
  sampler.stop();
});

test('growth of the log is seen, and its first sight is none', async () => {
  const { clock, now, sampler } = begin();
  now.log = null;
  await clock.advance(1000);
  assert.equal((await sampler.take()).hasLog, false);
  now.log = facts(7);
  await clock.advance(1000);
  assert.equal((await sampler.take()).hasLog, true);
  sampler.stop();
});

test('without a beginning that is known, the first look is it', async () => {
  const { clock, now, sampler } = begin(null);
  await settled();
  Object.assign(now, { cpuMs: 5, stdout: 3 });
  await clock.advance(1000);
  const one = await sampler.take();
  assert.deepEqual([one.cpuMs, one.outputBytes], [5, 3]);
  sampler.stop();
});

test('where CPU cannot be told an interval says so', async () => {
  const { clock, now, sampler } = begin();
  now.cpuMs = Number.NaN;
  await clock.advance(1000);
  assert.equal((await sampler.take()).cpuMs, null);
  sampler.stop();
});

test('a look that takes long is not asked a second time, and there is one timer only', async () => {
  const { clock, sampler, hold, looks } = begin();
  const free = hold();
  await clock.advance(1000);
  await clock.advance(5000);
  assert.equal(looks(), 1);
  const taken = sampler.take();
  free();
  assert.equal((await taken).spanMs, 6000);
  await settled();
  assert.equal(clock.armed, 1);
  sampler.stop();
});

test('a look that fails costs that sample only', async () => {
  const { clock, now, sampler, errors } = begin();
  now.cpuMs = -1;
  await clock.advance(1000);
  now.cpuMs = 40;
  await clock.advance(1000);
  assert.equal(errors.length, 1);
  assert.deepEqual([(await sampler.take()).cpuMs], [40]);
  sampler.stop();
});

const asleep: Activity = {
  ...{ spanMs: 1000, cpuMs: 0, hasOutput: false, outputBytes: 0, hasLog: false, descendants: 0, changed: [] },
};

/** One sample a second; what is said after each. */
function watch(stallMs: number, samples: Partial<Activity>[]): (string | undefined)[] {
  const stall = new StallWatch(stallMs, 0);
  let atMs = 0;
  return samples.map((sample) => {
    const activity = { ...asleep, ...sample };
    atMs += activity.spanMs;
    stall.add(activity, atMs);
    return stall.stalled();
  });
}

const isStalled = (said: (string | undefined)[]) => said.map((one) => one !== undefined);

test('a stall is nothing at all for that long, and what was seen is told', () => {
  const said = watch(3000, [{}, {}, {}, {}]);
  assert.deepEqual(isStalled(said), [false, false, true, true]);
  assert.equal(said[2], 'for 3s nothing printed, no result path changed, 0 ms of CPU, no descendant');
});

test('output, a log, a result path or CPU within that time are no stall', () => {
  for (const sign of [{ hasOutput: true }, { hasLog: true }, { changed: ['/a'] }, { cpuMs: 400 }])
    assert.deepEqual(
      isStalled(watch(3000, [{}, {}, sign, {}, {}, {}, {}])).slice(0, 5),
      Array(5).fill(false),
      JSON.stringify(sign),
    );
});

test('descendants that are asleep do not rescue it', () => {
  const said = watch(3000, [{ descendants: 2 }, { descendants: 2 }, { descendants: 2 }]);
  assert.match(said[2] ?? '', /2 descendants asleep$/);
});

test('the little CPU that sleep costs is none', () => {
  assert.deepEqual(isStalled(watch(100_000, Array(100).fill({ cpuMs: 3 }))).at(-1), true);
  assert.deepEqual(isStalled(watch(100_000, Array(100).fill({ cpuMs: 7 }))).at(-1), false);
});

test('a time in which nobody looked proves nothing', () => {
  const said = watch(3000, [{}, {}, { spanMs: 60_000 }, {}, {}, {}]);
  assert.deepEqual(isStalled(said), [false, false, false, false, false, true]);
});

test('samples are taken often enough to see a stall in time', () => {
  assert.deepEqual([1000, 4000, 40_000, 3_600_000].map(stallSampleMs), [250, 1000, 10_000, 10_000]);
});
