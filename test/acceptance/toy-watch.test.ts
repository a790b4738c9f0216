/**
 * docs/adding.md shows a whole watch kind: one new file and a registry line. Here both are taken from the document, put into a
 * copy of the sources, type-checked and built, and a watch runs with the result.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const root = join(import.meta.dirname, '../..');

test('the watch kind of docs/adding.md works with one new file and one registry line', async (t) => {
  const workspace = makeWorkspace(t);
  const copy = join(workspace.base, 'copy');
  for (const name of ['companion', 'package.json', 'tsconfig.json'])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  addKind(copy);
  const node = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: copy, env: workspace.env, stdio: 'pipe' });
  const config = {
    extends: './tsconfig.json',
    include: ['companion/src'],
    compilerOptions: { tsBuildInfoFile: 'tsbuildinfo' },
  };
  writeFileSync(join(copy, 'only-src.json'), JSON.stringify(config));
  node('node_modules/typescript/bin/tsc', '--noEmit', '-p', 'only-src.json');
  node('companion/build.mjs');

  const call = (...args: string[]) => {
    const program = join(copy, 'companion/job-companion.cjs');
    const { status, stdout, stderr } = spawnSync(testNode(), [program, ...args], {
      cwd: workspace.dir,
      env: workspace.env,
      encoding: 'utf8',
    });
    return { code: status, stdout, stderr };
  };
  assert.match(call('watch', '--help').stdout, /^level +a number in a file$/m);
  assert.match(call('watch', 'level', '--help').stdout, /--above N +met when it is larger/);
  assert.match(call('watch', 'level', 'depth', '--for', '1h').stderr, /without --above N/);
  workspace.write('depth', '3\n');
  assert.deepEqual(call('watch', 'level', 'depth', '--above', '20', '--once').code, 2);
  const launched = call('watch', 'level', 'depth', '--above', '20', '--for', '1h', '--every', '1s', '--id-only');
  workspace.write('depth', '21\n');
  const { code, stdout } = call('wait', launched.stdout.trim());
  assert.deepEqual([code, stdout], [0, 'the level is 21\n']);
});

function addKind(copy: string): void {
  const document = readFileSync(join(root, 'docs/adding.md'), 'utf8');
  const [, file = '', text = ''] = /```ts (companion\/src\/watches\/\S+)\n([\s\S]*?)```/.exec(document) ?? [];
  const [, registry = '', diff = ''] = /```diff (companion\/src\/watches\/\S+)\n([\s\S]*?)```/.exec(document) ?? [];
  writeFileSync(join(copy, file), text, { flag: 'wx' });
  const taken = (sign: string) =>
    diff
      .split('\n')
      .filter((line) => line.startsWith(sign))
      .map((line) => line.slice(1))
      .join('\n');
  const source = readFileSync(join(copy, registry), 'utf8');
  assert.equal(source.split(taken('-')).length, 2, `${registry} holds "${taken('-')}" once`);
  writeFileSync(join(copy, registry), source.replace(taken('-'), taken('+')));
}
