/**
 * A `run` over a launcher that detaches its task (contract 8, S0.33, S0.48): the job watches, and only the watching ends at the limit or by
 * cancel, whoever ends it. The launcher's status command is asked once; what it says of the task that was named is told beside the
 * outcome, anything else is unknown. The launcher here is a real one: its task is in a session of its own and has no parent.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { JobState } from '../../companion/src/core/job.ts';
import { parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  findJob,
  type Job,
  killNow,
  killSupervision,
  launch,
  launchHeld,
  launchUnstarted,
  program,
  untilGone,
} from '../helpers/jobs.ts';
import { type Identity, isAlive, killByIdentity, readIdentity } from '../helpers/process.ts';
import { makeStaff } from '../helpers/staff.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

test('a task that ends while its launcher watches is told with its own exit code', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, task, name } = await launchTask(workspace);
  writeFileSync(`${name}.fifo`, '5\n');
  const { code, stdout, stderr } = await run(workspace, ['wait', job.id]);
  const state = job.state();
  assert.deepEqual([code, state.state, state.error?.code, state.exit_code], [3, 'failed', 'exit_nonzero', 5]);
  assert.deepEqual([state.task_status, state.task_exit_code, state.warnings], ['ended', 5, []]);
  assert.match(stderr, /^task t1: ended, exit code 5$/m);
  assert.match(stdout, /^Task: t1: ended, exit code 5$/m);
  await untilGone('the task', task);
});

test('at the hard limit only the watching ends: the task lives on, and the record says so', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, task, child } = await launchTask(workspace, ['--timeout', '4s', '--kill-after', '1s']);
  const { code, stdout, stderr } = await run(workspace, ['wait', job.id]);
  const state = job.state();
  assert.deepEqual([code, state.state, state.error?.code], [3, 'timed_out', 'hard_timeout']);
  assert.deepEqual([isAlive(child), isAlive(task)], [false, true]);
  checkLeft(state, task, 'hard_timeout');
  assert.match(stderr, /^task t1: running, exit code unknown$/m);
  assert.match(stderr, new RegExp(`^warning: only the watching over the task has ended .* ${task.pid} \\(`, 'm'));
  assert.match(stdout, /a restart would start another: ask for it first: sh -c /);
  const record = parseReply<JobState>(await run(workspace, ['result', job.id, '--json']));
  assert.deepEqual([record.task_status, record.task_exit_code], ['running', 'unknown']);
  const observed = parseReply<JobState>(await run(workspace, ['observe', job.id]));
  assert.deepEqual([observed.task_status, observed.task_exit_code], ['running', 'unknown']);
  assert.match((await run(workspace, ['status', job.id])).stdout, /^task: +t1: running, exit code unknown$/m);
});

test('a cancel ends the watching, and says to whoever canceled that the task lives on', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, task, child } = await launchTask(workspace);
  const canceled = await run(workspace, ['cancel', job.id]);
  assert.equal(canceled.code, 0, canceled.stderr);
  assert.deepEqual([isAlive(child), isAlive(task), job.state().state], [false, true, 'canceled']);
  checkLeft(job.state(), task, 'canceled');
  assert.match(canceled.stderr, /^task t1: running, exit code unknown$/m);
  assert.match(canceled.stderr, /only the watching over the task has ended/);
});

test('the guard ends no more than that when no worker lives, and touches no other job', async (t) => {
  const workspace = makeWorkspace(t);
  const other = await launchHeld(workspace);
  const { job, task, child } = await launchTask(workspace, ['--timeout', '4s', '--kill-after', '0s']);
  const shim = job.identity('shim');
  await killNow('the worker', job.identity('worker'));
  await untilGone('the launcher', child);
  await untilGone('the shim', shim);
  assert.deepEqual([isAlive(task), isAlive(other.identity('child'))], [true, true]);
  // Whoever waits publishes it, and asks.
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  const state = job.state();
  assert.deepEqual([state.state, state.error?.code, state.reconciled], ['timed_out', 'hard_timeout', true]);
  checkLeft(state, task, 'hard_timeout');
  assert.equal(isAlive(task), true);
  other.release();
  assert.equal((await run(workspace, ['wait', other.id])).code, 0);
});

test('a reader that settles a job of which everything is lost leaves the task alone as well', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, task, child } = await launchTask(workspace);
  await killSupervision(job);
  // Whoever only looks leaves the question, and the end, to `wait`.
  const looked = await run(workspace, ['observe', job.id]);
  const { reason, next } = parseReply<{ reason: string; next: { wait: string } }>(looked);
  assert.equal(looked.code, 2);
  assert.match(reason, /it is over, and how its task stands was not asked yet; the next wait asks/);
  assert.match(next.wait, new RegExp(` wait ${job.id} `));
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  const state = job.state();
  assert.deepEqual([state.state, state.error?.code], ['crashed', 'worker_lost']);
  assert.deepEqual([isAlive(child), isAlive(task)], [false, true]);
  checkLeft(state, task, 'worker_lost');
});

test('a status command that hangs keeps nobody waiting who only looks, launches or comes too late to cancel', async (t) => {
  const workspace = makeWorkspace(t);
  const asked = join(workspace.base, 'asked');
  const line = `echo x >>'${asked}'; exec sleep 1000`;
  const job = await launchHeld(workspace, { options: ['--status-cmd', line, '--identity', 't1'] });
  const worker = job.identity('worker');
  killByIdentity(worker, 'SIGSTOP');
  job.release();
  await eventually('the end on disk', () => job.has('exit.json'));
  await killNow('the worker', worker);
  for (const words of [
    ['observe', job.id],
    ['status', job.id],
  ])
    assert.equal((await run(workspace, words)).code, 2);
  const canceled = await run(workspace, ['cancel', job.id]);
  assert.equal(canceled.code, 1);
  assert.match(canceled.stderr, /its command has ended; how its task stands was not asked yet/);
  assert.match(canceled.stderr, new RegExp(` wait ${job.id}`));
  const staff = makeStaff(workspace);
  assert.equal((await staff.staff('staffer')).code, 0);
  assert.deepEqual([existsSync(asked), job.has('cancel.json'), job.state().state], [false, false, 'running']);
  // It is asked by whoever waits.
  const { code } = await run(workspace, ['wait', job.id], { limitMs: 120_000 });
  assert.deepEqual([code, job.state().task_status, readFileSync(asked, 'utf8')], [0, 'unknown', 'x\n']);
});

test('what a launcher leaves in its own session is ended with it, and what it leaves at its own end is kept', async (t) => {
  const workspace = makeWorkspace(t);
  const options = ['--status-cmd', 'echo {}', '--identity', 'x'];
  const script = 'sleep 100 & echo $! >pid; wait';
  const job = await launch(workspace, [...options, '--timeout', '2s', '--kill-after', '1s', '--', 'sh', '-c', script]);
  const inside = await untilTask(workspace.path('pid'));
  await run(workspace, ['wait', job.id]);
  assert.deepEqual([job.state().error?.code, isAlive(inside)], ['hard_timeout', false]);
  const kept = await launch(workspace, [...options, '--', 'sh', '-c', 'sleep 100 >/dev/null 2>&1 & echo $! >kept']);
  await run(workspace, ['wait', kept.id]);
  const left = await untilTask(workspace.path('kept'));
  workspace.defer(() => killByIdentity(left));
  assert.deepEqual([kept.state().state, isAlive(left)], ['done', true]);
});

for (const [what, line, why] of [
  ['names another task', `echo '{"identity":"t2","status":"ended","exit_code":0}'`, 'names another task \\(t2\\)'],
  ['prints garbage', 'echo all fine', 'printed no JSON object'],
  ['prints nothing', 'true', 'printed no JSON object'],
  ['fails', 'echo no route >&2; exit 3', 'exited with code 3 \\(no route\\)'],
  ['is no program', '/no/such/status', 'exited with code 127 \\('],
  ['floods', 'yes', 'printed more than 64.0 KiB'],
] as const) {
  test(`a status command that ${what} makes the task unknown and the outcome no other`, async (t) => {
    const workspace = makeWorkspace(t);
    const options = ['--status-cmd', line, '--identity', 't1', '--success-exit', '4'];
    const job = await launch(workspace, [...options, '--', 'sh', '-c', 'echo said; exit 4']);
    const { code, stdout, stderr } = await run(workspace, ['wait', job.id]);
    const state = job.state();
    assert.deepEqual([code, state.state, state.error, stdout], [0, 'done', null, 'said\n']);
    assert.deepEqual([state.task_status, state.task_exit_code], ['unknown', 'unknown']);
    assert.match(stderr, new RegExp(`^warning: how the task stands is not known: the status command ${why}`, 'm'));
    assert.match(stderr, /^task t1: unknown, exit code unknown$/m);
  });
}

test('the status command is asked once, in the folder and with the environment of the command', async (t) => {
  const workspace = makeWorkspace(t);
  const line = `echo "$PWD $SECRET $JOB_ID" >>../asked; printf '{"identity":"t1","status":"ok"}'`;
  workspace.write('sub/file', '');
  const words = ['--cwd', 'sub', '--status-cmd', line, '--identity', 't1', '--', 'true'];
  const job = await launch(workspace, words, { env: { SECRET: 'mine' } });
  for (const command of ['wait', 'result', 'status', 'observe']) await run(workspace, [command, job.id]);
  assert.equal(workspace.read('asked'), `${workspace.path('sub')} mine ${job.id}\n`);
});

test('what a status command leaves behind is ended, wherever it hid', async (t) => {
  const workspace = makeWorkspace(t);
  const hide = `setsid sh -c 'echo $$ >left; exec sleep 100' >/dev/null 2>&1 & until [ -s left ]; do sleep 0.05; done`;
  const line = `${hide}; echo '{"identity":"t1","status":"ok"}'`;
  const job = await launch(workspace, ['--status-cmd', line, '--identity', 't1', '--', 'true']);
  await run(workspace, ['wait', job.id]);
  assert.deepEqual([job.state().task_status, job.state().warnings], ['ok', []]);
  assert.equal(readIdentity(Number(workspace.read('left'))), undefined);
});

test('a restart keeps the status command, its identity and what follows from them', async (t) => {
  const workspace = makeWorkspace(t);
  const line = `echo '{"identity":"t1","status":"ok","exit_code":0}'`;
  const job = await launch(workspace, ['--status-cmd', line, '--identity', 't1', '--', 'true']);
  await run(workspace, ['wait', job.id]);
  const { stdout } = await run(workspace, ['restart', job.id, '--id-only']);
  const again = findJob(workspace, stdout.trim());
  await run(workspace, ['wait', again.id]);
  assert.deepEqual([again.state().task_status, again.state().task_exit_code], ['ok', 0]);
  assert.deepEqual(again.json<{ run: object }>('spec.json').run, job.json<{ run: object }>('spec.json').run);
});

test('a job that was canceled before its command began asks all the same', async (t) => {
  const workspace = makeWorkspace(t);
  const line = `echo '{"identity":"t1","status":"gone"}'`;
  const words = ['--status-cmd', line, '--identity', 't1', '--', 'touch', 'pwned'];
  const job = await launchUnstarted(workspace, words);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.deepEqual([job.state().state, job.state().task_status], ['canceled', 'gone']);
  assert.equal(existsSync(workspace.path('pwned')), false);
});

function checkLeft(state: JobState, task: Identity, reason: string): void {
  assert.deepEqual([state.task_status, state.task_exit_code], ['running', 'unknown']);
  const [left] = state.warnings.filter(({ code }) => code === 'task_left');
  const told = new RegExp(
    `^only the watching over the task has ended \\(${reason}\\); .*left alone: ${task.pid} \\(sh\\)$`,
  );
  assert.match(left?.message ?? '', told);
}

/** The launcher watches over a task that runs in a session of its own, until the test ends that by its pid. */
async function launchTask(
  workspace: Workspace,
  options: string[] = [],
): Promise<{ job: Job; task: Identity; child: Identity; name: string }> {
  const name = workspace.path('t1');
  const launcher = program('detaching-launcher.sh');
  const status = ['--status-cmd', `sh '${launcher}' status '${name}'`, '--identity', 't1'];
  const job = await launch(workspace, [...options, ...status, '--', 'sh', launcher, 'start', name]);
  const task = await untilTask(`${name}.pid`);
  workspace.defer(() => killByIdentity(task));
  await eventually('the child in worker.json', () => job.has('worker.json') && job.identity('child'));
  return { job, task, child: job.identity('child'), name };
}

async function untilTask(file: string): Promise<Identity> {
  await eventually(`a pid in ${file}`, () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  const identity = readIdentity(Number(readFileSync(file, 'utf8')));
  assert.ok(identity, `the process of ${file} is gone already`);
  return identity;
}
