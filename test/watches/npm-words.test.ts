// Which words name a package that can be watched, and which are something else: an option, a path, an address, an alias.
import assert from 'node:assert/strict';
import test from 'node:test';
import { npm } from '../../companion/src/watches/npm.ts';
import { readWords } from './tools.ts';

const taken: [word: string, name: string, wanted: string | null, form: string][] = [
  ['left-pad', 'left-pad', null, 'tag'],
  ['left-pad@1.3.0', 'left-pad', '1.3.0', 'version'],
  ['left-pad@v1.3.0', 'left-pad', '1.3.0', 'version'],
  ['x@1.0.0-rc.1+build.5', 'x', '1.0.0-rc.1+build.5', 'version'],
  ['@scope/tool@next', '@scope/tool', 'next', 'tag'],
  ['@scope/tool', '@scope/tool', null, 'tag'],
  ['JSONStream@latest', 'JSONStream', 'latest', 'tag'],
  ['x@release-2.x', 'x', 'release-2.x', 'tag'],
  ['x@^2', 'x', '^2', 'range'],
  ['x@>=2 <3 || 5.x', 'x', '>=2 <3 || 5.x', 'range'],
  ['x@2', 'x', '2', 'range'],
  ['x@*', 'x', '*', 'range'],
];
for (const [word, name, wanted, form] of taken) {
  test(`taken: ${word}`, () => {
    const { input } = readWords(npm, [word]);
    assert.deepEqual(input, { package: name, wanted, form, changed: false });
  });
}

const refused = [
  ...[
    '',
    '.',
    '..',
    './x',
    '/x',
    'a/b',
    'a/b@1.0.0',
    '@scope',
    '@/x',
    '@scope/',
    '@scope/../x',
    '.hidden',
    '_x',
    'a b',
    'a\nb',
    'x?y',
  ],
  ...[
    'git+ssh://host/x',
    'https://host/x.tgz',
    'user/repo',
    'x@file:../x',
    'x@npm:other@1',
    'x@https://host/x.tgz',
    'x@git://h/x',
  ],
  ...[
    'x@',
    'x@--registry=http://evil',
    'x@-1',
    'x@1.0.0; rm',
    'x@$(id)',
    'x@../y',
    `${'n'.repeat(215)}`,
    `x@${'1'.repeat(300)}`,
  ],
];
for (const word of refused) {
  test(`refused: ${JSON.stringify(word).slice(0, 60)}`, () => {
    assert.throws(() => readWords(npm, [word]), {
      code: 'usage',
      message: /^cannot watch the package .*; allowed: NAME, NAME@VERSION/,
    });
  });
}

test('an option is never a package', () => {
  assert.throws(() => readWords(npm, ['--registry=http://evil']), { code: 'usage' });
  assert.throws(() => readWords(npm, ['--', '-x']), /./);
});

test('a version never changes', () => {
  assert.throws(() => readWords(npm, ['x@1.0.0', '--changed']), { code: 'usage', message: /a version never changes/ });
  assert.equal(readWords(npm, ['x', '--changed']).words, 'npm x (changed)');
  assert.equal(readWords(npm, ['x@1.0.0']).words, 'npm x@1.0.0 (published)');
});

test('a single look has nothing to compare with', () => {
  assert.throws(() => readWords(npm, ['x', '--changed'], '/', true), {
    code: 'usage',
    message: /--changed with --once/,
  });
  readWords(npm, ['x'], '/', true);
});
