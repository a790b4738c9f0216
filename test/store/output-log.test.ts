// The end of a log: at most so many lines and bytes, byte for byte.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import test from 'node:test';
import { logSize, readLogTail } from '../../companion/src/store/output-log.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('a log tail is the last lines, byte for byte, within both limits', (t) => {
  const file = makeWorkspace(t, { git: false }).write('log', '');
  const tail = (content: string | Uint8Array, limits?: { lines: number; bytes: number }) => {
    writeFileSync(file, content);
    return readLogTail(file, limits);
  };
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n}`);
  assert.equal(tail(`${lines.join('\n')}\n`).toString(), `${lines.slice(-50).join('\n')}\n`);
  assert.equal(tail(lines.join('\n')).toString(), lines.slice(-50).join('\n'));
  assert.equal(tail('one\x1b[31m\r\n\0two').toString(), 'one\x1b[31m\r\n\0two');
  assert.equal(tail('').length, 0);
  const binary = Buffer.from([0xff, 0xfe, 10, 0xc3, 0x28, 10]);
  assert.ok(tail(binary).equals(binary));
  for (const [content, limits] of [
    ['x'.repeat(100_000), undefined],
    ['\u{1f600}'.repeat(10_000), undefined],
    [`${'\u6f22'.repeat(100)}\n`.repeat(100), undefined],
    ['abcdefghij', { lines: 3, bytes: 4 }],
  ] as const) {
    const end = tail(content, limits);
    const most = limits?.bytes ?? 8192;
    assert.ok(end.length <= most && end.length > most - 700, String(end.length));
    assert.ok(content.endsWith(end.toString()));
  }
});

test('a tail that begins at a line keeps that line whole', (t) => {
  const file = makeWorkspace(t, { git: false }).write('log', 'first\nsecond\nthird\n');
  assert.equal(readLogTail(file, { lines: 2, bytes: 100 }).toString(), 'second\nthird\n');
});

test('a log that is not there is empty', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  assert.equal(readLogTail(path('none')).length, 0);
  assert.equal(logSize(path('none')), 0);
  assert.equal(logSize(write('log', 'abc')), 3);
});
