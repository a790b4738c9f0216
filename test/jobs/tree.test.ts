// The tree of a job, as far as its record proves who is who.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Identity } from '../../companion/src/core/job.ts';
import { treeOf } from '../../companion/src/jobs/tree.ts';
import { identityOf, ownIdentity } from '../../companion/src/platform/identity.ts';
import { type Running, startProgram } from '../platform/child-program.ts';
import { makeJob, makePlace, makeSpec } from '../store/job-record.ts';

const own = ownIdentity();
const dead = { ...own, start_token: '1' };

function start(t: TestContext) {
  const { root, workspace } = makePlace(t);
  const run = (): Identity & { running: Running } => {
    const running = startProgram(workspace, ['/bin/cat'], { detached: true });
    return { ...identityOf(running.identity.pid)!, running };
  };
  const make = (who: Partial<Parameters<typeof treeOf>[2]>, guardMark?: string) => {
    const paths = makeJob(root, { guardMark });
    return treeOf(makeSpec(), paths, { worker: null, shim: null, child: null, ...who });
  };
  return { run, make };
}

test('a living shim names the session, worker and shim are spared', (t) => {
  const { run, make } = start(t);
  const [shim, child] = [run(), run()];
  const tree = make({ worker: own, shim, child }, '41 42\n');
  assert.deepEqual([tree.mark, tree.session], [makeSpec().mark, shim.pid]);
  assert.deepEqual(tree.spared, [own.pid, shim.pid]);
  assert.equal(tree.child, child.pid);
  assert.equal(tree.since, Number(own.start_token));
  assert.deepEqual(tree.counted(), []);
});

test('a shim that ended still names the session, and is not spared', async (t) => {
  const { run, make } = start(t);
  const shim = run();
  shim.running.begin();
  await shim.running.ended;
  const tree = make({ shim }, '41 42\n');
  assert.deepEqual([tree.session, tree.spared], [shim.pid, []]);
});

test('a stranger with the pid of the shim means that nobody is left in its session', (t) => {
  const { run, make } = start(t);
  const tree = make({ worker: dead, shim: { ...run(), start_token: '1' }, child: dead }, '41 42\n');
  assert.deepEqual([tree.session, tree.spared], [null, []]);
});

test('processes of another boot or pid namespace are no part of a tree here', (t) => {
  const { run, make } = start(t);
  const shim = run();
  for (const change of [{ boot_id: 'other' }, { pid_ns: 'pid:[1]' }]) {
    const tree = make({ worker: { ...own, ...change }, shim: { ...shim, ...change }, child: { ...own, ...change } });
    assert.deepEqual([tree.session, tree.spared], [null, []]);
  }
});
