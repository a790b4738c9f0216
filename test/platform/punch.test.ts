// Giving back the middle of a file: as a hole where the system can, else by cutting, and never more than was asked for.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { makeProgram } from './child-program.ts';

const page = 4096;
const canPunch = spawnSync('fallocate', ['--version']).status === 0;

/** Runs `freeRange` in a process of its own, because it remembers what this system can. */
function makeFree(
  t: TestContext,
): Workspace & { free(from: number, to: number, path?: string): { how: string; to: number } } {
  const workspace = makeWorkspace(t, { git: false });
  const code = `import { freeRange } from './platform/punch.ts';
    const [file, from, to] = process.argv.slice(2);
    console.log(JSON.stringify(await freeRange(file, Number(from), Number(to))));`;
  const program = makeProgram(workspace, 'free', code);
  const free = (from: number, to: number, path = workspace.env.PATH ?? '') => {
    const args = [program, workspace.path('log'), String(from), String(to)];
    return JSON.parse(
      execFileSync(process.execPath, args, { env: { ...workspace.env, PATH: path }, encoding: 'utf8' }),
    );
  };
  return { ...workspace, free };
}

const content = Buffer.concat(Array.from({ length: 32 }, (_, n) => Buffer.alloc(page, 65 + n)));

test('a hole keeps size and neighbours and gives the blocks back', { skip: canPunch ? false : 'no fallocate' }, (t) => {
  const { path, write, free } = makeFree(t);
  write('log', content);
  const before = statSync(path('log')).blocks;
  assert.equal(free(4 * page, 28 * page).how, 'punched');
  const expected = Buffer.from(content);
  expected.fill(0, 4 * page, 28 * page);
  assert.ok(readFileSync(path('log')).equals(expected));
  assert.ok(statSync(path('log')).blocks <= before - (23 * page) / 512);
});

test('without fallocate the file is cut, and head and tail stand together', (t) => {
  const { path, write, free } = makeFree(t);
  write('log', content);
  assert.equal(free(4 * page, 28 * page, '/nowhere').how, 'cut');
  assert.ok(
    readFileSync(path('log')).equals(Buffer.concat([content.subarray(0, 4 * page), content.subarray(28 * page)])),
  );
});

test('without fallocate the newest 64 MiB stay, and it is said from where on', (t) => {
  const { path, write, free } = makeFree(t);
  const file = openSync(write('log', ''), 'r+');
  const length = 64 * 1024 * 1024 + 8 * page;
  ftruncateSync(file, length);
  writeSync(file, 'newest', length - 6);
  closeSync(file);
  assert.deepEqual(free(page, 2 * page, '/nowhere'), { how: 'cut', to: 8 * page });
  const bytes = readFileSync(path('log'));
  assert.equal(bytes.subarray(-6).toString(), 'newest');
  assert.equal(bytes.length, length - 7 * page);
});

test('a file that is gone is left alone', (t) => {
  const { free } = makeFree(t);
  assert.equal(free(page, 2 * page).how, 'failed');
  assert.equal(free(page, 2 * page, '/nowhere').how, 'failed');
});
