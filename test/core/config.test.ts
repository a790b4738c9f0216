// The form of the user's config: backends with a command line, and what is refused.
import assert from 'node:assert/strict';
import test from 'node:test';
import { userConfig } from '../../companion/src/core/config.ts';

test('an empty config has no backends and no default', () => {
  assert.deepEqual(userConfig.parse({}), { backends: {} });
});

test('a backend has a command line, and its prompt goes to stdin unless it says otherwise', () => {
  const config = userConfig.parse({
    backends: {
      mine: { argv: ['prog', '-q'] },
      'other-2': { argv: ['x'], prompt: 'file' },
      third: { argv: ['y'], prompt: 'argument' },
    },
    default_backend: 'mine',
  });
  assert.deepEqual(config, {
    backends: {
      mine: { argv: ['prog', '-q'], prompt: 'stdin', brief: false },
      'other-2': { argv: ['x'], prompt: 'file', brief: false },
      third: { argv: ['y'], prompt: 'argument', brief: false },
    },
    default_backend: 'mine',
  });
});

test('a user may restrict modes and name a backend per mode', () => {
  const words = { restrict: ['review', 'ask'], default_backends: { review: 'claude' } };
  assert.deepEqual(userConfig.parse(words), { backends: {}, ...words });
});

test('fields that this release does not know are no reason to refuse a config', () => {
  const config = userConfig.parse({ later: 1, backends: { mine: { argv: ['x'], later: true } } });
  assert.deepEqual(config, { backends: { mine: { argv: ['x'], prompt: 'stdin', brief: false } } });
});

const refused: [what: string, value: unknown][] = [
  ['no object', null],
  ['a list', []],
  ['a text', 'x'],
  ['backends that are a list', { backends: [] }],
  ['a backend without a command line', { backends: { mine: {} } }],
  ['an empty command line', { backends: { mine: { argv: [] } } }],
  ['a command line that is one text', { backends: { mine: { argv: 'prog -q' } } }],
  ['a command line with a number', { backends: { mine: { argv: ['prog', 1] } } }],
  ['an unknown way for the prompt', { backends: { mine: { argv: ['x'], prompt: 'env' } } }],
  ['words of the mode in an argument', { backends: { mine: { argv: ['x'], prompt: 'argument', brief: true } } }],
  ['a default that is no text', { default_backend: 1 }],
  ['a default of a mode that is no text', { default_backends: { review: 1 } }],
  ['a default of an unknown mode', { default_backends: { deploy: 'codex' } }],
  ['an unknown restricted mode', { restrict: ['deploy'] }],
  ['a restriction that is one text', { restrict: 'review' }],
  ...['', 'Mine', '1st', '-x', '../x', 'a/b', 'a b', 'a\n', 'x'.repeat(32)].map((name): [string, unknown] => [
    `a backend named ${JSON.stringify(name)}`,
    JSON.parse(`{"backends":{${JSON.stringify(name)}:{"argv":["x"]}}}`),
  ]),
];
for (const [what, value] of refused) {
  test(`a config with ${what} is refused`, () => {
    assert.equal(userConfig.safeParse(value).success, false);
  });
}

test('a backend named __proto__ is none, and changes no other object', () => {
  const { backends } = userConfig.parse(JSON.parse('{"backends":{"__proto__":{"argv":["x"]}}}'));
  assert.deepEqual(Object.keys(backends), []);
  assert.equal(Object.hasOwn(Object.prototype, 'argv'), false);
  assert.equal((backends as Record<string, unknown>).argv, undefined);
});

test('a refusal says where the fault is', () => {
  const parsed = userConfig.safeParse({ backends: { mine: { argv: ['x'], prompt: 'env' } } });
  assert.deepEqual(parsed.error?.issues[0]?.path, ['backends', 'mine', 'prompt']);
});
