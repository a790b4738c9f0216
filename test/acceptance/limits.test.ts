/**
 * The hard limit: kept by the worker, by a replacement, and by the shim's guard when no worker can act, with nobody
 * waiting. Counted from launch, told apart from a patience that is over, and never a reason to start a command late.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { JobState } from '../../companion/src/core/job.ts';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  type Job,
  killNow,
  launch,
  launchHeld,
  launchUnstarted,
  program,
  untilGone,
  untilPid,
  untilStarted,
} from '../helpers/jobs.ts';
import { type Identity, isAlive, killByIdentity, readIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const members = ['child', 'stubborn', 'session', 'daemon'] as const;

test('a command that ignores TERM is timed out at its limit, by KILL after the grace', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, child } = await launchStubborn(workspace, ['--timeout', '2s', '--kill-after', '500ms']);
  const { code, stdout, stderr } = await run(workspace, ['wait', job.id]);
  assert.equal(code, 3);
  const state = checkTimedOut(job);
  assert.deepEqual([state.exit_code, state.signal, state.signal_certain], [137, 'SIGKILL', true]);
  assert.equal(isAlive(child), false);
  assert.match(stderr, /timed_out, hard_timeout: the hard limit of 2s was reached/);
  assert.match(stdout, /stubborn[\s\S]*restart /);
  assert.ok(lifeOf(state) >= 2_400, `it lived ${lifeOf(state)} ms`);
});

test('a command that obeys TERM is timed out as well, and so is one that then exits 0', async (t) => {
  const workspace = makeWorkspace(t);
  const polite = await launch(workspace, [
    '--timeout',
    '1s',
    '--',
    'sh',
    '-c',
    "trap 'exit 0' TERM; while :; do sleep 0.1; done",
  ]);
  const plain = await launch(workspace, ['--timeout', '1s', '--', 'sleep', '100']);
  assert.equal((await run(workspace, ['wait', '--all', polite.id, plain.id])).code, 3);
  assert.equal(checkTimedOut(polite).exit_code, 0);
  assert.deepEqual([checkTimedOut(plain).signal, plain.state().signal_certain], ['SIGTERM', true]);
});

test('a whole tree that is hard to end is gone after the limit', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, tree } = await launchTree(workspace, ['--timeout', '3s', '--kill-after', '500ms']);
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  checkTimedOut(job);
  for (const [name, identity] of tree) assert.equal(isAlive(identity), false, name);
});

test('the limit is kept without any worker and with nobody waiting, and a late wait says so', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, tree } = await launchTree(workspace, ['--timeout', '3s', '--kill-after', '0s']);
  await killNow('the worker', job.identity('worker'));
  for (const [name, identity] of tree) await untilGone(name, identity);
  await untilGone('the shim', job.identity('shim'));
  assert.equal(job.launch().generation, 1);
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  const state = checkTimedOut(job);
  assert.deepEqual([state.signal, state.reconciled, job.launch().generation], ['SIGTERM', true, 1]);
});

test('the limit is kept when a pending wait has replaced the worker', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, child } = await launchStubborn(workspace, ['--timeout', '4s', '--kill-after', '0s']);
  await killNow('the worker', job.identity('worker'));
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  checkTimedOut(job);
  assert.deepEqual([isAlive(child), job.launch().generation], [false, 2]);
});

test('a worker that is killed in the grace after the limit changes nothing about the reason', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, child } = await launchStubborn(workspace, ['--timeout', '2s', '--kill-after', '2s']);
  await eventually('the reason', () => job.has('started/reason'));
  await killNow('the worker', job.identity('worker'));
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  checkTimedOut(job);
  assert.equal(isAlive(child), false);
});

test('a replacement goes on with KILL when the worker was killed in the grace after --stall-after', async (t) => {
  const workspace = makeWorkspace(t);
  const noisy = join(workspace.base, 'noisy');
  // Blocked on a FIFO: nothing printed, no CPU.
  const script = 'trap "" TERM; mkfifo "$1"; read -r _ <"$1"; while :; do echo noise; sleep 0.1; done';
  const options = ['--stall-after', '1s', '--kill-after', '2s'];
  const job = await launch(workspace, [...options, '--', 'sh', '-c', script, 'sh', noisy]);
  await eventually('the reason', () => job.has('started/reason'));
  await killNow('the worker', job.identity('worker'));
  // From now on nothing is stalled; the first reason counts all the same.
  writeFileSync(noisy, '');
  await eventually('noise', () => job.text('output.log') !== '');
  const { code } = await run(workspace, ['wait', job.id, '--timeout', '15s']);
  if (code === 2) await run(workspace, ['cancel', job.id]);
  assert.equal(code, 3, 'nobody ended it');
  assert.deepEqual([job.state().state, job.state().error?.code, job.state().signal], ['failed', 'stalled', 'SIGKILL']);
});

test('the limit is kept when the worker is stopped, and readers say meanwhile that it is stopped', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, child } = await launchStubborn(workspace, ['--timeout', '4s', '--kill-after', '0s']);
  const worker = job.identity('worker');
  killByIdentity(worker, 'SIGSTOP');
  const longAgo = Date.now() / 1000 - 60;
  utimesSync(job.path('lease.json'), longAgo, longAgo);
  const observed = await run(workspace, ['observe', job.id]);
  const picture = JSON.parse(observed.stdout) as Record<string, unknown>;
  assert.equal(observed.code, 2);
  assert.deepEqual(
    [picture.state, picture.health, picture.attention_kind],
    ['running', 'attention', 'monitor_attention'],
  );
  assert.match(String(picture.reason), /the worker is stopped .*kill -CONT \d+$/);
  assert.match((await run(workspace, ['status', job.id])).stdout, /^health: +attention/m);
  // It is a judgement of the reader, not a fact of the job.
  assert.deepEqual([job.state().health, job.state().attention_kind], ['unknown', null]);

  await untilGone('the command', child);
  await eventually('exit.json', () => job.has('exit.json'));
  assert.equal(job.state().state, 'running');
  killByIdentity(worker, 'SIGCONT');
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  checkTimedOut(job);
  assert.equal(job.launch().generation, 1);
});

test('a command that was not started before the limit of its job is never started', async (t) => {
  const workspace = makeWorkspace(t);
  const executions = join(workspace.base, 'executions');
  const command = ['sh', '-c', 'echo "$JOB_ID" >>"$1"', 'sh', executions];
  const job = await launchUnstarted(workspace, ['--timeout', '2s', '--', ...command]);
  const { created_at } = job.json<{ created_at: string }>('spec.json');
  await eventually('the limit to pass', () => Date.now() > Date.parse(created_at) + 2_100);
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  checkTimedOut(job);
  assert.equal(hasExecuted(executions, job), false, 'it was started after its limit');
});

test('a clock that is killed, as by `pkill sleep`, ends no job before its limit', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  await killClock(job);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.equal(job.has('started/reason'), false);
});

test('the limit is kept without a worker although the clock was killed', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, child } = await launchStubborn(workspace, ['--timeout', '3s', '--kill-after', '0s']);
  await killNow('the worker', job.identity('worker'));
  await killClock(job);
  await untilGone('the command', child);
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  const lifeMs = lifeOf(checkTimedOut(job));
  assert.ok(lifeMs >= 2_950, `struck after ${lifeMs} ms of 3 s`);
});

for (const signal of ['TERM', 'HUP', 'INT', 'QUIT', 'USR1', 'USR2', 'ALRM', 'CONT', 'WINCH']) {
  test(`a command that sends ${signal} to its whole group, as kill 0 does, hits neither shim nor clock`, async (t) => {
    const workspace = makeWorkspace(t);
    const script = 'trap "" "$1"; kill -s "$1" 0; sleep 0.3; echo survived';
    const job = await launch(workspace, ['--timeout', '1h', '--', 'sh', '-c', script, 'sh', signal]);
    const { code, stdout, stderr } = await run(workspace, ['wait', job.id]);
    assert.deepEqual([code, stdout, job.state().error], [0, 'survived\n', null], stderr);
  });
}

test("a command that ends by `trap 'kill 0' EXIT` ends by its own signal, not by a limit", async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launch(workspace, ['--timeout', '1h', '--', 'sh', '-c', "trap 'kill 0' EXIT; echo said"]);
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  const { state, error, signal, signal_certain } = job.state();
  assert.deepEqual([state, error?.code, signal, signal_certain], ['failed', 'signal', 'SIGTERM', true]);
});

test("the limit counts from launch; a wait's own patience and its end change nothing", async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--timeout', '1h'] });
  for (const patience of ['0s', '1s']) {
    const { code } = await run(workspace, ['wait', job.id, '--timeout', patience]);
    assert.deepEqual([code, job.state().state], [2, 'running']);
  }
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('a limit or a patience that is no duration or out of range is refused with the range, and nothing is created', async (t) => {
  const workspace = makeWorkspace(t);
  for (const limit of ['0s', '0', '10', '-5s', '31d', '1y', '', 'soon', '1e3s', '1.5', '99999999999999999999d']) {
    const { code, stdout, stderr } = await run(workspace, ['run', `--timeout=${limit}`, '--', 'true']);
    assert.deepEqual([code, stdout], [1, ''], limit);
    assert.match(stderr, /--timeout/, limit);
    assert.match(stderr, /30d/, limit);
  }
  const both = await run(workspace, ['run', '--timeout', '1s', '--deadline', '1s', '--', 'true']);
  assert.equal(both.code, 1);
  assert.equal(existsSync(workspace.path('.job-state')), false);
});

async function launchStubborn(workspace: Workspace, options: string[]): Promise<{ job: Job; child: Identity }> {
  const file = join(workspace.base, 'stubborn');
  const job = await launch(workspace, [...options, '--', 'sh', program('ignore-term.sh'), file]);
  const child = await untilPid(file);
  await untilStarted(job);
  return { job, child };
}

function hasExecuted(executions: string, job: Job): boolean {
  return existsSync(executions) && readFileSync(executions, 'utf8').includes(job.id);
}

async function launchTree(workspace: Workspace, options: string[]): Promise<{ job: Job; tree: [string, Identity][] }> {
  const folder = join(workspace.base, 'tree');
  mkdirSync(folder);
  const job = await launch(workspace, [...options, '--', 'sh', program('grow-tree.sh'), folder]);
  const tree: [string, Identity][] = [];
  for (const name of members) tree.push([name, await untilPid(join(folder, name))]);
  await untilStarted(job);
  return { job, tree };
}

function checkTimedOut(job: Job): JobState {
  const state = job.state();
  assert.deepEqual([state.state, state.error?.code], ['timed_out', 'hard_timeout']);
  assert.equal(job.events('ended').length, 1);
  assert.match(readFileSync(job.path('result.md'), 'utf8'), /timed_out \(hard_timeout\)/);
  return state;
}

/** From the launch on, as the limit counts. */
function lifeOf({ created_at, ended_at }: JobState): number {
  return Date.parse(ended_at ?? '') - Date.parse(created_at);
}

/** The process by which the shim's guard knows the time. */
async function killClock(job: Job): Promise<void> {
  const [, pid] = job.text('started/guard').trim().split(' ');
  const clock = readIdentity(Number(pid));
  assert.ok(clock, 'there is no clock');
  await killNow('the clock', clock);
}
