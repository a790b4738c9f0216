// The lock: nothing is lost among twenty processes, a dead holder is superseded at once, a living one is waited for and named.
import assert from 'node:assert/strict';
import fs, { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { withLock } from '../../companion/src/platform/lock.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { makeProgram, type Running, startProgram } from './child-program.ts';

const patience = 120_000;

/** A process that holds the lock until its input ends. */
async function startHolder(workspace: Workspace, folder: string): Promise<Running> {
  const code = `import { withLock } from './platform/lock.ts';
    await withLock(process.argv[2], async () => {
      console.log('held');
      await new Promise((resolve) => process.stdin.resume().on('end', resolve));
    });`;
  const holder = startProgram(workspace, [makeProgram(workspace, 'hold', code), folder]);
  await eventually('the holder to hold', () => holder.stdout() === 'held\n');
  return holder;
}

async function refusal(promise: Promise<unknown>): Promise<FaultError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof FaultError, String(error));
    return error;
  }
  return assert.fail('the lock was taken');
}

/** A lock whose newest file holds this text. */
function plant(workspace: Workspace, text: string): string {
  const folder = workspace.path('lock');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '7'), text);
  return folder;
}

test('twenty processes that count up one file under the lock lose nothing', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const code = `import { withLock } from './platform/lock.ts';
    import { readFileSync, writeFileSync } from 'node:fs';
    readFileSync(0);
    const [lock, counter] = process.argv.slice(2);
    for (let n = 0; n < 4; n += 1)
      await withLock(lock, async () => {
        const value = Number(readFileSync(counter, 'utf8'));
        await new Promise((resolve) => setImmediate(resolve));
        writeFileSync(counter, String(value + 1));
      }, ${patience});`;
  const counter = workspace.write('counter', '0');
  const program = makeProgram(workspace, 'count', code);
  const counters = Array.from({ length: 20 }, () =>
    startProgram(workspace, [program, workspace.path('lock'), counter]),
  );
  for (const one of counters) one.begin();
  for (const { ended } of counters) {
    const { code: exit, stderr } = await ended;
    assert.equal(exit, 0, stderr);
  }
  assert.equal(workspace.read('counter'), '80');
  assert.deepEqual(readdirSync(workspace.path('lock')), ['80.free']);
});

test('calls within one process exclude each other too', async (t) => {
  const folder = makeWorkspace(t, { git: false }).path('lock');
  let inside = 0;
  let most = 0;
  const enter = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, () => withLock(folder, enter, patience)));
  assert.equal(most, 1);
});

test('one who looked before another took and released the lock steps back', {}, async (t) => {
  const folder = makeWorkspace(t, { git: false }).path('lock');
  mkdirSync(folder);
  writeFileSync(join(folder, '9.free'), '{}');
  // The first look shows the folder as it was one holder earlier.
  const look = fs.readdirSync;
  let looks = 0;
  const stale = (...args: Parameters<typeof look>) => {
    looks += 1;
    return looks === 1 ? ['8.free'] : look(...args);
  };
  fs.readdirSync = stale as typeof look;
  syncBuiltinESMExports();
  try {
    await withLock(folder, async () => {
      assert.equal((await refusal(withLock(folder, () => 'inside too', 0))).code, 'busy');
    });
  } finally {
    fs.readdirSync = look;
    syncBuiltinESMExports();
  }
  assert.ok(looks > 1);
  assert.deepEqual(readdirSync(folder), ['10.free']);
});

test('a holder that is killed with SIGKILL is superseded by the very first look', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const holder = await startHolder(workspace, workspace.path('lock'));
  holder.child.kill('SIGKILL');
  await holder.ended;
  assert.equal(await withLock(workspace.path('lock'), () => 'taken', 0), 'taken');
});

test('a living holder is waited for, named when patience is over, and not disturbed', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const folder = workspace.path('lock');
  const holder = await startHolder(workspace, folder);
  const { code, message } = await refusal(withLock(folder, () => assert.fail('inside'), 20));
  assert.equal(code, 'busy');
  assert.equal(message, `cannot take the lock ${folder}: it is held by process ${holder.identity.pid}`);
  const waiting = withLock(folder, () => 'taken', patience);
  holder.begin();
  assert.equal(await waiting, 'taken');
  assert.deepEqual(await holder.ended, { code: 0, stdout: 'held\n', stderr: '' });
});

test('a holder whose pid belongs to somebody else by now is superseded at once', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const folder = plant(workspace, JSON.stringify({ ...ownIdentity(), start_token: '1' }));
  assert.equal(await withLock(folder, () => 'taken', 0), 'taken');
});

test('a holder of another boot is superseded at once', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const folder = plant(workspace, JSON.stringify({ ...ownIdentity(), boot_id: 'other' }));
  assert.equal(await withLock(folder, () => 'taken', 0), 'taken');
});

for (const [what, text] of [
  ['that cannot be seen from here', JSON.stringify({ ...ownIdentity(), pid_ns: 'pid:[1]' })],
  ['whose file is damaged', '{"pid":'],
  ['that names pid 1', JSON.stringify({ ...ownIdentity(), pid: 1 })],
] as const) {
  test(`a holder ${what} is respected while fresh and superseded when old`, async (t) => {
    const workspace = makeWorkspace(t, { git: false });
    const folder = plant(workspace, text);
    assert.equal((await refusal(withLock(folder, () => undefined, 0))).code, 'busy');
    const old = Date.now() / 1000 - 61;
    utimesSync(join(folder, '7'), old, old);
    assert.equal(await withLock(folder, () => 'taken', 0), 'taken');
    assert.deepEqual(readdirSync(folder), ['8.free']);
  });
}

test('the lock is released when what was done under it fails, and the failure comes through', async (t) => {
  const folder = makeWorkspace(t, { git: false }).path('lock');
  await assert.rejects(
    withLock(folder, () => {
      throw new Error('inside');
    }),
    /^Error: inside$/,
  );
  assert.equal(await withLock(folder, () => 'taken', 0), 'taken');
});

test('one who was taken for gone and comes back does no harm', {}, async (t) => {
  const folder = makeWorkspace(t, { git: false }).path('lock');
  const result = await withLock(folder, async () => {
    // As somebody in another pid namespace sees us after a minute.
    const [held] = readdirSync(folder).filter((name) => /^\d+$/.test(name));
    const old = Date.now() / 1000 - 61;
    writeFileSync(join(folder, held!), JSON.stringify({ ...ownIdentity(), pid_ns: 'pid:[1]' }));
    utimesSync(join(folder, held!), old, old);
    return withLock(folder, () => 'done', 0);
  });
  assert.equal(result, 'done');
});

test('a planted link in the place of the lock is refused, and nothing behind it is touched', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  for (const name of ['1', '2', '3.free']) workspace.write(`private/${name}`, 'precious');
  symlinkSync(workspace.path('private'), workspace.path('lock'));
  await withLock(workspace.path('lock'), () => undefined, 0).catch(() => undefined);
  assert.deepEqual(readdirSync(workspace.path('private')).sort(), ['1', '2', '3.free']);
  assert.equal(readFileSync(workspace.path('private', '1'), 'utf8'), 'precious');
});
