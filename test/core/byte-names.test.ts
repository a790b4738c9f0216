// Names are bytes: text keeps each of them, JSON carries them, and what is shown is one plain line.
import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeName, encodeName, readableName, showName } from '../../companion/src/core/byte-names.ts';

const bytes: [name: string, hex: string][] = [
  ['plain', '612f62'],
  ['nothing', ''],
  ['UTF-8 of every length', 'c3a9e282acf09f92a9'],
  ['a byte order mark', 'efbbbf61'],
  ['a lone byte', '61ff62'],
  ['a broken character at the end', 'f09f92'],
  ['a byte before and after a pair', 'ff f09f92a9 80'],
  ['a surrogate in UTF-8', 'eda080 edb280'],
  ['an overlong slash', 'c0af'],
  ['beyond the last character', 'f4908080 f5'],
];
for (const [name, hex] of bytes) {
  test(`text keeps every byte of ${name}, through JSON too`, () => {
    const given = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const text = decodeName(given);
    assert.deepEqual(Buffer.from(encodeName(JSON.parse(JSON.stringify(text)))), given);
    assert.doesNotMatch(readableName(text), /\p{Cs}/u);
  });
}

test('every single byte comes back', () => {
  for (let byte = 0; byte < 256; byte += 1) assert.deepEqual([...encodeName(decodeName(Uint8Array.of(byte)))], [byte]);
});

test('a name is shown as one plain line', () => {
  const shown: [text: string, line: string][] = [
    ['src/a-b_c.ts', 'src/a-b_c.ts'],
    ['with space', 'with space'],
    ['\u00e9\u{1f4a9}', '\u00e9\u{1f4a9}'],
    ['a\\b', 'a\\b'],
    ['', '""'],
    [' lead', '" lead"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['a`b', '"a`b"'],
    ['a\nb\tc\\', '"a\\nb\\tc\\\\"'],
    ['\x1b[31m\x7f\x9b', '"\\u{1b}[31m\\u{7f}\\u{9b}"'],
    ['\u202ecod.exe', '"\\u{202e}cod.exe"'],
    ['\u2028\ufeff', '"\\u{2028}\\u{feff}"'],
    [decodeName(Buffer.from([0x61, 0xff, 0x22])), '"a\\xff\\""'],
  ];
  for (const [text, line] of shown) assert.equal(showName(text), line);
  assert.equal(readableName(decodeName(Buffer.from([0x61, 0xff, 0x0a]))), 'a\\xff\n');
});
