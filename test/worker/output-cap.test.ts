// A stream under its cap: a real file that grows past it keeps its head and its newest bytes, says how many are missing, and
// gives the rest of its blocks back.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { OutputCap } from '../../companion/src/worker/output-cap.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const page = 4096;
const cap = 64 * page;
const canPunch = { skip: spawnSync('fallocate', ['--version']).status === 0 ? false : 'no fallocate' };
const note = /\n\[job-companion: (\d+) bytes are left out here\]\n *\n/;

/** Lines of 16 bytes with their number, so that every byte says where it belongs. */
const lines = (from: number, to: number) =>
  Buffer.from(Array.from({ length: to - from }, (_, n) => `${String(from + n).padStart(15, '0')}\n`).join(''));

function makeLog(t: TestContext) {
  const file = makeWorkspace(t, { git: false }).write('output.log', '');
  return { file, log: new OutputCap(file, cap) };
}

const allocated = (file: string) => statSync(file).blocks * 512;

test('a stream below three quarters of its cap is left alone', async (t) => {
  const { file, log } = makeLog(t);
  const content = lines(0, ((cap * 3) / 4 - page) / 16);
  writeFileSync(file, content);
  assert.equal(log.check(), false);
  assert.deepEqual(await log.finish(), { bytes: content.length, omitted: 0, exact: true });
  assert.ok(readFileSync(file).equals(content));
});

test('a stream that is not there has no bytes', async (t) => {
  const log = new OutputCap(makeWorkspace(t, { git: false }).path('none'), cap);
  assert.equal(log.check(), false);
  assert.deepEqual(await log.finish(), { bytes: 0, omitted: 0, exact: true });
});

test(
  'a stream that grows to eight times its cap stays below it, with head, note, tail and an exact count',
  canPunch,
  async (t) => {
    const { file, log } = makeLog(t);
    const total = (8 * cap) / 16;
    let most = 0;
    for (let written = 0; written < total; ) {
      const step = Math.min(3000, total - written);
      appendFileSync(file, lines(written, written + step));
      written += step;
      // A worker looks again and again while the trimming goes on.
      assert.equal(log.check(), log.check());
      most = Math.max(most, allocated(file));
      await log.finish();
    }
    const { bytes, omitted, exact } = await log.finish();
    assert.ok(most <= cap, `${most} bytes on disk, the cap is ${cap}`);
    assert.ok(allocated(file) <= cap);
    assert.equal(exact, true);
    assert.equal(bytes, total * 16);

    const content = readFileSync(file);
    const whole = lines(0, total);
    assert.equal(content.length, whole.length);
    const told = note.exec(content.toString('latin1'));
    assert.equal(Number(told?.[1]), omitted);
    const head = told!.index;
    assert.equal(head, cap / 4);
    assert.ok(content.subarray(0, head).equals(whole.subarray(0, head)));
    const tail = whole.length - head - omitted;
    assert.ok(tail >= (cap * 3) / 8 && tail <= (cap * 3) / 4, String(tail));
    assert.ok(content.subarray(-tail).equals(whole.subarray(-tail)));
    // In between nothing but the note and a hole.
    const hole = content.subarray(head + page, head + omitted);
    assert.ok(hole.every((byte) => byte === 0));
    assert.equal(told![0].length, page);
  },
);

test('two looks at once begin one trimming', canPunch, async (t) => {
  const { file, log } = makeLog(t);
  writeFileSync(file, lines(0, cap / 16));
  assert.deepEqual([log.check(), log.check()], [true, true]);
  const first = await log.finish();
  assert.ok(first.omitted > 0);
  assert.equal(log.check(), false);
  assert.deepEqual(await log.finish(), first);
});

test('what is written while the middle is given back is counted and kept', canPunch, async (t) => {
  const { file, log } = makeLog(t);
  writeFileSync(file, lines(0, cap / 16));
  assert.equal(log.check(), true);
  appendFileSync(file, 'the newest line\n');
  const { bytes } = await log.finish();
  assert.equal(bytes, cap + 16);
  assert.ok(readFileSync(file, 'utf8').endsWith('the newest line\n'));
});

test('the note is a line of its own, also when the head ends inside a line', canPunch, async (t) => {
  const { file, log } = makeLog(t);
  writeFileSync(file, 'x'.repeat(cap));
  log.check();
  await log.finish();
  assert.match(readFileSync(file, 'latin1'), /^x+\n\[job-companion: \d+ bytes are left out here\]\n *\n\0+x+$/);
});
