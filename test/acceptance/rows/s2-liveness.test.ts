/**
 * S2, how a job is doing: told from signals that it does not write by choice, by more than one look, and never an end.
 */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Checkpoint } from '../../../companion/src/core/job.ts';
import { parseReply, run } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { type Job, launch, launchHeld, makeHold, untilHeld } from '../../helpers/jobs.ts';
import { makeStaff } from '../../helpers/staff.ts';
import { makeWorkspace, type Workspace } from '../../helpers/workspace.ts';

const often = ['--checkpoint-every', '500ms', '--sample-every', '250ms'];
const onLinux = { skip: process.platform === 'linux' ? false : 'there is no CPU time here' };
const limit = { limitMs: 60_000 };
const checkpointsOf = (job: Job) => job.events('checkpoint') as unknown as (Checkpoint & { seq: number })[];
const untilReason = (job: Job, pattern: RegExp) =>
  eventually(`${pattern}`, () => checkpointsOf(job).find(({ reason }) => pattern.test(reason)), limit);

async function release(workspace: Workspace, job: Job & { release(): void }): Promise<void> {
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
}

test('S2.73 growth of a file that was named as log or result is progress, seen by the worker', async (t) => {
  const workspace = makeWorkspace(t);
  for (const name of ['log', 'result']) workspace.write(name, '1');
  const job = await launchHeld(workspace, { options: ['--log', 'log', '--result', 'result', ...often] });
  for (const name of ['log', 'result']) {
    await eventually('a checkpoint', () => checkpointsOf(job).length > 0, limit);
    appendFileSync(workspace.path(name), '23');
    await untilReason(job, new RegExp(`\\b${name}\\b`));
  }
  await release(workspace, job);
});

test(
  'S2.74 a heartbeat that a child writes keeps nothing alive, and one that stands still ends nothing',
  onLinux,
  async (t) => {
    const workspace = makeWorkspace(t);
    workspace.write('heartbeat', 'alive since 1970\n');
    const job = await launchHeld(workspace, { options: ['--log', 'heartbeat', ...often] });
    await eventually('attention', () => job.state().attention_kind === 'task_attention', limit);
    const count = checkpointsOf(job).length;
    await eventually('more of it', () => checkpointsOf(job).length > count + 2, limit);
    const seen = parseReply(await run(workspace, ['observe', job.id]));
    assert.deepEqual([seen.state, seen.supervision], ['running', 'supervised']);
    await release(workspace, job);
  },
);

test(
  'S2.75 at work, waiting for what it started, and waiting for nothing are three things, for a run and for an agent',
  onLinux,
  async (t) => {
    const workspace = makeWorkspace(t);
    const dead = await launchHeld(workspace, { options: often });
    await untilReason(dead, /dead_wait/);
    assert.equal(dead.state().attention_kind, 'task_attention');
    const end = join(workspace.base, 'end');
    // The shell waits; what it started computes until the end.
    const script = `sh -c 'while [ ! -e "$0" ]; do :; done' "$0" & wait`;
    const busy = await launch(workspace, [...often, '--', 'sh', '-c', script, end]);
    await eventually('five checkpoints', () => checkpointsOf(busy).length >= 5, limit);
    assert.ok(!checkpointsOf(busy).some(({ reason }) => /dead_wait/.test(reason)));

    const staff = makeStaff(workspace);
    const words = ['--prompt', 'x', '--quiet-after', '2s'];
    const hold = makeHold(workspace);
    staff.act(`exec ${hold.command.join(' ')}`);
    const agent = await staff.launch('staffer', words);
    await untilHeld(hold);
    await eventually('a dead wait', () => agent.events('liveness').some(({ word }) => word === 'dead_wait'), limit);
    await eventually('attention', () => agent.state().attention_kind === 'task_attention', limit);
    assert.equal(agent.state().state, 'running');
    hold.release();
    await run(workspace, ['wait', agent.id]);
    appendFileSync(end, '');
    assert.equal((await run(workspace, ['wait', busy.id])).code, 0);
    await release(workspace, dead);
  },
);

test(
  'S2.77 what was decided about a stall beforehand comes with the attention, to every reader',
  onLinux,
  async (t) => {
    const workspace = makeWorkspace(t);
    const decision = 'at 14:30: cancel, then restart with --verbose';
    const job = await launchHeld(workspace, { options: ['--on-stall', decision, ...often] });
    const woken = await run(workspace, ['wait', job.id, '--until', 'attention', '--timeout', '50s']);
    assert.equal(woken.code, 2);
    assert.ok(woken.stderr.includes(decision), woken.stderr);
    assert.ok(woken.stdout.includes(decision));
    assert.ok((await run(workspace, ['status', job.id])).stdout.includes(decision));
    await release(workspace, job);
  },
);

test('S2.91 a checkpoint rests on CPU, output, descendants and files, and says on which', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: often });
  await untilReason(job, /no CPU, no output, no descendants|no CPU, no output and no descendant/);
  await release(workspace, job);
  const end = join(workspace.base, 'end');
  const script = `while [ ! -e "$0" ]; do echo line; sleep 0.1; done`;
  const loud = await launch(workspace, [...often, '--', 'sh', '-c', script, end]);
  await untilReason(loud, /output/);
  appendFileSync(end, '');
  assert.equal((await run(workspace, ['wait', loud.id])).code, 0);
});

test('S2.92 attention takes two looks in a row at least, of a run and of an agent', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: often });
  const told = await untilReason(job, /dead_wait/);
  assert.ok(told.n >= 2, `${told.n}`);
  for (const early of checkpointsOf(job).filter(({ n }) => n < told.n)) assert.notEqual(early.state, 'attention');
  await release(workspace, job);
  const staff = makeStaff(workspace);
  const hold = makeHold(workspace);
  staff.act(`exec ${hold.command.join(' ')}`);
  const agent = await staff.launch('staffer', ['--prompt', 'x', '--quiet-after', '2s']);
  await untilHeld(hold);
  const event = await eventually('it', () => agent.events('liveness').find(({ word }) => word === 'dead_wait'), limit);
  assert.ok(Number(event.observations) >= 2, JSON.stringify(event));
  hold.release();
  await run(workspace, ['wait', agent.id]);
});
