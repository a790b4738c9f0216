/**
 * Waiting for `run` jobs: the codes of one and of several, what goes to stdout and what to stderr, to the byte, and that a
 * wait is silent until its end.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, launch, launchHeld, makeHold, program, untilHeld } from '../helpers/jobs.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

interface Document {
  id: string;
  state: string;
  exit_code: number | null;
  error: { code: string } | null;
  duration_ms: number | null;
  output_path: string;
  next: { wait: string };
}
interface Documents {
  jobs: Document[];
  pending: string[];
}

test('wait --all gives 0 when all are done, 4 when one was canceled, 3 when one failed', async (t) => {
  const workspace = makeWorkspace(t);
  const done = await launch(workspace, ['--', 'echo', 'first']);
  const other = await launch(workspace, ['--', 'echo', 'second']);
  const failed = await launch(workspace, ['--', 'sh', '-c', 'exit 3']);
  const canceled = await launchHeld(workspace);
  assert.equal((await run(workspace, ['cancel', canceled.id])).code, 0);

  const all = (...jobs: Job[]) => run(workspace, ['wait', '--all', ...jobs.map(({ id }) => id)]);
  const good = await all(done, other);
  assert.deepEqual([good.code, good.stdout], [0, 'first\nsecond\n']);
  assert.equal((await all(done, canceled)).code, 4);
  assert.equal((await all(done, canceled, failed)).code, 3);
});

test('of several jobs the results follow each other in a pipe, and stderr says whose they are; of one it is verbatim', async (t) => {
  const workspace = makeWorkspace(t);
  const bare = await launch(workspace, ['--', 'printf', 'no newline']);
  // `--any` below is about the one that ended first.
  assert.equal((await run(workspace, ['wait', bare.id])).code, 0);
  const silent = await launch(workspace, ['--', 'true']);
  const failed = await launch(workspace, ['--', 'false']);
  const all = await run(workspace, ['wait', '--all', bare.id, silent.id, failed.id]);
  assert.equal(all.stdout, `no newline\n${failed.text('result.md')}`);
  const heads = all.stderr.split('\n').flatMap((line) => /^(run-\S+): /.exec(line)?.[1] ?? []);
  assert.deepEqual(heads, [bare.id, silent.id, failed.id]);
  const any = await run(workspace, ['wait', '--any', bare.id, silent.id]);
  assert.equal(any.stdout, 'no newline');
  for (const words of [[bare.id], ['--all', bare.id], ['--any', bare.id, bare.id]])
    assert.equal((await run(workspace, ['wait', ...words])).stdout, 'no newline');
});

test('Ctrl-C during a wait says that the job runs on and how to collect it, and ends by the signal', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace);
  const second = await launchHeld(workspace);
  const interrupt = async (words: string[], awaited: Job) => {
    const waiting = start(workspace, words);
    await untilAwaited(awaited);
    waiting.kill('SIGINT');
    const { code, signal, stdout, stderr } = await waiting.promise;
    assert.deepEqual([code, signal, stdout], [null, 'SIGINT', '']);
    return stderr.trimEnd().split('\n');
  };
  const [said, collect] = await interrupt(['wait', held.id], held);
  assert.equal(said, `job ${held.id} runs on; collect it with:`);
  const [, both] = await interrupt(['wait', '--any', held.id, second.id], second);
  assert.deepEqual([held.state().state, second.state().state], ['running', 'running']);
  held.release();
  second.release();
  const paste = (command = '') => execFileSync('sh', ['-c', command], { cwd: workspace.dir, env: workspace.env });
  assert.equal(paste(collect).toString(), '');
  assert.equal(paste(both).toString(), '');
});

test('--wait says at once how to collect, and Ctrl-C says it again', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const waiting = start(workspace, ['run', '--wait', '--', ...hold.command]);
  await untilHeld(hold);
  await eventually('the collect line', () => waiting.stderr().split('\n').length >= 3);
  const [job = '', collect = ''] = waiting.stderr().split('\n');
  assert.match(job, /^job run-\S+$/);
  assert.match(collect, /^collect: .* wait run-\S+ --timeout 10m$/);
  await untilAwaited(findJob(workspace, job.slice('job '.length)));
  waiting.kill('SIGINT');
  const { signal, stderr } = await waiting.promise;
  assert.equal(signal, 'SIGINT');
  assert.match(stderr, /\njob run-\S+ runs on; collect it with:\n.* wait run-/);
  hold.release();
  execFileSync('sh', ['-c', collect.slice('collect: '.length)], { cwd: workspace.dir, env: workspace.env });
});

test('wait --any gives the code of the first that ended and leaves the others running', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace);
  const failing = await launchHeld(workspace, { exitCode: 6 });
  const waiting = start(workspace, ['wait', '--any', held.id, failing.id, '--json']);
  await untilAwaited(held);
  failing.release();
  const first = await waiting.promise;
  assert.equal(first.code, 3);
  const { jobs, pending } = parseReply<Documents>(first);
  assert.deepEqual([jobs.map(({ id, exit_code }) => [id, exit_code]), pending], [[[failing.id, 6]], [held.id]]);
  assert.equal(held.state().state, 'running');

  // The one that ended first counts, not the one named first.
  held.release();
  assert.equal((await run(workspace, ['wait', held.id])).code, 0);
  assert.equal((await run(workspace, ['wait', '--any', held.id, failing.id])).code, 3);
});

test('wait --any gives 4 when the first that ended was canceled', async (t) => {
  const workspace = makeWorkspace(t);
  const [held, canceled] = [await launchHeld(workspace), await launchHeld(workspace)];
  const waiting = start(workspace, ['wait', '--any', held.id, canceled.id]);
  await untilAwaited(held);
  assert.equal((await run(workspace, ['cancel', canceled.id])).code, 0);
  assert.equal((await waiting.promise).code, 4);
  held.release();
  assert.equal((await run(workspace, ['wait', held.id])).code, 0);
});

test('wait for several jobs gives 2 when its patience is over first, and names the pending ones', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace);
  const done = await launch(workspace, ['--', 'true']);
  const all = await run(workspace, ['wait', '--all', done.id, held.id, '--timeout', '1s', '--json']);
  assert.equal(all.code, 2);
  const { jobs, pending } = parseReply<Documents>(all);
  assert.deepEqual(
    [jobs.map(({ id, state }) => [id, state]), pending],
    [
      [
        [done.id, 'done'],
        [held.id, 'running'],
      ],
      [held.id],
    ],
  );
  held.release();
  assert.equal((await run(workspace, ['wait', '--all', done.id, held.id])).code, 0);
});

test('wait refuses several jobs without --any or --all, and both together', async (t) => {
  const workspace = makeWorkspace(t);
  const ids = [(await launch(workspace, ['--', 'true'])).id, (await launch(workspace, ['--', 'true'])).id];
  for (const options of [[], ['--any', '--all']]) {
    const { code, stdout, stderr } = await run(workspace, ['wait', ...ids, ...options]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /--any.*--all/);
  }
  assert.equal((await run(workspace, ['wait', '--all', ...ids])).code, 0);
});

test('wait whose patience is over gives 2, the progress on stdout, and a last line that collects the result', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const job = await launch(workspace, ['--', 'sh', '-c', 'echo seen so far; exec "$@"', 'sh', ...hold.command]);
  await untilHeld(hold);
  await eventually('the output', () => job.text('output.log').includes('seen so far'));
  const { code, stdout, stderr } = await run(workspace, ['wait', job.id, '--timeout', '1s']);
  assert.equal(code, 2);
  const [next, ...rest] = stdout.trimEnd().split('\n').reverse();
  const picture = JSON.parse(rest.reverse().join('\n')) as Document & { progress: { text: string } };
  assert.deepEqual([picture.id, picture.state, picture.progress.text.trim()], [job.id, 'running', 'seen so far']);
  assert.equal(next, picture.next.wait);
  assert.match(stderr, new RegExp(`^${job.id}: running, .*; not ended yet`));
  hold.release();
  const output = execFileSync('sh', ['-c', next!], { cwd: workspace.dir, env: workspace.env, encoding: 'utf8' });
  assert.equal(output, 'seen so far\n');
});

test('wait prints exactly the last 50 lines of a done run', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launch(workspace, ['--', 'sh', '-c', 'seq 1 120; echo noise >&2']);
  const { code, stdout, stderr } = await run(workspace, ['wait', job.id]);
  const expected = Array.from({ length: 50 }, (_, index) => `${71 + index}\n`).join('');
  assert.deepEqual([code, stdout], [0, expected]);
  assert.match(stderr, new RegExp(`^${job.id}: done, exit code 0, `));
  assert.ok(stderr.includes(job.path('result.md')) && stderr.includes(job.path('output.log')), stderr);
  assert.equal(job.text('output.log').split('\n').length, 121);
});

test('wait and result print the bytes of a done run as they came, all 256 of them and no newline', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launch(workspace, ['--', 'sh', program('print-bytes.sh')]);
  const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  for (const verb of ['wait', 'result']) {
    const { code, stdoutBytes } = await run(workspace, [verb, job.id]);
    assert.equal(code, 0);
    assert.deepEqual(stdoutBytes, every);
  }
});

test('wait --json prints one document: the record of an ended job, the picture of a running one', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace, { exitCode: 3 });
  const pending = await run(workspace, ['wait', held.id, '--timeout', '1s', '--json']);
  assert.deepEqual([pending.code, parseReply<Document>(pending).state], [2, 'running']);
  assert.match(parseReply<Document>(pending).next.wait, new RegExp(`wait ${held.id}`));
  held.release();
  const ended = await run(workspace, ['wait', held.id, '--json']);
  const document = parseReply<Document>(ended);
  assert.deepEqual([ended.code, ended.stderr], [3, '']);
  assert.deepEqual([document.state, document.exit_code, document.error?.code], ['failed', 3, 'exit_nonzero']);
  assert.deepEqual([document.output_path, document.duration_ms], [held.path('output.log'), held.state().duration_ms]);
});

test('wait is silent until the end, and with --heartbeat tells on stderr that it lives', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace);
  const silent = start(workspace, ['wait', held.id]);
  const beating = start(workspace, ['wait', held.id, '--heartbeat', '1s']);
  const line = new RegExp(`^${held.id}: running, \\d`);
  await untilAwaited(held, 2);
  await eventually(
    'two heartbeats',
    () =>
      beating
        .stderr()
        .split('\n')
        .filter((one) => line.test(one)).length >= 2,
  );
  assert.deepEqual([silent.stdout(), silent.stderr(), beating.stdout()], ['', '', '']);
  held.release();
  assert.deepEqual([(await silent.promise).code, (await beating.promise).code], [0, 0]);
});

test('wait without an id takes the latest job of the owner that is named, else of the worktree', async (t) => {
  const workspace = makeWorkspace(t);
  await launch(workspace, ['--owner', 'a', '--', 'echo', 'of a']);
  await launch(workspace, ['--owner', 'b', '--', 'echo', 'of b']);
  const collect = async (...options: string[]) => (await run(workspace, ['wait', ...options])).stdout;
  assert.deepEqual(
    [await collect('--owner', 'a'), await collect('--owner', 'b'), await collect()],
    ['of a\n', 'of b\n', 'of b\n'],
  );
  assert.equal((await run(workspace, ['wait'], { env: { JOB_OWNER: 'a' } })).stdout, 'of a\n');
});

/** Somebody is registered as waiting. */
function untilAwaited(job: Job, count = 1): Promise<unknown> {
  return eventually('the wait to be registered', () => readdirSync(job.path('waiters')).length >= count);
}
