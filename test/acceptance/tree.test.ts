/**
 * What a command leaves behind when it has ended by itself: ended too and named in a warning, or kept when the caller
 * asked for that. And that a tree is really gone when its end is told.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Job, killNow, launch, program, untilPid, untilStarted } from '../helpers/jobs.ts';
import { type Identity, isAlive, killByIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

for (const where of ['the same session', 'a session of its own']) {
  test(`a child left behind in ${where} is ended and named in a warning of a done job`, async (t) => {
    const workspace = makeWorkspace(t);
    const { job, left } = await launchLeaving(workspace, 0, where === 'the same session' ? 'same' : 'session');
    const { code, stdout, stderr } = await run(workspace, ['wait', job.id]);
    assert.deepEqual([code, stdout, isAlive(left)], [0, 'left\n', false]);
    const warning = job.state().warnings.find((one) => one.code === 'leftovers_ended');
    assert.match(warning?.message ?? '', new RegExp(`\\b${left.pid} \\(s`));
    assert.ok(stderr.includes(`warning: ${warning?.message}`), stderr);
  });
}

test('a child left behind by a failed command is ended as well, and the failure stays what it was', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, left } = await launchLeaving(workspace, 5);
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  const { state, exit_code, error, warnings } = job.state();
  assert.deepEqual([state, exit_code, error?.code, isAlive(left)], ['failed', 5, 'exit_nonzero', false]);
  assert.match(warnings[0]?.message ?? '', new RegExp(`\\b${left.pid} `));
});

test('a TERM-proof tree left behind, sessions and a daemon in it, is gone when the end is told', async (t) => {
  const workspace = makeWorkspace(t);
  const folder = join(workspace.base, 'tree');
  const release = join(workspace.base, 'release');
  mkdirSync(folder);
  const job = await launch(workspace, ['--', 'sh', program('grow-tree.sh'), folder, release]);
  // `bare` has no environment and no parent any more: the documented limit, unless it was seen before.
  const tree: [string, Identity][] = [];
  for (const name of ['stubborn', 'session', 'daemon']) tree.push([name, await untilPid(join(folder, name))]);
  const bare = await untilPid(join(folder, 'bare'));
  workspace.defer(() => killByIdentity(bare));
  writeFileSync(release, '');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  // The warning names five at most, and a `sleep` of theirs may be among them.
  assert.match(
    job.state().warnings[0]?.message ?? '',
    /^\d+ left-over process\(es\) were ended after the command: \d+ \(/,
  );
  const record = job.json<{ ended_by: string; ended_processes: { pid: number }[] }>('result.json');
  const named = record.ended_processes.map(({ pid }) => pid);
  for (const [name, identity] of tree) {
    assert.equal(isAlive(identity), false, name);
    assert.ok(named.includes(identity.pid), `${name} is named`);
  }
  assert.equal(record.ended_by, 'kill');
});

test('--keep-children leaves a child alone and warns of nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, left } = await launchLeaving(workspace, 0, 'same', ['--keep-children']);
  workspace.defer(() => killByIdentity(left));
  const { code, stdout } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, stdout, isAlive(left), job.state().warnings], [0, 'left\n', true, []]);
});

test('a job that is settled without its worker treats left-over children in the same way', async (t) => {
  const workspace = makeWorkspace(t);
  for (const options of [[], ['--keep-children']]) {
    const { job, left } = await launchLeaving(workspace, 0, 'session', options, async (started) => {
      // Before the command ends, so that nobody but the settling reader can look after what it left.
      await killNow('the worker', started.identity('worker'));
    });
    workspace.defer(() => killByIdentity(left));
    await eventually('exit.json', () => job.has('exit.json'));
    assert.equal((await run(workspace, ['wait', job.id])).code, 0);
    const isKept = options.length > 0;
    assert.deepEqual(
      [job.state().reconciled, isAlive(left), job.state().warnings.length],
      [true, isKept, isKept ? 0 : 1],
    );
  }
});

test('--keep-children does not keep the tree of a canceled job', async (t) => {
  const workspace = makeWorkspace(t);
  const folder = join(workspace.base, 'tree');
  mkdirSync(folder);
  const command = ['sh', program('grow-tree.sh'), folder];
  const job = await launch(workspace, ['--keep-children', '--kill-after', '200ms', '--', ...command]);
  const tree: [string, Identity][] = [];
  for (const name of ['child', 'stubborn', 'session', 'bare', 'daemon'])
    tree.push([name, await untilPid(join(folder, name))]);
  await untilStarted(job);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  for (const [name, identity] of tree) assert.equal(isAlive(identity), false, name);
});

async function launchLeaving(
  workspace: Workspace,
  exitCode: number,
  session = 'same',
  options: string[] = [],
  meanwhile?: (job: Job) => Promise<void>,
): Promise<{ job: Job; left: Identity }> {
  const name = join(workspace.base, `left-${session}${options.length}`);
  const go = `${name}-go`;
  const command = ['sh', program('leave-child.sh'), name, String(exitCode), go, session];
  const job = await launch(workspace, [...options, '--', ...command]);
  const left = await untilPid(name);
  await untilStarted(job);
  await meanwhile?.(job);
  writeFileSync(go, '');
  return { job, left };
}
