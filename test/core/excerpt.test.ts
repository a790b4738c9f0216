// Bounded text: never above its bytes, never a split character, never a control sequence, whatever the text and the cut.
import assert from 'node:assert/strict';
import test from 'node:test';
import { byteLength, excerpt, lastLines, plainText, tail, tailOfBytes } from '../../companion/src/core/excerpt.ts';

const mixed = 'a\u00e9\u6f22\u{1f600}e\u0301 \u{1f468}\u200d\u{1f469}\u200d\u{1f467} x\u{20000}\ufeffz'.repeat(3);
const bytesOf = (text: string) => Buffer.from(text, 'utf8');
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

test('byteLength counts UTF-8 bytes', () => {
  assert.equal(byteLength('a\u00e9\u6f22\u{1f600}'), 1 + 2 + 3 + 4);
  assert.equal(byteLength(mixed), Buffer.byteLength(mixed));
});

test('an excerpt is whole when it fits, and else a beginning and an ellipsis within the limit, at every cut', () => {
  const size = byteLength(mixed);
  for (let limit = 3; limit <= size + 1; limit += 1) {
    const text = excerpt(mixed, limit);
    assert.ok(byteLength(text) <= limit, `${byteLength(text)} bytes of ${limit}`);
    if (limit >= size) {
      assert.equal(text, mixed);
      continue;
    }
    assert.ok(text.endsWith('\u2026'));
    assert.ok(mixed.startsWith(text.slice(0, -1)), JSON.stringify(text));
    // No character that would have fitted is missing.
    assert.ok(limit - byteLength(text) < 4);
  }
});

test('an excerpt of less than three bytes has no room for the ellipsis', {}, () => {
  for (const limit of [0, 1, 2]) assert.ok(byteLength(excerpt('abcdef', limit)) <= limit, `limit ${limit}`);
});

test('a tail is whole when it fits, and else an end within the limit, at every cut', () => {
  const size = byteLength(mixed);
  for (let limit = 0; limit <= size + 1; limit += 1) {
    const { text, truncated } = tail(mixed, limit);
    assert.equal(truncated, limit < size);
    assert.ok(byteLength(text) <= limit, `${byteLength(text)} bytes of ${limit}`);
    assert.ok(mixed.endsWith(text), JSON.stringify(text));
    // A byte order mark at the very beginning may go with the cut.
    assert.ok(Math.min(limit, size) - byteLength(text) < 4 + 3);
  }
});

test('half characters in a text keep excerpt and tail within the limit', () => {
  const text = '\ud800x\udc00'.repeat(20);
  for (let limit = 3; limit < byteLength(text); limit += 1) {
    assert.ok(byteLength(excerpt(text, limit)) <= limit);
    assert.ok(byteLength(tail(text, limit).text) <= limit);
  }
});

test('the last bytes of a buffer never begin inside a character', () => {
  const bytes = bytesOf(mixed);
  for (let limit = 0; limit <= bytes.length; limit += 1) {
    const end = tailOfBytes(bytes, limit);
    assert.ok(end.length <= limit);
    assert.ok(!textOf(end).includes('\ufffd'));
    assert.deepEqual(Buffer.from(end), bytes.subarray(bytes.length - end.length));
  }
});

test('the last bytes of something that is no UTF-8 are there all the same', () => {
  assert.ok(tailOfBytes(Buffer.alloc(100, 0x80), 50).length >= 47);
});

const lines: [text: string, count: number, expected: string][] = [
  ['a\nb\nc\n', 2, 'b\nc\n'],
  ['a\nb\nc', 2, 'b\nc'],
  ['a\nb\nc\n', 3, 'a\nb\nc\n'],
  ['a\nb\nc', 9, 'a\nb\nc'],
  ['a\n\n\n', 2, '\n\n'],
  ['a\n\n', 1, '\n'],
  ['\n', 1, '\n'],
  ['\n\n', 1, '\n'],
  ['', 5, ''],
  ['one', 1, 'one'],
  ['\u6f22\n\u{1f600}', 1, '\u{1f600}'],
];
for (const [text, count, expected] of lines) {
  test(`the last ${count} lines of ${JSON.stringify(text)} are ${JSON.stringify(expected)}`, () => {
    assert.equal(textOf(lastLines(bytesOf(text), count)), expected);
  });
}

const removed: [what: string, text: string, expected: string][] = [
  ['colours', '\x1b[31mred\x1b[0m \x1b[1;38;5;200mpink\x1b[m', 'red pink'],
  ['private and intermediate CSI', '\x1b[?25lx\x1b[4 qy\x1b[!pz', 'xyz'],
  ['CSI as one C1 character', '\x9b31mred\x9b0m', 'red'],
  ['an unfinished CSI at the end', 'text\x1b[38;5', 'text'],
  ['a title by OSC with BEL', '\x1b]0;rm -rf ~\x07text', 'text'],
  ['a title by OSC with ST', '\x1b]0;title\x1b\\text', 'text'],
  ['OSC as C1 characters', '\x9d0;title\x9ctext', 'text'],
  ['a link by OSC 8', '\x1b]8;;http://evil/\x1b\\shown\x1b]8;;\x1b\\ after', 'shown after'],
  ['a clipboard write by OSC 52', 'a\x1b]52;c;cm0gLXJmIH4=\x07b', 'ab'],
  ['DCS, SOS, PM and APC', 'a\x1bPq#0\x1b\\b\x1bXs\x1b\\c\x1b^p\x1b\\d\x1b_a\x1b\\e', 'abcde'],
  ['an OSC that another sequence breaks off', '\x1b]0;half\x1b[31mred', 'red'],
  ['charsets, reset and saved cursors', '\x1b(Ba\x1bcb\x1b7c\x1b8d\x1b=e', 'abcde'],
  ['a lone ESC', 'a\x1b', 'a'],
  ['ESC before a newline', 'a\x1b\nb', 'a\nb'],
  ['ESC hidden by a control character', 'a\x1b\x00[31mb', 'a[31mb'],
  ['backspace, bell, NUL and DEL', 'pass\x08\x08word\x07\x00\x7f', 'password'],
  ['C1 characters', 'a\x80\x85\x8d\x91b', 'ab'],
  ['bidi overrides and isolates', 'a\u202a\u202b\u202c\u202d\u202eb\u2066\u2067\u2068\u2069c', 'abc'],
  ['form feeds and vertical tabs', 'a\x0bb\x0cc', 'abc'],
  ['carriage returns', 'one\r\ntwo\rthree', 'one\ntwo\nthree'],
];
for (const [what, text, expected] of removed) {
  test(`plain text has no ${what}`, () => {
    assert.equal(plainText(text), expected);
  });
}

test('plain text keeps tabs, newlines and every printable character', () => {
  const text = 'tab\there\nnew line \u00e9\u6f22\u{1f600}e\u0301\u200d [31m ]0; \\ \u00a0 end';
  assert.equal(plainText(text), text);
});

test('a sequence that never ends hides no more than its own line', {}, () => {
  assert.match(plainText('\x1b]0;half a title\nError: the disk is full\n'), /Error: the disk is full/);
  // A closing quotation mark that was encoded twice holds U+009D.
  assert.match(
    plainText('\u00e2\u0080\u009cquoted\u00e2\u0080\u009d\nError: the disk is full\n'),
    /Error: the disk is full/,
  );
});

test('what stands around a sequence that is removed makes no new one', () => {
  assert.equal(plainText('a\x1b\x1b[31mb'), 'ab');
});

test('no text of control characters, whatever their order, leaves one in plain text', () => {
  const pieces = [
    '\x1b',
    '[',
    ']',
    '0',
    ';',
    'm',
    '\x07',
    '\\',
    '\x9b',
    '\x9c',
    '\x9d',
    '\x90',
    'P',
    '(',
    ' ',
    '\u202e',
    '\r',
    '\n',
    '\x00',
    'x',
    '~',
  ];
  let seed = 42;
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: next(24) }, () => pieces[next(pieces.length)]).join('');
    const plain = plainText(text);
    assert.doesNotMatch(plain, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/, JSON.stringify(text));
    assert.equal(plainText(plain), plain);
  }
});
