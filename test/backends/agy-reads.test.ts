// Read rules for agy's settings: what is added beside what is there, and that agy's own policy finds no fault in it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { findFault } from '../../companion/src/backends/agy-policy.ts';
import { addReadRules } from '../../companion/src/backends/agy-reads.ts';

const rules = [
  'read_file(/w)',
  'command(ls)',
  'command(cat)',
  'command(grep)',
  'command(git status)',
  'command(git ls-files)',
];

test('without settings the rules are all there is', () => {
  const { text, added } = addReadRules(null, '/w');
  assert.deepEqual(JSON.parse(text), { permissions: { allow: rules } });
  assert.deepEqual(added, rules);
});

test('what is there stays where it is, in the indentation that it has, and nothing is added twice', () => {
  const old =
    '{\n\t"a": 1,\n\t"permissions": {"allow": ["command(cat)", {"odd": true}], "deny": ["x"]},\n\t"z": null\n}';
  const { text, added } = addReadRules(old, '/w');
  const missing = rules.filter((rule) => rule !== 'command(cat)');
  assert.deepEqual(added, missing);
  const allow = ['command(cat)', { odd: true }, ...missing];
  assert.equal(text, `${JSON.stringify({ a: 1, permissions: { allow, deny: ['x'] }, z: null }, null, '\t')}\n`);
  assert.deepEqual(addReadRules(text, '/w'), { text, added: [] });
});

test('a second worktree adds its own folder only', () => {
  assert.deepEqual(addReadRules(addReadRules(null, '/w').text, '/v w').added, ['read_file(/v w)']);
});

test('the restricted profile of agy can be kept beside these rules', () => {
  assert.equal(findFault(addReadRules(null, '/w').text, 'restricted'), null);
  // It would find one.
  assert.match(findFault('{"permissions":{"allow":["command(rm)"]}}', 'restricted') ?? '', /command\(rm\)/);
});

for (const text of [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '{"permissions":[]}',
  '{"permissions":"x"}',
  '{"permissions":{"allow":{}}}',
]) {
  test(`settings that are ${text || 'empty'} are refused`, () => {
    assert.throws(() => addReadRules(text, '/w'), /it is no JSON object|is no object|is no list/);
  });
}

test('a folder whose name would mean more in a rule is refused', () => {
  for (const folder of ['/w)', '/w(x', '/w/*', '/w?', '/[w]', '/{w}', '/w\nx']) {
    assert.throws(() => addReadRules(null, folder), /cannot stand in a rule/, folder);
  }
});
