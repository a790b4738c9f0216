// Reading a journal on and on: each event once, torn lines when they are whole, garbage and giants skipped, another file from its beginning.
import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { JournalScan } from '../../companion/src/store/journal-scan.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

function makeScan(t: TestContext, text?: string) {
  const workspace = makeWorkspace(t, { git: false });
  const file = workspace.path('events.ndjson');
  if (text !== undefined) writeFileSync(file, text);
  const scan = new JournalScan(file);
  const read = (): number[] => {
    const seen: number[] = [];
    scan.read(({ seq }) => seen.push(seq));
    return seen;
  };
  return { file, read };
}

const line = (seq: number, pad = 0) => `${JSON.stringify({ seq, type: 'tool', pad: 'x'.repeat(pad) })}\n`;

test('each event is told once, whenever it is appended', (t) => {
  const { file, read } = makeScan(t, line(1) + line(2));
  assert.deepEqual(read(), [1, 2]);
  assert.deepEqual(read(), []);
  appendFileSync(file, line(3));
  assert.deepEqual(read(), [3]);
});

test('a file that comes later is read from its beginning', (t) => {
  const { file, read } = makeScan(t);
  assert.deepEqual(read(), []);
  writeFileSync(file, line(1));
  assert.deepEqual(read(), [1]);
});

test('a torn line is told when its end is there, also in the middle of a character', (t) => {
  const whole = Buffer.from(`${JSON.stringify({ seq: 2, text: 'ü' })}\n`);
  const cut = whole.indexOf(0xbc);
  const { file, read } = makeScan(t, line(1));
  appendFileSync(file, whole.subarray(0, cut));
  assert.deepEqual(read(), [1]);
  appendFileSync(file, whole.subarray(cut));
  assert.deepEqual(read(), [2]);
});

test('what is no event is skipped, and so is a line that no writer of ours makes', (t) => {
  const { file, read } = makeScan(t, `garbage\n[1]\nnull\n{"seq":"2"}\n\n${line(3)}`);
  assert.deepEqual(read(), [3]);
  appendFileSync(file, 'y'.repeat(700_000));
  assert.deepEqual(read(), []);
  appendFileSync(file, `${'y'.repeat(9000)}\n${line(4)}`);
  assert.deepEqual(read(), [4]);
});

test('more than one piece of the file is put together', (t) => {
  const text = Array.from({ length: 40 }, (_, at) => line(at + 1, 20_000)).join('');
  assert.deepEqual(makeScan(t, text).read().length, 40);
});

test('a file that was cut or replaced by a shorter one is read anew', (t) => {
  const { file, read } = makeScan(t, line(1, 500));
  read();
  writeFileSync(file, line(7));
  assert.deepEqual(read(), [7]);
});

test('a number that does not follow hides nothing that comes after it', (t) => {
  const { file, read } = makeScan(t, `${line(1) + line(500)}{"seq":1e300}\n${line(2)}`);
  assert.deepEqual(read(), [1, 2]);
  appendFileSync(file, line(2) + line(1e15) + line(3));
  assert.deepEqual(read(), [3]);
});
