// agy-policy.ts and rules.ts: which settings of the user make `restricted` impossible. What is not clearly harmless is a fault.
import assert from 'node:assert/strict';
import test from 'node:test';
import { agy } from '../../companion/src/backends/agy.ts';
import { agySettings, agySharedGrants } from '../../companion/src/backends/agy-policy.ts';

const find = (value: unknown, profile: 'restricted' | 'standard' | 'unrestricted' = 'restricted') =>
  agySettings.findFault(JSON.stringify(value), profile);
const allow = (...rules: unknown[]) => find({ permissions: { allow: rules } });

const harmless = [
  'read_file(*)',
  'read_file(/home/user/**)',
  'read_url(docs.test)',
  'command(ls)',
  'command(ls -la /w)',
  'command(cat)',
  'command(grep -rn TODO src)',
  'command(git status)',
  'command(git status --short)',
  'command(git rev-parse HEAD)',
];

const harmful = [
  'command(*)',
  'command(rm)',
  'command(rm -rf /)',
  'command()',
  'command(git)',
  'command(git commit)',
  'command(git diff)',
  'command(git log)',
  'command(git status; rm x)',
  'command(ls > x)',
  'command(cat $(rm x))',
  'command(ls *)',
  'command(cat a\nrm b)',
  'command(ls|tee x)',
  'command(ls-all)',
  'command(find . -delete)',
  'command(sort -o x)',
  'command(npm run (lint|test))',
  'command(/ls/)',
  'command( ls)',
  'write_file(*)',
  'write_file(/tmp)',
  'mcp(*)',
  'mcp(docs/*)',
  'execute_url(x.test)',
  'unsandboxed(ls)',
  'some_later_kind(x)',
  'toString(x)',
  'run_command',
  '*',
  '',
  7,
  null,
];

for (const rule of harmless) {
  test(`restricted can be kept beside the rule ${JSON.stringify(rule)}`, () => assert.equal(allow(rule), null));
}

for (const rule of harmful) {
  test(`restricted cannot be kept beside the rule ${JSON.stringify(rule)}`, () => {
    const fault = `permissions.allow has the rule ${JSON.stringify(rule)}, which lets it change things`;
    assert.equal(allow('read_file(*)', rule), fault);
  });
}

test('settings that grant nothing are none: no rules, denied and asked ones, unknown keys', () => {
  const denied = { deny: ['command(rm)'], ask: ['write_file(*)'] };
  for (const value of [{}, { permissions: {} }, { permissions: denied }, { model: 'm', later: [1] }]) {
    assert.equal(find(value), null, JSON.stringify(value));
  }
});

test('rules of another shape than a list are a fault', () => {
  for (const rules of ['command(*)', { 0: 'command(*)' }, true]) {
    assert.equal(find({ permissions: { allow: rules } }), 'permissions.allow is no list');
  }
});

test('a mode that runs tools unasked is a fault, also one that is not known', () => {
  for (const toolPermission of ['request-review', 'strict']) assert.equal(find({ toolPermission }), null);
  for (const toolPermission of ['always-proceed', 'proceed-in-sandbox', 'later', null, true]) {
    assert.match(find({ toolPermission }) ?? '', /^toolPermission is .*; allowed: "request-review", "strict"$/);
  }
});

test('files with more rules are a fault, for nobody reads them here', () => {
  assert.equal(find({ policyPaths: [], adminPolicyPaths: [] }), null);
  assert.match(find({ policyPaths: ['/x.toml'] }) ?? '', /^policyPaths names more rules/);
  assert.match(find({ adminPolicyPaths: '/x.toml' }) ?? '', /^adminPolicyPaths names more rules/);
});

test('grants that are shared with the app, or given to a project, count too', () => {
  const shared = (rule: string) => ({ userSettings: { globalPermissionGrants: { allow: [rule] } } });
  assert.equal(agySharedGrants.file, '.gemini/config/config.json');
  assert.equal(agySharedGrants.findFault(JSON.stringify(shared('command(ls)')), 'restricted'), null);
  assert.match(find(shared('command(npm)')) ?? '', /^globalPermissionGrants.allow has the rule/);
  const project = { permissionGrants: { permissionGrants: { allow: ['write_file(*)'] } } };
  assert.match(find(project) ?? '', /^permissionGrants.allow has the rule/);
  assert.match(
    find({ userSettings: { autoExecutionPolicy: 'CASCADE_COMMANDS_AUTO_EXECUTION_EAGER' } }) ?? '',
    /unasked/,
  );
  assert.equal(find({ userSettings: { autoExecutionPolicy: 'CASCADE_COMMANDS_AUTO_EXECUTION_AUTO' } }), null);
});

test('text that does not parse fails closed; no settings widen the other profiles', () => {
  for (const text of ['', '{', '// a comment\n{}', '[]', '"x"', 'null']) {
    assert.equal(agySettings.findFault(text, 'restricted'), 'the settings are no JSON object', text);
    assert.equal(agySettings.findFault(text, 'standard'), null);
  }
  assert.equal(find({ toolPermission: 'always-proceed' }, 'unrestricted'), null);
});

test('the backend names the settings of agy itself', () => {
  assert.equal(agy.policy, agySettings);
  assert.equal(agy.policy.file, '.gemini/antigravity-cli/settings.json');
});
