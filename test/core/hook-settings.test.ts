/** Hooks of ours in a host's settings: added once, renewed, taken away; whatever others wrote stays as it was. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import {
  addHooks,
  areHooksOff,
  findOwnHooks,
  hookCommand,
  removeHooks,
} from '../../companion/src/core/hook-settings.ts';

const self = ['/opt/a node/bin/node', "/home/o'neil/job-companion.cjs"];
const others = {
  model: 'x',
  hooks: {
    Stop: [
      { matcher: '', hooks: [{ type: 'command', command: 'say hook claude Stop' }] },
      { hooks: [{ type: 'prompt', prompt: 'y', extra: [1] }] },
    ],
    PreToolUse: [],
  },
};

function add(text: string | null, words: readonly string[] = self): string {
  const { text: result } = addHooks(text, 'claude', words);
  assert.ok(result !== null);
  return result;
}

test('a file that is made holds both hooks, with the words quoted for a shell', () => {
  const { text, changes } = addHooks(null, 'codex', self);
  assert.equal(changes.length, 2);
  const found = findOwnHooks(text ?? '');
  assert.deepEqual(
    found.map(({ event }) => event),
    ['Stop', 'UserPromptSubmit'],
  );
  const words = execFileSync('sh', ['-c', `set -- ${found[0]?.command.replace(/ 2>.*$/, '')}; printf '%s\\n' "$@"`]);
  assert.deepEqual(words.toString().trim().split('\n'), [...self, 'hook', 'codex', 'Stop']);
});

test('the command says nothing and ends with 0 when the program is gone', () => {
  const command = hookCommand(['/nowhere/node', '/nowhere/job-companion.cjs'], 'claude', 'Stop');
  assert.equal(execFileSync('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] }).toString(), '');
});

test('added to the hooks of others and taken away again, the rest is what it was', () => {
  const before = `${JSON.stringify(others, null, 4)}\n`;
  const added = add(before);
  assert.equal(JSON.parse(added).hooks.Stop.length, 3);
  assert.match(added, /^ {4}"model"/m);
  assert.equal(removeHooks(added).text, before);
});

test('what was added to nothing leaves nothing', () => {
  assert.equal(removeHooks(add(null)).text, null);
  assert.deepEqual(JSON.parse(removeHooks(add('{"model":"x"}')).text ?? ''), { model: 'x' });
});

test('a second time nothing is changed, and another place of the program takes the place of the first', () => {
  const added = add(null);
  assert.deepEqual(addHooks(added, 'claude', self), { text: added, changes: [] });
  const moved = add(added, ['/usr/bin/node', '/new/job-companion.cjs']);
  assert.deepEqual(
    findOwnHooks(moved).map(({ command }) => command.includes('/new/')),
    [true, true],
  );
});

test('a hook of ours that somebody put among others is taken from there alone', () => {
  const command = hookCommand(self, 'claude', 'Stop');
  const mixed = {
    hooks: {
      Stop: [
        {
          hooks: [
            { type: 'command', command },
            { type: 'command', command: 'ls' },
          ],
        },
      ],
    },
  };
  const { text } = removeHooks(JSON.stringify(mixed));
  assert.deepEqual(JSON.parse(text ?? ''), { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'ls' }] }] } });
});

test('a file with nothing in it is as none', () => {
  for (const empty of ['', '\n']) {
    assert.equal(add(empty), add(null));
    assert.deepEqual([removeHooks(empty).changes, findOwnHooks(empty)], [[], []]);
  }
});

test('what would not be the same when it is written again is refused, and nothing else is', () => {
  const bad = [
    '{"n": 12345678901234567890}',
    '{\n"a": 1.0}',
    '{"a": 1, "a": 2}',
    '{"b": "\\u0041"}',
    '{"2": 1, "1": 1}',
  ];
  for (const text of bad) assert.throws(() => addHooks(text, 'claude', self), /line \d would not be the same/);
  const command = JSON.stringify(hookCommand(self, 'claude', 'Stop'));
  const text = `{"n": 1e400, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": ${command}}]}]}}`;
  assert.throws(() => removeHooks(text), /line 1 would/);
  assert.ok(addHooks('{ "s" : "a \\" \\\\ {  }",\t"n" :[ 1 , -2.5,true ]\n}', 'claude', self).changes.length > 0);
});

test('ends of lines, the last one and the indentation stay', () => {
  for (const form of [
    (text: string) => text.replaceAll('\n', '\r\n'),
    (text: string) => text.trimEnd(),
    (text: string) => text.replaceAll('    ', '\t'),
    (text: string) => JSON.stringify(JSON.parse(text)),
  ]) {
    const before = form(`${JSON.stringify(others, null, 4)}\n`);
    const added = add(before);
    assert.notEqual(added, before);
    assert.equal(removeHooks(added).text, before);
    assert.equal(/(^|[^\r])\n/.test(added), /(^|[^\r])\n/.test(before));
  }
});

test('it is told when the host runs no hooks at all', () => {
  assert.deepEqual([areHooksOff('{"disableAllHooks":true}'), areHooksOff('{}')], [true, false]);
});

for (const [text, reason] of [
  ['nonsense', /no JSON: .*; allowed is JSON without comments/],
  ['{"a": 1, // why\n}', /no JSON: .*line 1, column 10\); allowed is JSON without comments/],
  ['\uFEFF{}', /byte order mark; allowed is UTF-8 without one/],
  ['\uFEFF', /byte order mark/],
  ['[]', /no JSON object/],
  ['{"hooks":[]}', /"hooks" is no object/],
  ['{"hooks":{"Stop":{}}}', /"hooks.Stop" is no list/],
  ['{"hooks":{"Stop":[7]}}', /"hooks.Stop" is no list/],
] as const) {
  test(`settings of another form are refused: ${text}`, () => {
    assert.throws(() => addHooks(text, 'claude', self), reason);
    assert.throws(() => removeHooks(text), reason);
  });
}
