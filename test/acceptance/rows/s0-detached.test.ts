/**
 * S0, launchers that detach themselves: the limit bounds the watching only, and the task is asked by its own status command.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import type { Spec } from '../../../companion/src/core/job.ts';
import { parseReply, run } from '../../helpers/companion.ts';
import { untilPid } from '../../helpers/jobs.ts';
import { isAlive, killByIdentity } from '../../helpers/process.ts';
import { runToEnd } from '../../helpers/rows.ts';
import { makeWorkspace, type Workspace } from '../../helpers/workspace.ts';

/** Starts something that goes on by itself and stays beside it. */
const launcher = (pid: string) => [
  'sh',
  '-c',
  `setsid sh -c 'echo $$ >"$0.new" && mv "$0.new" "$0"; exec sleep 300' "$0" & while :; do sleep 0.2; done`,
  pid,
];

test('S0.33 the limit of a detached launcher ends the watching, and the task that it bound lives on', async (t) => {
  const workspace = makeWorkspace(t);
  const pid = join(workspace.base, 'pid');
  const status = `echo '{"identity":"task-7","status":"running","exit_code":null}'`;
  const options = ['--status-cmd', status, '--identity', 'task-7', '--timeout', '2s', '--kill-after', '1s'];
  const { wait, job, state } = await runToEnd(workspace, [...options, '--', ...launcher(pid)]);
  const task = await untilPid(pid);
  workspace.defer(() => killByIdentity(task));
  const bound = job.json<Spec>('spec.json').run;
  assert.deepEqual([bound?.status_cmd, bound?.identity], [status, 'task-7']);
  assert.deepEqual([wait.code, state.state, state.error?.code], [3, 'timed_out', 'hard_timeout']);
  assert.equal(isAlive(task), true);
  assert.equal(state.task_status, 'running');
  // One without the other is no binding.
  for (const half of [options.slice(0, 2), options.slice(2, 4)])
    assert.equal((await run(workspace, ['run', ...half, '--', 'true'])).code, 1);
});

test('S0.48 the status command is asked at the end, and unknown is what it says of another task', async (t) => {
  const workspace = makeWorkspace(t);
  const other = await ask(workspace, '{"identity":"task-8","status":"done","exit_code":0}');
  assert.deepEqual([other.task_status, other.task_exit_code], ['unknown', 'unknown']);
  const own = await ask(workspace, '{"identity":"task-7","status":"failed","exit_code":4}');
  assert.deepEqual([own.task_status, own.task_exit_code], ['failed', 4]);
  // The launcher's own end is told apart from that of its task.
  assert.deepEqual([own.state, own.exit_code], ['done', 0]);
  assert.equal(workspace.read('../asked'), 'asked\nasked\n');
});

async function ask(workspace: Workspace, answer: string): Promise<Record<string, unknown>> {
  const status = `echo asked >>${join(workspace.base, 'asked')}; echo '${answer}'`;
  const { job } = await runToEnd(workspace, ['--status-cmd', status, '--identity', 'task-7', '--', 'true']);
  return parseReply(await run(workspace, ['result', job.id, '--json']));
}
