// Quoted words, read back by a real shell.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import test from 'node:test';
import { quoteWord, quoteWords } from '../../companion/src/core/shell-words.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

/** The words as `sh` sees them. */
function readBack(words: string[]): string[] {
  const script = `printf '%s\\0' ${quoteWords(words)}`;
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { cwd: '/', encoding: 'utf8' });
  assert.equal(stderr, '');
  return stdout.split('\0').slice(0, -1);
}

const hazards = [
  ...['', ' ', '  two  spaces  ', '\t', '\n', 'line\nline\n', '\r', '\x01\x1b[31m\x7f', '\\', '\\\\', '\\n', 'a\\'],
  ...[
    "'",
    "''",
    "'''",
    "it's",
    "'quoted'",
    '"',
    '"double"',
    '\'"\'"',
    "\\'",
    '`id`',
    '$(id)',
    '${HOME}',
    '$HOME',
    '$$',
    '$',
  ],
  ...[
    '*',
    '/*',
    '?',
    '[a-z]',
    '{a,b}',
    '~',
    '~root',
    'a~',
    '!',
    '!!',
    '#',
    '#comment',
    'a#b',
    ';',
    'a;b',
    '&',
    '&&',
    '|',
    '||',
  ],
  ...[
    '<',
    '>',
    '>>x',
    '2>&1',
    '(',
    ')',
    '()',
    'f(){ :;}',
    '-',
    '--',
    '-n',
    '--help',
    '-e',
    '=',
    'A=b',
    '%s',
    '%',
    '^',
    ',',
    ':',
  ],
  ...[
    '@',
    '+',
    '_',
    '.',
    '..',
    '/',
    'a/b.c',
    '\u00e9',
    '\u6f22\u5b57',
    '\u{1f600}',
    '\u202e',
    '\u00a0',
    '\u2028',
    'if',
    'then',
    'exit',
  ],
];

test('every hazard is read back by a shell as exactly this word', () => {
  assert.deepEqual(readBack(hazards), hazards);
});

test('words of random characters are read back as exactly these words', () => {
  const alphabet = [...'aZ09 \t\n\'"\\`$(){}[]*?~!#&;|<>=%^,:@+-_./\u00e9\u{1f600}'];
  let seed = 7;
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return (seed >>> 8) % below;
  };
  const words = Array.from({ length: 400 }, () =>
    Array.from({ length: next(12) }, () => alphabet[next(alphabet.length)]).join(''),
  );
  assert.deepEqual(readBack(words), words);
});

test('plain words stay as they are, and everything else is in single quotes', () => {
  for (const word of [
    'make',
    '-j2',
    '--timeout',
    '10m',
    '/usr/bin/env',
    'a=b',
    'run-loyw3v28-09az03',
    'x,y',
    'a@b:c',
    '50%',
  ]) {
    assert.equal(quoteWord(word), word);
  }
  assert.equal(quoteWord('two words'), "'two words'");
  assert.equal(quoteWord("it's"), `'it'\\''s'`);
  assert.equal(quoteWord(''), "''");
  assert.equal(quoteWords(['echo', 'a b', '']), "echo 'a b' ''");
  assert.equal(quoteWords([]), '');
});

test('a program whose name looks like an assignment is started', (t) => {
  const { base, write, env } = makeWorkspace(t, { git: false });
  chmodSync(write('x=1', '#!/bin/sh\necho started "$1"\n'), 0o755);
  const script = quoteWords(['x=1', 'echo']);
  const { stdout } = spawnSync('/bin/sh', ['-c', script], {
    cwd: base,
    env: { ...env, PATH: `${base}/work:${env.PATH}` },
  });
  assert.equal(stdout.toString(), 'started echo\n');
});
