/**
 * A job that is started inside a job: it belongs to nobody's tree but its own. The end, the cancel, the limit and the loss
 * of the outer one leave it alone, whoever sweeps: the worker, a settling reader, or the shim's guard.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { builtFile, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  findJob,
  type Hold,
  type Job,
  killNow,
  killSupervision,
  launch,
  makeHold,
  program,
  untilGone,
  untilHeld,
  untilStarted,
} from '../helpers/jobs.ts';
import { isAlive } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Nested {
  outer: Job;
  inner: Job;
  hold: Hold;
  /** Lets the outer command end by itself. */
  endOuter(): void;
}

test('an inner job survives the end of the outer one, and is no left-over child of it', async (t) => {
  const workspace = makeWorkspace(t);
  const nested = await launchNested(workspace);
  nested.endOuter();
  const { code } = await run(workspace, ['wait', nested.outer.id]);
  assert.deepEqual([code, nested.outer.state().warnings], [0, []]);
  await checkInnerLives(workspace, nested);
});

test('an inner job knows who started it: its owner is the outer job', async (t) => {
  const workspace = makeWorkspace(t);
  const nested = await launchNested(workspace);
  assert.equal(nested.inner.json<{ owner: string }>('spec.json').owner, nested.outer.id);
  nested.endOuter();
  assert.equal((await run(workspace, ['wait', nested.outer.id])).code, 0);
  await checkInnerLives(workspace, nested);
});

test('an inner job survives the cancel of the outer one', async (t) => {
  const workspace = makeWorkspace(t);
  const nested = await launchNested(workspace);
  const child = nested.outer.identity('child');
  assert.equal((await run(workspace, ['cancel', nested.outer.id])).code, 0);
  assert.deepEqual([nested.outer.state().state, isAlive(child)], ['canceled', false]);
  await checkInnerLives(workspace, nested);
});

test('an inner job without any environment survives the cancel of the outer one that waits for it', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const words = [builtFile, 'run', '--wait', '--', 'env', '-i', 'PATH=/usr/bin:/bin', ...hold.command];
  const outer = await launch(workspace, ['--', 'node', ...words]);
  await untilHeld(hold);
  const told = await eventually('the id of the inner job', () => /job (\S+)/.exec(outer.text('error.log'))?.[1]);
  const inner = findJob(workspace, told);
  await untilStarted(inner);
  assert.equal((await run(workspace, ['cancel', outer.id])).code, 0);
  await checkInnerLives(workspace, { outer, inner, hold, endOuter: () => undefined });
});

test('an inner job survives the limit of the outer one, kept by the guard alone', async (t) => {
  const workspace = makeWorkspace(t);
  const nested = await launchNested(workspace, ['--timeout', '3s', '--kill-after', '0s']);
  const shim = nested.outer.identity('shim');
  await killNow('the outer worker', nested.outer.identity('worker'));
  await untilGone('the outer shim', shim);
  assert.equal((await run(workspace, ['wait', nested.outer.id])).code, 3);
  assert.equal(nested.outer.state().state, 'timed_out');
  await checkInnerLives(workspace, nested);
});

test('an inner job survives the loss of the outer one', async (t) => {
  const workspace = makeWorkspace(t);
  const nested = await launchNested(workspace);
  await killSupervision(nested.outer);
  assert.equal((await run(workspace, ['wait', nested.outer.id])).code, 3);
  assert.equal(nested.outer.state().error?.code, 'worker_lost');
  await checkInnerLives(workspace, nested);
});

test('an outer job survives the cancel of the inner one', async (t) => {
  const workspace = makeWorkspace(t);
  const nested = await launchNested(workspace);
  assert.equal((await run(workspace, ['cancel', nested.inner.id])).code, 0);
  for (const member of ['worker', 'shim', 'child'] as const) assert.ok(isAlive(nested.outer.identity(member)), member);
  nested.endOuter();
  assert.equal((await run(workspace, ['wait', nested.outer.id])).code, 0);
});

async function launchNested(workspace: Workspace, options: string[] = []): Promise<Nested> {
  const hold = makeHold(workspace);
  const [idFile, end] = [join(workspace.base, 'inner-id'), join(workspace.base, 'end-outer')];
  const command = ['sh', program('start-job.sh'), builtFile, idFile, end, ...hold.command];
  const outer = await launch(workspace, [...options, '--', ...command]);
  await untilHeld(hold);
  const id = await eventually('the id of the inner job', () => readFileSync(idFile, 'utf8').trim());
  const inner = findJob(workspace, id);
  await Promise.all([untilStarted(outer), untilStarted(inner)]);
  return { outer, inner, hold, endOuter: () => writeFileSync(end, '') };
}

/** Nobody of it was touched, and it comes to its own end. */
async function checkInnerLives(workspace: Workspace, { inner, hold }: Nested): Promise<void> {
  for (const member of ['worker', 'shim', 'child'] as const)
    assert.ok(isAlive(inner.identity(member)), `inner ${member}`);
  assert.deepEqual([inner.state().state, inner.launch().generation], ['running', 1]);
  hold.release();
  assert.equal((await run(workspace, ['wait', inner.id])).code, 0);
  assert.deepEqual([inner.state().state, inner.state().exit_code], ['done', 0]);
}
