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

test('it is told when the host runs no hooks at all', () => {
  assert.deepEqual([areHooksOff('{"disableAllHooks":true}'), areHooksOff('{}')], [true, false]);
});

for (const [text, reason] of [
  ['nonsense', /no JSON$/],
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
