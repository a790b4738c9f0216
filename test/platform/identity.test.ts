// Who a process is, and the three answers to whether it lives: alive, dead, and not to be seen from here.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Identity } from '../../companion/src/core/job.ts';
import {
  bootId,
  identityOf,
  isDeadState,
  isIdentity,
  livenessOf,
  ownIdentity,
  pidNamespace,
  sameIdentity,
  signalIdentity,
} from '../../companion/src/platform/identity.ts';
import { readProcess } from '../../companion/src/platform/process-table.ts';
import { eventually } from '../helpers/eventually.ts';
import { isAlive } from '../helpers/process.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { startProgram } from './child-program.ts';

test('we are alive, and our identity says who we are', () => {
  const own = ownIdentity();
  assert.deepEqual(own, identityOf(process.pid));
  assert.deepEqual([own.pid, own.boot_id, own.pid_ns], [process.pid, bootId(), pidNamespace()]);
  assert.ok(isIdentity(own));
  assert.equal(livenessOf(own), 'alive');
});

test('a process is alive until it ends, and then dead', async (t) => {
  const { identity, begin, ended } = startProgram(makeWorkspace(t, { git: false }), ['/bin/cat']);
  const seen = identityOf(identity.pid);
  assert.ok(seen);
  assert.equal(livenessOf(seen), 'alive');
  begin();
  await ended;
  assert.equal(livenessOf(seen), 'dead');
  assert.equal(identityOf(identity.pid), undefined);
});

test('a zombie is dead, although its pid still answers', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  // The shell starts a child and becomes a program that never asks for it.
  const script = 'exec 3<&0; sh -c "read -r _ <&3" & echo $!; exec sleep 1000 3<&-';
  const parent = startProgram(workspace, ['/bin/sh', '-c', script]);
  const pid = Number(await eventually('the pid of the child', () => parent.stdout().trim()));
  const child = identityOf(pid);
  assert.ok(child);
  assert.equal(livenessOf(child), 'alive');
  // A shell would ask for its child's end, a sleep never does.
  await eventually('the parent to sleep', () => readProcess(parent.identity.pid)?.name === 'sleep');
  parent.begin();
  await eventually('the zombie', () => isDeadState(readProcess(pid)?.state ?? ''));
  assert.equal(process.kill(pid, 0), true);
  assert.equal(livenessOf(child), 'dead');
  assert.equal(signalIdentity(child, 'SIGTERM'), false);
});

test('a pid that belongs to somebody else by now is dead, and gets no signal', async (t) => {
  const { identity } = startProgram(makeWorkspace(t, { git: false }), ['/bin/cat']);
  const seen = identityOf(identity.pid);
  assert.ok(seen);
  const stale = { ...seen, start_token: `${Number(seen.start_token) - 1}` };
  assert.equal(livenessOf(stale), 'dead');
  assert.equal(signalIdentity(stale, 'SIGKILL'), false);
  assert.equal(isAlive(identity), true);
});

test('a process of another boot is dead, wherever it ran', () => {
  const own = ownIdentity();
  assert.equal(livenessOf({ ...own, boot_id: 'other' }), 'dead');
  assert.equal(livenessOf({ ...own, boot_id: 'other', pid_ns: 'other' }), 'dead');
});

test('a process of another pid namespace is unknown, never dead, and gets no signal', () => {
  const elsewhere = { ...ownIdentity(), pid_ns: 'pid:[1]', start_token: '1' };
  assert.equal(livenessOf(elsewhere), 'unknown');
  assert.equal(signalIdentity({ ...ownIdentity(), pid_ns: 'pid:[1]' }, 'SIGKILL'), false);
});

test('pids of 1 and below are nobody: never alive, never signaled', () => {
  for (const pid of [1, 0, -1, -process.pid]) {
    const identity = { ...ownIdentity(), pid };
    assert.equal(isIdentity(identity), false);
    assert.equal(livenessOf(identity), 'dead');
    assert.equal(signalIdentity(identity, 'SIGKILL'), false);
    assert.equal(identityOf(pid), undefined);
  }
});

test('what does not have the form of an identity is none', () => {
  const own = ownIdentity();
  for (const value of [
    ...[undefined, null, 1, 'x', [], {}, [own], { ...own, pid: '5' }, { ...own, pid: 1.5 }, { ...own, pid: 2 ** 60 }],
    ...[
      { ...own, pid: undefined },
      { ...own, start_token: '' },
      { ...own, start_token: 5 },
      { ...own, boot_id: null },
    ],
    { ...own, pid_ns: undefined },
  ]) {
    assert.equal(isIdentity(value), false, JSON.stringify(value));
  }
  assert.equal(isIdentity({ ...own, later: 1 }), true);
});

test('two identities are the same only in all four parts', () => {
  const own = ownIdentity();
  assert.equal(sameIdentity(own, { ...own }), true);
  const others: Partial<Identity>[] = [{ pid: 2 }, { start_token: 'x' }, { boot_id: 'x' }, { pid_ns: 'x' }];
  for (const other of others) assert.equal(sameIdentity(own, { ...own, ...other }), false, JSON.stringify(other));
});
