/**
 * What a `run` must leave behind (contract 3, 4, 9): a success file that is new or changed, besides the exit code; result paths that are
 * told as they are at the end; and the command's own log, whose tail explains a failure.
 */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { JobState, ResultNote } from '../../companion/src/core/job.ts';
import { parseReply, run } from '../helpers/companion.ts';
import { findJob, type Job, killNow, launch, launchHeld, untilGone } from '../helpers/jobs.ts';
import { makeStaff, until } from '../helpers/staff.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

type Record = JobState & { result_paths: ResultNote[] };

test('a command that exits 0 without its success file is failed, and every missing file is named', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('old', 'x');
  const options = ['--success-file', 'out/new', '--success-file', 'old', '--success-file', 'made'];
  const { code, stdout, stderr, record } = await collect(workspace, options, 'echo said; echo x >made');
  assert.deepEqual([code, record.state, record.exit_code, record.error?.code], [3, 'failed', 0, 'artifact_missing']);
  const message = `neither new nor changed at the end: ${workspace.path('out/new')} (missing), ${workspace.path('old')} (unchanged since the launch)`;
  assert.equal(record.error?.message, message);
  assert.ok(stderr.includes(`failed, artifact_missing: ${message}; exit code 0,`), stderr);
  // The report tells the same, and what the command said.
  for (const part of [`Reason: ${message}`, `Success file: ${workspace.path('made')}: 2 B, new`, '\nsaid\n'])
    assert.ok(stdout.includes(part), `${part}\n---\n${stdout}`);
});

test('a success file that is new or changed is success, with the exit code that was asked for', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('model', 'epoch 1');
  const files = ['--success-file', 'model', '--success-file', 'deep/er/log'];
  const script = 'mkdir -p deep/er; echo epoch 2 >model; : >deep/er/log; echo fine; exit 7';
  const { code, stdout, stderr, record } = await collect(workspace, ['--success-exit', '7', ...files], script);
  assert.deepEqual([code, record.state, record.exit_code, stdout], [0, 'done', 7, 'fine\n']);
  assert.deepEqual(record.warnings, []);
  assert.ok(stderr.includes(`\nsuccess file: ${workspace.path('model')}: 8 B, changed\n`), stderr);
  assert.ok(stderr.includes(`\nsuccess file: ${workspace.path('deep/er/log')}: 0 B, new`), stderr);
});

test('the files alone are no success: a wrong exit code comes first', async (t) => {
  const { code, record } = await collect(makeWorkspace(t), ['--success-file', 'made'], 'echo x >made; exit 1');
  assert.deepEqual([code, record.error?.code, record.result_paths[0]?.changed], [3, 'exit_nonzero', true]);
});

test('result paths are told with size, time and whether they changed, and decide nothing', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('runs/1/a', 'x');
  const options = ['latest', 'table.csv', 'none', 'README.md'].flatMap((name) => ['--result', name]);
  const script = 'mkdir runs/2; ln -s runs/2 latest; printf 12345 >table.csv';
  const { code, stderr, record } = await collect(workspace, options, script);
  assert.deepEqual([code, record.state], [0, 'done']);
  assert.deepEqual(
    record.result_paths.map(({ path, required, exists, size, changed, link_to }) => [
      path,
      required,
      exists,
      size,
      changed,
      link_to,
    ]),
    [
      [workspace.path('latest'), false, true, null, true, workspace.path('runs/2')],
      [workspace.path('table.csv'), false, true, 5, true, null],
      [workspace.path('none'), false, false, null, false, null],
      [workspace.path('README.md'), false, true, 12, false, null],
    ],
  );
  assert.match(record.result_paths[1]?.mtime ?? '', /^20\d\d-\d\d-\d\dT[\d:.]+Z$/);
  const lines = stderr.split('\n').filter((line) => line.startsWith('result path: '));
  assert.deepEqual(lines, [
    `result path: ${workspace.path('latest')} -> ${workspace.path('runs/2')}: folder, new`,
    `result path: ${workspace.path('table.csv')}: 5 B, new`,
    `result path: ${workspace.path('none')}: missing`,
    `result path: ${workspace.path('README.md')}: 12 B, unchanged since the launch`,
  ]);
});

test('a run without any of it has an empty list', async (t) => {
  const { record } = await collect(makeWorkspace(t), [], 'true');
  assert.deepEqual(record.result_paths, []);
});

test('a reader that publishes the end without a worker looks at the files as well', async (t) => {
  const workspace = makeWorkspace(t);
  const options = ['--success-file', 'made', '--success-file', 'missing'];
  const job = await launchHeld(workspace, { options });
  await endWithoutWorker(workspace, job);
  const state = job.state();
  assert.deepEqual([state.state, state.error?.code, state.exit_code], ['failed', 'artifact_missing', 0]);
  assert.equal(state.reconciled, true);
  const { result_paths } = job.json<Record>('result.json');
  assert.deepEqual(
    result_paths.map(({ exists }) => exists),
    [true, false],
  );
});

test('paths count from the folder of the job', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('sub'));
  const { code } = await collect(workspace, ['--cwd', 'sub', '--success-file', 'made'], 'echo x >made');
  assert.equal(code, 0);
});

test('a restarted job needs its files new or changed once more, and keeps every other word', async (t) => {
  const workspace = makeWorkspace(t);
  const words = ['--expect', '2m', '--checkpoint-every', '10m', '--sample-every', '1m', '--probe', 'echo {}'];
  const more = ['--log', 'log', '--result', 'made', '--on-stall', 'look first', '--stall-after', '1h'];
  const options = [...words, ...more, '--probe-timeout', '3s', '--success-file', 'made', '--timeout', '5h'];
  const { job } = await collect(workspace, options, 'test -e made || echo x >made');
  assert.equal(job.state().state, 'done');
  const { stdout } = await run(workspace, ['restart', job.id, '--id-only']);
  const second = findJob(workspace, stdout.trim());
  assert.equal((await run(workspace, ['wait', second.id])).code, 3);
  assert.equal(second.state().error?.code, 'artifact_missing');
  const [before, after] = [job, second].map((one) =>
    one.json<{ run: object; on_stall: string; deadline_ms: number }>('spec.json'),
  );
  const part = (run: object | undefined) => ({ ...run, success_files: null, result_baselines: null });
  assert.deepEqual(part(after?.run), part(before?.run));
  assert.deepEqual([after?.on_stall, after?.deadline_ms], ['look first', 24 * 3_600_000]);
});

test('the same once-key with the same words is the same job, whatever its files are by then', async (t) => {
  const workspace = makeWorkspace(t);
  const words = (file: string) => [
    'run',
    '--once-key',
    'k',
    '--success-file',
    file,
    '--id-only',
    '--',
    'touch',
    'made',
  ];
  const first = await run(workspace, words('made'));
  await run(workspace, ['wait', first.stdout.trim()]);
  const second = await run(workspace, words('./made'));
  assert.deepEqual([second.code, second.stdout], [0, first.stdout]);
  const other = await run(workspace, words('other'));
  assert.equal(other.code, 1);
  assert.match(other.stderr, /has this key and another request/);
});

const lines200 = 'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); echo "line $i of log" >>train.log; done; echo on stdout';

test("a failed run tells the last 50 lines of the command's own log in the place of its stdout", async (t) => {
  const workspace = makeWorkspace(t);
  const { code, stdout, stderr } = await collect(workspace, ['--log', 'train.log'], `${lines200}; exit 1`);
  const told = stdout.split('\n').filter((line) => /^line \d+ of log$/.test(line));
  assert.deepEqual([code, told.length, told[0], told.at(-1)], [3, 50, 'line 151 of log', 'line 200 of log']);
  assert.ok(stdout.includes(`## Last lines of ${workspace.path('train.log')}\n`));
  assert.ok(!stdout.includes('## Last output'));
  assert.ok(stderr.includes(`\nlog: ${workspace.path('train.log')}`), stderr);
});

test('a run that succeeds prints its stdout, whatever its log says', async (t) => {
  const { code, stdout } = await collect(makeWorkspace(t), ['--log', 'train.log'], lines200);
  assert.deepEqual([code, stdout], [0, 'on stdout\n']);
});

test('a log is told as plain text and at most 8 KiB of it, also through a link', async (t) => {
  const workspace = makeWorkspace(t);
  const script = `head -c 300000 /dev/zero | tr '\\0' x >real.log; printf '\\033[31mred\\n' >>real.log; ln -s real.log link.log; exit 1`;
  const { stdout } = await collect(workspace, ['--log', 'link.log'], script);
  assert.ok(!stdout.includes('\x1b'));
  assert.match(stdout, /xxxred\n/);
  assert.ok(Buffer.byteLength(stdout) < 12_000, `${Buffer.byteLength(stdout)} bytes`);
});

for (const [what, script, note] of [
  ['missing', 'true', 'it is missing'],
  ['empty', ': >the.log', 'it is empty'],
  ['a folder', 'mkdir the.log', 'it is no regular file'],
  ['a FIFO that nobody writes', 'mkfifo the.log', 'it is no regular file'],
  ['a cycle of links', 'ln -s the.log the.log', 'it cannot be read (ELOOP)'],
] as const) {
  test(`a log that is ${what} is said, and stdout is told instead`, async (t) => {
    const workspace = makeWorkspace(t);
    const { stdout } = await collect(workspace, ['--log', 'the.log'], `${script}; echo on stdout; exit 1`);
    assert.ok(stdout.includes(`The log ${workspace.path('the.log')} tells nothing: ${note}.`), stdout);
    assert.ok(stdout.includes('## Last output\n\non stdout'), stdout);
  });
}

test('a log of an earlier run is told as such, beside stdout', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('the.log', 'an old end\n');
  const { stdout } = await collect(workspace, ['--log', 'the.log'], 'echo on stdout; exit 1');
  assert.ok(stdout.includes(`the.log (not written since the launch)\n\nan old end`), stdout);
  assert.ok(stdout.includes('## Last output\n\non stdout'), stdout);
});

test('what was decided for a stall is in the report of a run that stalled, and in no other', async (t) => {
  const workspace = makeWorkspace(t);
  const options = ['--stall-after', '1s', '--on-stall', 'Look at the queue\x1b[31m first.'];
  const stalled = await collect(workspace, options, 'sleep 100');
  assert.deepEqual([stalled.code, stalled.record.error?.code], [3, 'stalled']);
  assert.ok(stalled.stdout.includes('## Decided at launch for a stall\n\nLook at the queue first.\n'), stalled.stdout);
  const failed = await collect(workspace, options, 'exit 1');
  assert.ok(!failed.stdout.includes('Look at the queue'));
});

test('an agent has --on-stall as well, and its restart keeps it', async (t) => {
  const workspace = makeWorkspace(t);
  const { act, staff, launch: launchStaff } = makeStaff(workspace);
  act(until(workspace.path('never')));
  const job = await launchStaff('staffer', ['--prompt', 'x', '--stall-after', '1s', '--on-stall', 'Ask me.']);
  const { code, stdout } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, job.state().error?.code], [3, 'stalled']);
  assert.ok(stdout.includes('## Decided at launch for a stall\n\nAsk me.'), stdout);
  act('echo answer');
  const again = await run(workspace, ['restart', job.id, '--id-only']);
  assert.equal(findJob(workspace, again.stdout.trim()).json<{ on_stall: string }>('spec.json').on_stall, 'Ask me.');
  await run(workspace, ['wait', again.stdout.trim()]);
  assert.equal((await staff('staffer', ['--prompt', 'x', '--on-stall', ''])).code, 1);
});

test('a result path that lost its form in the record is left out and breaks no reader', async (t) => {
  const workspace = makeWorkspace(t);
  const { job } = await collect(workspace, ['--result', 'made'], 'touch made');
  const record = job.json<Record>('result.json');
  workspace.write(
    `.job-state/jobs/${job.id}/result.json`,
    JSON.stringify({ ...record, result_paths: [{ path: 5 }, null] }),
  );
  const { code, stderr } = await run(workspace, ['result', job.id]);
  assert.equal(code, 0, stderr);
  assert.ok(!stderr.includes('result path'));
});

test('a path that is a link out of the worktree is said to be one', async (t) => {
  const workspace = makeWorkspace(t);
  const outside = join(workspace.base, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, workspace.path('out'));
  const { stderr } = await collect(workspace, ['--result', 'out'], 'true');
  assert.ok(stderr.includes(`result path: ${workspace.path('out')} -> ${outside}: folder, unchanged`), stderr);
});

async function endWithoutWorker(workspace: Workspace, job: Job & { release(): void }): Promise<void> {
  const shim = job.identity('shim');
  await killNow('the worker', job.identity('worker'));
  workspace.write('made', 'x');
  job.release();
  await untilGone('the shim', shim);
  await run(workspace, ['observe', job.id]);
}

async function collect(workspace: Workspace, options: string[], script: string) {
  const job = await launch(workspace, [...options, '--', 'sh', '-c', script]);
  const waited = await run(workspace, ['wait', job.id]);
  const record = parseReply<Record>(await run(workspace, ['result', job.id, '--json']));
  return { ...waited, record, job };
}

test('a restart and a second launch with the same key keep --checkpoint-every auto', async (t) => {
  const workspace = makeWorkspace(t);
  const words = ['run', '--once-key', 'night', '--checkpoint-every', 'auto:10m', '--id-only', '--', 'true'];
  const first = findJob(workspace, (await run(workspace, words)).stdout.trim());
  assert.equal((await run(workspace, ['wait', first.id])).code, 0);
  assert.equal((await run(workspace, words)).stdout.trim(), first.id);
  const other = await run(
    workspace,
    words.map((word) => (word === 'auto:10m' ? '10m' : word)),
  );
  assert.notEqual(other.code, 0, other.stdout);
  const second = findJob(workspace, (await run(workspace, ['restart', first.id, '--id-only'])).stdout.trim());
  assert.equal((await run(workspace, ['wait', second.id])).code, 0);
  for (const job of [first, second]) {
    const { checkpoint_ms, checkpoint_fast_ms } = job.json<{
      run: { checkpoint_ms: number; checkpoint_fast_ms: number };
    }>('spec.json').run;
    assert.deepEqual([checkpoint_ms, checkpoint_fast_ms], [600_000, 120_000]);
  }
});
