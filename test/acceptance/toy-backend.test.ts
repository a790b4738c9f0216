/**
 * docs/adding.md shows a whole backend: one new file and a registry line. Here both are taken from the document, put into a
 * copy of the sources, type-checked and built, and a job runs with the result.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const root = join(import.meta.dirname, '../..');
const agent = `#!/bin/sh
cat >"$HOME/task"
case $# in 0) echo '{"say": "made it"}' ;; *) echo '{"say": "looked"}' ;; esac
[ -e "$HOME/bad" ] && echo '{"end": "out of toys"}' || echo '{"end": "ok"}'
`;

test('the toy backend of docs/adding.md works with one new file and one registry line', async (t) => {
  const workspace = makeWorkspace(t);
  const copy = join(workspace.base, 'copy');
  for (const name of ['companion', 'package.json', 'tsconfig.json', '.biome.jsonc'])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  addToy(copy);

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

  writeFileSync(join(workspace.home, 'toy-agent'), agent);
  chmodSync(join(workspace.home, 'toy-agent'), 0o755);
  const done = call(workspace, copy, ['staffer', '--backend', 'toy', '--prompt', 'Make it.', '--wait']);
  assert.deepEqual([done.code, done.stdout], [0, 'made it'], done.stderr);
  assert.match(done.stderr, /no sandbox/);
  assert.match(readFileSync(join(workspace.home, 'task'), 'utf8'), /<task>\nMake it\.\n<\/task>/);
  const asked = call(workspace, copy, ['ask', '--backend', 'toy', '--prompt', 'What?']);
  assert.deepEqual([asked.code, asked.stdout], [0, 'looked'], asked.stderr);
  writeFileSync(join(workspace.home, 'bad'), '');
  const failed = call(workspace, copy, ['ask', '--backend', 'toy', '--prompt', 'What?']);
  assert.equal(failed.code, 3);
  assert.match(failed.stdout, /agent_error[\s\S]*out of toys/);
});

function addToy(copy: string): void {
  const document = readFileSync(join(root, 'docs/adding.md'), 'utf8');
  const [, file = '', text = ''] = /```ts (companion\/src\/backends\/\S+)\n([\s\S]*?)```/.exec(document) ?? [];
  const [, registry = '', diff = ''] = /```diff (companion\/src\/backends\/\S+)\n([\s\S]*?)```/.exec(document) ?? [];
  writeFileSync(join(copy, file), text, { flag: 'wx' });
  const lines = diff.split('\n');
  const taken = (sign: string) => lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(1));
  const [importLine = '', list = ''] = taken('+');
  const [before = ''] = taken('-');
  const source = readFileSync(join(copy, registry), 'utf8');
  assert.equal(source.split(before).length, 2, `${registry} holds "${before}" once`);
  writeFileSync(join(copy, registry), `${importLine}\n${source.replace(before, list.trimEnd())}`);
}

function call(workspace: Workspace, copy: string, args: string[]): { code: number; stdout: string; stderr: string } {
  const env = { ...workspace.env, PATH: `${workspace.home}:${workspace.env.PATH}` };
  const program = join(copy, 'companion/job-companion.cjs');
  const out = join(workspace.base, 'stderr');
  try {
    const words = ['-c', 'err=$1; shift; exec "$@" 2>"$err"', 'sh', out, testNode(), program, ...args];
    const stdout = execFileSync('sh', words, { cwd: workspace.dir, env, encoding: 'utf8' });
    return { code: 0, stdout, stderr: readFileSync(out, 'utf8') };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { code: status, stdout, stderr: readFileSync(out, 'utf8') };
  }
}
