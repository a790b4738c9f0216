// Patterns of callers: what compiles is taken as it is, what does not is refused in one sentence that names the option.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parsePattern } from '../../companion/src/core/pattern.ts';

test('a pattern that compiles is taken as it is', () => {
  for (const text of ['ready', '^ok$', 'a|b', '\\d+', '(?<x>.)']) assert.equal(parsePattern(text, '--matches'), text);
});

for (const text of ['(', '[', '*', '(?<x', '\\']) {
  test(`refused: ${text}`, () => {
    assert.throws(() => parsePattern(text, '--matches'), {
      code: 'usage',
      message:
        /^cannot take --matches ".*": it is no regular expression \(.+\); allowed is what JavaScript's RegExp takes/,
    });
  });
}

test('an empty pattern is refused: it would match everything', () => {
  assert.throws(() => parsePattern('', '--matches'), { code: 'usage', message: /empty pattern/ });
});
