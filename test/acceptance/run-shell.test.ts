/**
 * How a `run` starts its command (S0.14, S0.29, D11): the words exactly as they stand, without a shell; with `--shell` one line for a
 * shell that is never a login shell; and with `--pipefail` a shell that can do it, or nothing at all.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const odd = [
  `it's "quoted" and \\ \\n`,
  '$HOME ${x} $(touch pwned) `touch pwned`',
  'two\nlines\r\nand\ttabs',
  '; touch pwned & | < > * ? [a] {b,c} ~ ! #',
  '--timeout',
  '',
  ' ',
  '\u{1f600} e\u0301 \u202e',
  '\u0001\u001b[31m',
];

test('odd words reach the command byte for byte, also as its restart', async (t) => {
  const workspace = makeWorkspace(t);
  const words = ['node', '-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--', ...odd];
  const first = await run(workspace, ['run', '--wait', '--', ...words]);
  assert.deepEqual([first.code, JSON.parse(first.stdout)], [0, odd]);
  const [, id = ''] = /^job (\S+)/m.exec(first.stderr) ?? [];
  const again = await run(workspace, ['restart', id, '--wait']);
  assert.deepEqual(JSON.parse(again.stdout), odd);
  assert.equal(existsSync(workspace.path('pwned')), false);
});

test('--shell takes one line as it stands, and no login file is read', async (t) => {
  const workspace = makeWorkspace(t);
  for (const name of ['.profile', '.bash_profile', '.bashrc'])
    writeFileSync(join(workspace.home, name), 'echo LOGIN\n');
  const line = `x='a  b'; printf '%s|' "$x" 'it'\\''s'; echo "$PATH" | tr -d '\\n'`;
  for (const more of [[], ['--pipefail']]) {
    const { code, stdout } = await run(workspace, ['run', '--wait', '--shell', ...more, '--', line]);
    assert.deepEqual([code, stdout], [0, `a  b|it's|${workspace.env.PATH}`]);
  }
});

test('--pipefail makes a pipe fail with any of its commands', async (t) => {
  const workspace = makeWorkspace(t);
  const line = 'sh -c "echo kept; exit 5" | cat';
  const plain = await run(workspace, ['run', '--wait', '--shell', '--', line]);
  assert.deepEqual([plain.code, plain.stdout], [0, 'kept\n']);
  const strict = await run(workspace, ['run', '--wait', '--shell', '--pipefail', '--', line]);
  assert.equal(strict.code, 3);
  assert.match(strict.stderr, /exit_nonzero: the command exited with code 5/);
});

test('a bash in a folder that counts from here is not the shell of a job', async (t) => {
  const workspace = makeWorkspace(t);
  const PATH = `bin${delimiter}.${delimiter}${delimiter}${workspace.env.PATH}`;
  for (const place of ['bash', 'bin/bash']) chmodSync(workspace.write(place, '#!/bin/sh\ntouch pwned\n'), 0o755);
  const { code, stdout } = await run(workspace, ['run', '--wait', '--shell', '--pipefail', '--', 'echo fine'], {
    env: { PATH },
  });
  assert.deepEqual([code, stdout, existsSync(workspace.path('pwned'))], [0, 'fine\n', false]);
});

test('without any shell that can do it --pipefail is refused, and nothing is made', async (t) => {
  const workspace = makeWorkspace(t);
  const before = readdirSync(workspace.dir);
  const result = await run(workspace, ['run', '--shell', '--pipefail', '--', 'touch pwned'], {
    env: { PATH: pathWithoutBash(workspace) },
  });
  // Where /bin/sh can do it by itself it is taken.
  if (result.code === 0) {
    await run(workspace, ['wait']);
    assert.ok(existsSync(workspace.path('pwned')));
    return;
  }
  assert.equal(result.code, 1);
  assert.match(
    result.stderr,
    /^job-companion: cannot take --pipefail: there is no bash on PATH, and \/bin\/sh has no such/,
  );
  assert.match(result.stderr, /\ntry: install bash, or leave --pipefail away\n$/);
  assert.deepEqual(readdirSync(workspace.dir), before);
});

/** A folder with Node alone: /bin and /usr/bin have a bash. */
function pathWithoutBash(workspace: Workspace): string {
  const folder = join(workspace.base, 'bin');
  mkdirSync(folder);
  symlinkSync(testNode(), join(folder, 'node'));
  assert.notEqual(folder, dirname(testNode()));
  return folder;
}
