// A FIFO as a sign of life: it wakes whoever watches when the last holder lets go, also by SIGKILL, and not before.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import test from 'node:test';
import { holdFifo, makeFifo, watchFifo } from '../../companion/src/platform/fifo.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { makeProgram, type Running, startProgram } from './child-program.ts';

async function startHolder(workspace: Workspace, file: string): Promise<Running> {
  const code = `import { holdFifo } from './platform/fifo.ts';
    const release = holdFifo(process.argv[2]);
    console.log(release ? 'held' : 'no FIFO');
    process.stdin.resume().on('end', () => process.exit(0));`;
  const holder = startProgram(workspace, [makeProgram(workspace, 'hold', code), file]);
  await eventually('the holder to hold', () => holder.stdout() === 'held\n');
  return holder;
}

test('a FIFO is made once, 0600, and one that is there is as good', async (t) => {
  const { path } = makeWorkspace(t, { git: false });
  assert.equal(await makeFifo(path('lease.fifo')), true);
  assert.equal(statSync(path('lease.fifo')).mode & 0o777, 0o600);
  assert.equal(await makeFifo(path('lease.fifo')), true);
  assert.equal(await makeFifo(path('none', 'lease.fifo')), false);
});

test('whoever watches is woken when the holder is killed with SIGKILL, and not before', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const file = workspace.path('lease.fifo');
  await makeFifo(file);
  const holder = await startHolder(workspace, file);
  let ends = 0;
  const over = new Promise<void>((resolve) => {
    void watchFifo(file, () => {
      ends += 1;
      resolve();
    });
  });
  // Another FIFO comes and goes meanwhile: the loop had every occasion to tell of the first one too early.
  const other = workspace.path('other.fifo');
  await makeFifo(other);
  const release = holdFifo(other);
  await new Promise<void>((resolve) => {
    void watchFifo(other, resolve).then(() => release?.());
  });
  assert.equal(ends, 0);
  holder.child.kill('SIGKILL');
  await over;
  await holder.ended;
  assert.equal(ends, 1);
});

test('of two holders the last one counts', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const file = workspace.path('lease.fifo');
  await makeFifo(file);
  const [first, second] = [await startHolder(workspace, file), await startHolder(workspace, file)];
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    void watchFifo(file, () => {
      isOver = true;
      resolve();
    });
  });
  first.begin();
  await first.ended;
  assert.equal(isOver, false);
  second.begin();
  await over;
  await second.ended;
});

test('a watch that was stopped tells nothing', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const file = workspace.path('lease.fifo');
  await makeFifo(file);
  const release = holdFifo(file);
  const stop = await watchFifo(file, () => assert.fail('told after the stop'));
  const told = new Promise<void>((resolve) => {
    void watchFifo(file, resolve).then(() => {
      stop?.();
      release?.();
    });
  });
  await told;
  assert.ok(release && stop);
});

test('what is no FIFO is neither held nor watched, and nobody hangs at it', async (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  write('file', '');
  mkdirSync(path('folder'));
  await makeFifo(path('fifo'));
  symlinkSync(path('fifo'), path('link'));
  for (const name of ['file', 'link', 'none', 'file/below']) {
    assert.equal(holdFifo(path(name)), undefined, name);
    assert.equal(await watchFifo(path(name), () => undefined), undefined, name);
  }
  assert.equal(await watchFifo(path('folder'), () => undefined), undefined);
  for (const name of ['file', 'folder', 'link']) assert.equal(await makeFifo(path(name)), false, name);
});

test('a holder makes the FIFO private again', async (t) => {
  const { path } = makeWorkspace(t, { git: false });
  execFileSync('mkfifo', [path('fifo')]);
  chmodSync(path('fifo'), 0o666);
  const release = holdFifo(path('fifo'));
  assert.equal(statSync(path('fifo')).mode & 0o777, 0o600);
  release?.();
});
