/**
 * `run` as its callers see it: the command's own exit code decides, a death by signal is told apart from a code that only
 * looks like one, and real durations are recorded.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JobState } from '../../companion/src/core/job.ts';
import { run } from '../helpers/companion.ts';
import { launch, program } from '../helpers/jobs.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

test('run and wait give 3, exit code 3 and the real duration for a command that exits 3 after two seconds', async (t) => {
  const workspace = makeWorkspace(t);
  const before = Date.now();
  const { code, state, stderr } = await collect(workspace, ['sh', '-c', 'echo said; sleep 2; exit 3']);
  const wholeMs = Date.now() - before;
  assert.deepEqual([code, state.state, state.exit_code, state.error?.code], [3, 'failed', 3, 'exit_nonzero']);
  assert.deepEqual([state.signal, state.signal_certain], [null, null]);
  // File times are a few milliseconds coarse.
  assert.ok(
    state.duration_ms !== null && state.duration_ms >= 1_980 && state.duration_ms <= wholeMs,
    `${state.duration_ms}`,
  );
  assert.match(stderr, /exit code 3/);
});

test('run and wait give 0 for a command that exits 0, and stdout is what it printed', async (t) => {
  const { code, state, stdout } = await collect(makeWorkspace(t), ['sh', '-c', 'echo said; sleep 2; exit 0']);
  assert.deepEqual([code, stdout], [0, 'said\n']);
  assert.deepEqual([state.state, state.exit_code, state.error, state.warnings], ['done', 0, null, []]);
  assert.ok(state.duration_ms !== null && state.duration_ms >= 1_980, `${state.duration_ms}`);
});

test('a command that exits 124 is failed, not timed out', async (t) => {
  const { code, state } = await collect(makeWorkspace(t), ['sh', '-c', 'exit 124']);
  assert.deepEqual([code, state.state, state.exit_code, state.error?.code], [3, 'failed', 124, 'exit_nonzero']);
  assert.equal(state.signal, null);
});

for (const [signal, exitCode] of [
  ['KILL', 137],
  ['TERM', 143],
  ['SEGV', 139],
  ['ABRT', 134],
] as const) {
  test(`a command that is ended by SIG${signal} is failed and names the signal for certain`, async (t) => {
    const { code, state, stdout } = await collect(makeWorkspace(t), ['sh', program('end-by-signal.sh'), signal]);
    assert.deepEqual([code, state.state, state.error?.code], [3, 'failed', 'signal']);
    assert.deepEqual([state.exit_code, state.signal, state.signal_certain], [exitCode, `SIG${signal}`, true]);
    assert.match(state.error?.message ?? '', new RegExp(`SIG${signal}`));
    // Only a KILL that nobody of us sent smells of the kernel.
    assert.equal(/memory/.test(state.error?.message ?? ''), signal === 'KILL');
    // The report keeps what was printed.
    assert.match(stdout, new RegExp(`before ${signal}`));
  });
}

test('a command that exits 137 by itself is failed, and its signal is not certain', async (t) => {
  const { code, state, stdout } = await collect(makeWorkspace(t), ['sh', '-c', 'exit 137']);
  assert.deepEqual([code, state.state, state.error?.code], [3, 'failed', 'exit_nonzero']);
  assert.deepEqual([state.exit_code, state.signal, state.signal_certain], [137, 'SIGKILL', false]);
  assert.match(stdout, /not certain/);
});

test('a shell that answers its child by 128 plus the signal is not certain either', async (t) => {
  const command = ['sh', '-c', 'sh "$1" TERM; exit $?', 'outer', program('end-by-signal.sh')];
  const { state } = await collect(makeWorkspace(t), command);
  assert.deepEqual([state.exit_code, state.signal, state.signal_certain], [143, 'SIGTERM', false]);
});

test('--success-exit makes another exit code the success, and 0 a failure', async (t) => {
  const workspace = makeWorkspace(t);
  const good = await collect(workspace, ['sh', '-c', 'exit 5'], ['--success-exit', '5']);
  assert.deepEqual([good.code, good.state.state, good.state.exit_code], [0, 'done', 5]);
  const bad = await collect(workspace, ['true'], ['--success-exit', '5']);
  assert.deepEqual([bad.code, bad.state.error?.code, bad.state.exit_code], [3, 'exit_nonzero', 0]);
});

test('run --wait gives the same code and stdout as run and then wait', async (t) => {
  const workspace = makeWorkspace(t);
  const done = await run(workspace, ['run', '--wait', '--', 'sh', '-c', 'echo one; echo two']);
  assert.deepEqual([done.code, done.stdout], [0, 'one\ntwo\n']);
  const failed = await run(workspace, ['run', '--wait', '--', 'sh', '-c', 'echo noise >&2; exit 9']);
  assert.equal(failed.code, 3);
  assert.match(failed.stdout, /exited with code 9[\s\S]*noise/);
});

async function collect(workspace: Workspace, command: string[], options: string[] = []) {
  const job = await launch(workspace, [...options, '--', ...command]);
  const waited = await run(workspace, ['wait', job.id]);
  const state: JobState = job.state();
  // Whoever asks later gets the same code and the same bytes.
  const again = await run(workspace, ['result', job.id]);
  assert.deepEqual([again.code, again.stdout], [waited.code, waited.stdout]);
  return { ...waited, state, job };
}
