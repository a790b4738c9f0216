// Following two growing files: every line once and whole, sizes and times, and the rest at the end.
import assert from 'node:assert/strict';
import { appendFileSync, truncateSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { Follower } from '../../companion/src/worker/follow.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeJob, makePlace } from '../store/job-record.ts';

const mib = 1024 * 1024;

function follow(t: TestContext, { isAgent = true, output = '', error = '' } = {}) {
  const paths = makeJob(makePlace(t).root, { output, error });
  const seen = { stdout: [] as string[], stderr: [] as string[], told: 0 };
  const sink = {
    stdout: (line: string) => void seen.stdout.push(line),
    stderr: (line: string) => void seen.stderr.push(line),
  };
  const follower = new Follower(paths, 64 * mib, isAgent ? sink : undefined, () => {
    seen.told += 1;
  });
  return { paths, seen, follower };
}

test('lines are told as they come, from both streams, once each and whole', async (t) => {
  const { paths, seen, follower } = follow(t);
  appendFileSync(paths.output, 'one\ntw');
  await eventually('the first line', () => seen.stdout.length === 1);
  assert.deepEqual(seen.stdout, ['one']);
  appendFileSync(paths.output, Buffer.from('o \u{1f600}').subarray(0, 4));
  appendFileSync(paths.error, 'warning\n');
  await eventually('the other stream', () => seen.stderr.length === 1);
  appendFileSync(paths.output, Buffer.concat([Buffer.from('o \u{1f600}').subarray(4), Buffer.from('\nthree\n')]));
  await eventually('all lines', () => seen.stdout.length === 3);
  assert.deepEqual(seen.stdout, ['one', 'two \u{1f600}', 'three']);
  assert.deepEqual(seen.stderr, ['warning']);
  assert.ok(seen.told >= 2);
  const sizes = follower.sizes();
  assert.deepEqual(await follower.end(), {
    stdout: { bytes: sizes.stdout, omitted: 0, exact: true },
    stderr: { bytes: sizes.stderr, omitted: 0, exact: true },
  });
});

test('what was there before is told first: a replacement worker reads everything again', async (t) => {
  const { seen, follower } = follow(t, { output: 'one\ntwo\nhalf', error: 'x\n' });
  assert.deepEqual([seen.stdout, seen.stderr], [['one', 'two'], ['x']]);
  await follower.end();
  assert.deepEqual(seen.stdout, ['one', 'two', 'half']);
});

test('the end reads what nobody has looked at yet, and the last line without its newline', async (t) => {
  const { paths, seen, follower } = follow(t);
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n} ${'\u6f22'.repeat(n % 50)}`);
  appendFileSync(paths.output, `${lines.join('\n')}\nlast`);
  const ending = follower.end();
  assert.deepEqual(seen.stdout, [...lines, 'last']);
  assert.equal((await ending).stdout.omitted, 0);
});

test('after the end nothing is told any more', async (t) => {
  const { paths, seen, follower } = follow(t, { output: 'one\n' });
  await follower.end();
  appendFileSync(paths.output, 'two\n');
  follower.tick();
  assert.deepEqual(seen.stdout, ['one']);
});

test('the time of the newest output is there from the first byte on', async (t) => {
  const { paths, seen, follower } = follow(t);
  assert.deepEqual([follower.lastOutputMono, follower.lastOutputAt, seen.told], [null, null, 0]);
  appendFileSync(paths.error, 'x');
  await eventually('the output to be seen', () => follower.lastOutputMono !== null);
  assert.ok(seen.told > 0);
  assert.equal(new Date(follower.lastOutputAt!).toISOString(), follower.lastOutputAt);
  assert.deepEqual(follower.sizes(), { stdout: 0, stderr: 1 });
  await follower.end();
});

test('a slow stream is seen again after a long silence, by its change or by the tick', async (t) => {
  const { paths, seen, follower } = follow(t);
  for (const line of ['first', 'second', 'third']) {
    appendFileSync(paths.output, `${line}\n`);
    await eventually(line, () => {
      follower.tick();
      return seen.stdout.includes(line);
    });
  }
  assert.deepEqual(seen.stdout, ['first', 'second', 'third']);
  await follower.end();
});

test('without a reader of lines only sizes are looked at', async (t) => {
  const { paths, seen, follower } = follow(t, { isAgent: false });
  appendFileSync(paths.output, 'one\ntwo\n');
  await eventually('the size', () => follower.sizes().stdout === 8);
  await follower.end();
  assert.deepEqual([seen.stdout, seen.told > 0], [[], true]);
});

test('a stream that its child emptied is read on from there', async (t) => {
  const { paths, seen, follower } = follow(t, { output: 'before\n' });
  truncateSync(paths.output, 0);
  await eventually('the empty file to be seen', () => {
    follower.tick();
    return follower.sizes().stdout === 0;
  });
  appendFileSync(paths.output, 'after\n');
  await eventually('the new line', () => seen.stdout.length === 2);
  assert.deepEqual(seen.stdout, ['before', 'after']);
  await follower.end();
});

test('a stream that was emptied just before the end has nothing more to tell', async (t) => {
  const { paths, seen, follower } = follow(t, { output: 'one\n' });
  truncateSync(paths.output, 0);
  const { stdout } = await follower.end();
  assert.deepEqual([seen.stdout, stdout.bytes], [['one'], 0]);
});
