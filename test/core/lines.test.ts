// Bytes to lines: whole characters whatever the pieces, over-long lines dropped and counted, the last line without newline.
import assert from 'node:assert/strict';
import test from 'node:test';
import { LineSplitter } from '../../companion/src/core/lines.ts';

const text = 'caf\u00e9\n\n{"a":"\u6f22\u{1f600}"}\r\ne\u0301\u200d\u{1f468}\nlast \u{1f600}';
const bytes = Buffer.from(text);
const expected = text.split('\n');

function split(pieces: Uint8Array[], limit?: number): { lines: string[]; dropped: number } {
  const splitter = new LineSplitter(limit);
  const lines = pieces.flatMap((piece) => splitter.push(piece));
  lines.push(...splitter.end());
  return { lines, dropped: splitter.dropped };
}

test('lines are the same wherever the bytes are cut in two', () => {
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.deepEqual(
      split([bytes.subarray(0, at), bytes.subarray(at)]),
      { lines: expected, dropped: 0 },
      `cut at ${at}`,
    );
  }
});

test('lines are the same in pieces of every size', () => {
  for (let size = 1; size <= bytes.length; size += 1) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.subarray(n * size, (n + 1) * size),
    );
    assert.deepEqual(split(pieces).lines, expected, `pieces of ${size}`);
  }
});

test('a line is told as soon as its newline is there, and not before', () => {
  const splitter = new LineSplitter();
  assert.deepEqual(splitter.push(Buffer.from('one')), []);
  assert.deepEqual(splitter.push(Buffer.from('\ntwo\nthr')), ['one', 'two']);
  assert.deepEqual(splitter.push(Buffer.from('ee\n')), ['three']);
  assert.deepEqual(splitter.end(), []);
});

test('the end tells the last line once', () => {
  const splitter = new LineSplitter();
  splitter.push(Buffer.from('half a line'));
  assert.deepEqual(splitter.end(), ['half a line']);
  assert.deepEqual(splitter.end(), []);
});

test('the caller may use its buffer again after a push', () => {
  const splitter = new LineSplitter();
  const buffer = Buffer.from('abc');
  splitter.push(buffer);
  buffer.fill(120);
  assert.deepEqual(splitter.push(Buffer.from('\n')), ['abc']);
});

test('a line above the limit is dropped and counted, its neighbours are not, in pieces of every size', () => {
  const long = Buffer.from(`12345678\n123456789\nshort\n${'x'.repeat(1000)}\n\n${'y'.repeat(9)}`);
  for (const size of [1, 2, 3, 7, 8, 9, 10, 500, long.length]) {
    const pieces = Array.from({ length: Math.ceil(long.length / size) }, (_, n) =>
      long.subarray(n * size, (n + 1) * size),
    );
    assert.deepEqual(split(pieces, 8), { lines: ['12345678', 'short', ''], dropped: 3 }, `pieces of ${size}`);
  }
});

test('the limit counts bytes, not characters', () => {
  assert.deepEqual(split([Buffer.from('\u6f22\u6f22\n\u6f22\u6f22x\n')], 6), { lines: ['\u6f22\u6f22'], dropped: 1 });
});

test('bytes that are no UTF-8 do not disturb the next line', () => {
  const broken = Buffer.concat([Buffer.from([0xf0, 0x9f]), Buffer.from('\nwhole \u6f22\n'), Buffer.from([0xff, 10])]);
  assert.deepEqual(split([broken]).lines, ['\ufffd', 'whole \u6f22', '\ufffd']);
});
