// One text to words, as a shell splits it: checked against a real shell where nothing is expanded.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { splitWords } from '../../companion/src/core/split-words.ts';

const likeShell = [
  'a',
  '  a   b\tc  ',
  "'a b' c",
  '"a b" c',
  `a'b'"c"d`,
  `''`,
  `"" a`,
  String.raw`a\ b`,
  String.raw`\'a\"`,
  String.raw`"a\"b\\c"`,
  String.raw`"a\nb"`,
  String.raw`'a\nb'`,
  String.raw`"\$x"`,
  String.raw`\$x`,
  `'$x \`y\` ~ *'`,
  "'a\nb'",
  'a\\\nb',
  '"a\\\nb"',
  '\u00e9 "\u00fc x"',
  String.raw`'#'x \#y`,
];

for (const text of likeShell) {
  test(`${JSON.stringify(text)} splits as a shell does`, () => {
    const shell = execFileSync('/bin/sh', ['-c', `for w in ${text}; do printf '%s\\0' "$w"; done`], {
      encoding: 'utf8',
    });
    assert.deepEqual(splitWords(text), { words: shell.split('\0').slice(0, -1) });
  });
}

test('nothing is expanded, and what a shell would call a comment is a word', () => {
  const text = '$x ${y} `z` $(q) ~ * ? [a] {b,c} "$d" # e ! =f a=b https://x/?a=1&b=2';
  const words = '$x ${y} `z` $(q) ~ * ? [a] {b,c} $d # e ! =f a=b https://x/?a=1&b=2'.split(' ');
  assert.deepEqual(splitWords(text), { words });
});

test('nothing is nothing', () => {
  for (const text of ['', '  ', '\n']) assert.deepEqual(splitWords(text), { words: [] });
});

const faults: [text: string, why: RegExp][] = [
  ["a 'b", /the quote ' is not closed/],
  ['a "b', /the quote " is not closed/],
  ['a "b\\"', /the quote " is not closed/],
  ['a\\', /ends with a backslash/],
  ...['>', '>>', '2>', '2>&1', '<', '|', '||', '&', '&&', ';', '&>'].map((word): [string, RegExp] => [
    `a ${word} b`,
    /no shell reads it/,
  ]),
];

for (const [text, why] of faults) {
  test(`${JSON.stringify(text)} is refused`, () => {
    const split = splitWords(text);
    assert.match('fault' in split ? split.fault : '', why);
  });
}

test('a quoted operator is a word', () => {
  assert.deepEqual(splitWords(`a '>' "|" \\;`), { words: ['a', '>', '|', ';'] });
});
