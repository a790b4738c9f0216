/**
 * S0, the end: what counts as success, how the limit strikes, and what is told of an ended job.
 */
import assert from 'node:assert/strict';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { launch, launchHeld } from '../../helpers/jobs.ts';
import { runToEnd, untilPassed, untilQuiet } from '../../helpers/rows.ts';
import { makeWorkspace } from '../../helpers/workspace.ts';

const lines = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `line ${first + index}\n`).join('');

test('S0.6 another exit code, or a file that must come to be, decides about success', async (t) => {
  const workspace = makeWorkspace(t);
  const seven = await runToEnd(workspace, ['--success-exit', '7', '--', 'sh', '-c', 'exit 7']);
  assert.deepEqual([seven.wait.code, seven.state.state, seven.state.exit_code], [0, 'done', 7]);
  const without = await runToEnd(workspace, ['--success-file', 'out', '--', 'true']);
  assert.deepEqual([without.wait.code, without.state.state], [3, 'failed']);
  assert.deepEqual([without.state.error?.code, without.state.exit_code], ['artifact_missing', 0]);
  const made = await runToEnd(workspace, ['--success-file', 'out', '--', 'sh', '-c', 'echo x >out']);
  assert.deepEqual([made.wait.code, made.state.state], [0, 'done']);
  // It is there now, but from before.
  const old = await runToEnd(workspace, ['--success-file', 'out', '--', 'true']);
  assert.deepEqual([old.wait.code, old.state.error?.code], [3, 'artifact_missing']);
});

test('S0.8 result paths are told at the end: what is there, how large and how new', async (t) => {
  const workspace = makeWorkspace(t);
  const [there, missing] = [workspace.path('out/model.bin'), workspace.path('never')];
  const words = ['--result', 'out/model.bin', '--result', missing];
  const { job } = await runToEnd(workspace, [...words, '--', 'sh', '-c', 'mkdir out; printf 12345 >out/model.bin']);
  const { result_paths } = parseReply(await run(workspace, ['result', job.id, '--json']));
  const lateMs = Date.parse(String((result_paths as { mtime: string }[])[0]?.mtime)) - statSync(there).mtimeMs;
  const [first, second] = result_paths as Record<string, unknown>[];
  assert.deepEqual([first?.path, first?.exists, first?.size], [there, true, 5]);
  assert.ok(Math.abs(lateMs) < 2, `${first?.mtime}`);
  assert.deepEqual([second?.path, second?.exists], [missing, false]);
});

test('S0.9 the tail of a failure comes from the log that was named', async (t) => {
  const workspace = makeWorkspace(t);
  writeFileSync(workspace.path('all-lines'), lines(1, 60));
  const command = ['sh', '-c', 'echo printed; cp all-lines train.log; exit 1'];
  const { wait } = await runToEnd(workspace, ['--log', 'train.log', '--', ...command]);
  assert.equal(wait.code, 3);
  assert.ok(wait.stdout.includes(lines(11, 60)), wait.stdout);
  assert.doesNotMatch(wait.stdout, /^line 10$/m);
});

test('S0.30 at the limit the command gets TERM, and KILL when the grace is over', async (t) => {
  const workspace = makeWorkspace(t);
  const noted = join(workspace.base, 'noted');
  const stubborn = ['sh', '-c', `trap 'echo TERM >>"$0"' TERM; while :; do sleep 0.2; done`, noted];
  const { wait, state, job } = await runToEnd(workspace, ['--deadline', '1s', '--kill-after', '1s', '--', ...stubborn]);
  assert.deepEqual([wait.code, state.state, state.error?.code], [3, 'timed_out', 'hard_timeout']);
  assert.equal(workspace.read('../noted'), 'TERM\n');
  assert.equal(state.signal, 'SIGKILL');
  const [stopping, ended] = [job.events('stopping')[0], job.events('ended')[0]];
  const graceMs = Date.parse(String(ended?.at)) - Date.parse(String(stopping?.at));
  assert.ok(graceMs >= 900, `KILL came after ${graceMs} ms`);
});

test('S0.31 a line that looks like the end of a job is output and nothing else', async (t) => {
  const fake = 'LONG_WAIT_RESULT exit_code=0 duration_seconds=0';
  const { wait, state } = await runToEnd(makeWorkspace(t), ['--', 'sh', '-c', `echo '${fake}'; sleep 1; exit 5`]);
  assert.deepEqual([wait.code, state.state, state.exit_code, state.signal], [3, 'failed', 5, null]);
  assert.ok((state.duration_ms ?? 0) >= 980, `${state.duration_ms}`);
  assert.ok(wait.stdout.includes(fake));
});

test('S0.32 the limit ends the whole chain of a command', async (t) => {
  const workspace = makeWorkspace(t);
  const { state } = await runToEnd(workspace, ['--deadline', '1s', '--', 'sh', '-c', 'sleep 60 | cat; sleep 60']);
  assert.equal(state.state, 'timed_out');
  await untilQuiet(workspace);
});

test('S0.44 a command that prints that it is done and goes on is running', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launch(workspace, ['--', 'sh', '-c', 'echo DONE; echo 100%; exec sleep 300']);
  await eventually('its output', () => job.has('output.log') && job.text('output.log').includes('100%'));
  const { code } = await run(workspace, ['wait', job.id, '--timeout', '1s']);
  assert.deepEqual([code, job.state().state], [2, 'running']);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
});

test('S0.47 a command that exits 124 has failed, not timed out', async (t) => {
  const { wait, state } = await runToEnd(makeWorkspace(t), ['--', 'sh', '-c', 'exit 124']);
  assert.deepEqual([wait.code, state.state, state.exit_code], [3, 'failed', 124]);
  assert.equal(state.error?.code, 'exit_nonzero');
});

test('S0.49 of a long log, result shows the last 50 lines and says where the whole is', async (t) => {
  const workspace = makeWorkspace(t);
  const { job } = await runToEnd(workspace, ['--', 'sh', '-c', 'seq -f "line %g" 200; exit 1']);
  const { code, stdout } = await run(workspace, ['result', job.id]);
  assert.equal(code, 3);
  assert.ok(stdout.includes(lines(151, 200)), stdout);
  assert.equal(stdout.match(/^line /gm)?.length, 50);
  assert.ok(stdout.includes(job.path('output.log')), stdout);
});

test('S0.50 the duration is that of the command, however late somebody waits', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launch(workspace, ['--', 'sleep', '1']);
  await eventually('the end', () => job.has('state.json') && job.state().state === 'done', { limitMs: 30_000 });
  await untilPassed(1_500);
  const told = async (verb: string) => parseReply(await run(workspace, [verb, job.id, '--json'])).duration_ms as number;
  const [first, second] = [await told('wait'), await told('result')];
  assert.ok(first >= 980, `${first}`);
  assert.deepEqual([second, job.state().duration_ms], [first, first]);
  const { started_at, ended_at } = job.state();
  assert.ok(
    Math.abs(Date.parse(ended_at ?? '') - Date.parse(started_at ?? '') - first) < 250,
    JSON.stringify(job.state()),
  );
});

test('S0.51 the terminal record holds state, exit code, duration and result paths, and no report text', async (t) => {
  const workspace = makeWorkspace(t);
  const { job } = await runToEnd(workspace, ['--result', 'out', '--', 'sh', '-c', 'echo chatter; touch out; exit 3']);
  const result = await run(workspace, ['result', job.id, '--json']);
  const record = parseReply(result);
  assert.deepEqual([result.code, record.state, record.exit_code], [3, 'failed', 3]);
  assert.equal(typeof record.duration_ms, 'number');
  assert.equal((record.result_paths as unknown[]).length, 1);
  assert.doesNotMatch(result.stdout, /"chatter/);
});

test('S0.70 a wait is over as soon as the command is, with its real exit code', async (t) => {
  const workspace = makeWorkspace(t);
  const late: number[] = [];
  // One of several must be in time: a busy machine may hold up any single one.
  while (late.length < 6 && !late.some((ms) => ms < 1_000)) {
    const job = await launchHeld(workspace, { exitCode: 9 });
    const waiting = start(workspace, ['wait', job.id]);
    await eventually('the wait', () => readdirSync(job.path('waiters')).length > 0);
    job.release();
    assert.equal((await waiting.promise).code, 3);
    late.push(Date.now() - statSync(job.path('exit.json')).mtimeMs);
    assert.equal(job.state().exit_code, 9);
  }
  assert.ok(late.at(-1)! < 1_000, `late by ${late.join(', ')} ms`);
});
