/**
 * S0, who may be lost: the launcher, a wait, the worker. A command runs once, whatever happens around it, and nobody but
 * its limit and `cancel` ever touches it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { builtFile, parseReply, run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import {
  findJob,
  type Job,
  killNow,
  killSupervision,
  launch,
  launchHeld,
  makeHold,
  untilGone,
  untilHeld,
  untilStarted,
} from '../../helpers/jobs.ts';
import { isAlive, killByIdentity, readIdentity } from '../../helpers/process.ts';
import { listLiving, makeNoting, runToEnd, untilQuiet } from '../../helpers/rows.ts';
import { testNode } from '../../helpers/test-node.ts';
import { makeWorkspace } from '../../helpers/workspace.ts';

const files = ['state.json', 'launch.json', 'worker.json', 'events.ndjson', 'spec.json'];
const bytesOf = (job: Job) => files.map((file) => job.text(file));
const untilAwaited = (job: Job, count: number) =>
  eventually(`${count} waits`, () => readdirSync(job.path('waiters')).length === count, { limitMs: 20_000 });

test('S0.3 the shell that started a job is killed, the job goes on, and only its own worker watches it', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const id = join(workspace.base, 'id');
  const line = `"$0" "$1" run --id-only -- ${hold.command.join(' ')} >${id}; sleep 300`;
  const shell = spawn('sh', ['-c', line, testNode(), builtFile], {
    cwd: workspace.dir,
    env: workspace.env,
    detached: true,
    stdio: 'ignore',
  });
  const group = readIdentity(shell.pid!)!;
  workspace.defer(() => killByIdentity(group));
  await untilHeld(hold);
  await eventually('the id', () => existsSync(id) && readFileSync(id, 'utf8').includes('\n'));
  const job = findJob(workspace, readFileSync(id, 'utf8').trim());
  process.kill(-group.pid, 'SIGKILL');
  await untilGone('the shell', group);
  await untilStarted(job);
  const isShell = (pid: number) => /\/(da|ba)?sh$|sleep$/.test(readlinkSync(`/proc/${pid}/exe`));
  // A process that ends while it is looked at is looked for again.
  const others = await eventually('a look at all programs', () =>
    listLiving(workspace).filter(({ pid }) => !isShell(pid)),
  );
  assert.deepEqual(others, [job.identity('worker')]);
  hold.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S0.28 a lost worker is replaced, a lost job has crashed, and only restart runs the command again', async (t) => {
  const workspace = makeWorkspace(t);
  const runs = join(workspace.base, 'runs');
  const end = join(workspace.base, 'end');
  const job = await launch(workspace, [
    '--',
    'sh',
    '-c',
    'echo run >>"$0"; while [ ! -e "$1" ]; do sleep 0.1; done',
    runs,
    end,
  ]);
  await eventually('the first run', () => existsSync(runs));
  await untilStarted(job);
  const count = () => readFileSync(runs, 'utf8').split('\n').length - 1;
  await killNow('the worker', job.identity('worker'));
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '2s'])).code, 2);
  assert.deepEqual([count(), job.state().state], [1, 'running']);
  await eventually('the replacement', () => job.events('worker_replaced').length === 1);
  await killSupervision(job);
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  assert.deepEqual([count(), job.state().state, job.state().error?.code], [1, 'crashed', 'worker_lost']);
  writeFileSync(end, '');
  const again = await run(workspace, ['restart', job.id, '--id-only']);
  assert.equal((await run(workspace, ['wait', again.stdout.trim()])).code, 0);
  assert.deepEqual([count(), job.state().state], [2, 'crashed']);
});

test('S0.57 a worker that fails is told as its own trouble, and mending it runs nothing again', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const child = job.identity('child');
  await killNow('the worker', job.identity('worker'));
  const seen = parseReply(await run(workspace, ['observe', job.id]));
  assert.deepEqual([seen.state, seen.health, seen.attention_kind], ['running', 'attention', 'monitor_attention']);
  const waiting = start(workspace, ['wait', job.id]);
  await eventually('the replacement', () => job.events('worker_replaced').length === 1, { limitMs: 20_000 });
  assert.deepEqual([job.identity('child'), isAlive(child)], [child, true]);
  job.release();
  assert.equal((await waiting.promise).code, 0);
});

test('S0.58 a wait that was killed leaves nothing to mend: the next one gives the result', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { exitCode: 6 });
  const first = start(workspace, ['wait', job.id]);
  await untilAwaited(job, 1);
  const before = bytesOf(job);
  first.kill('SIGKILL');
  await first.promise;
  assert.deepEqual(bytesOf(job), before);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  assert.deepEqual([job.state().exit_code, job.launch().generation], [6, 1]);
});

test('S0.60 a process that has the pid of a lost worker is not taken for it, and gets no signal', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const other = makeNoting(workspace);
  const impostor = spawn(other.command[0]!, other.command.slice(1), { env: workspace.env, stdio: 'ignore' });
  workspace.defer(() => other.end());
  await eventually('the other process', () => other.isReady());
  await killNow('the worker', job.identity('worker'));
  for (const name of ['launch.json', 'worker.json']) {
    const record = job.json<{ worker: { pid: number } }>(name);
    writeFileSync(job.path(name), JSON.stringify({ ...record, worker: { ...record.worker, pid: impostor.pid } }));
  }
  const seen = parseReply(await run(workspace, ['observe', job.id]));
  assert.equal(seen.attention_kind, 'monitor_attention');
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.deepEqual([job.state().state, other.signals()], ['canceled', []]);
  assert.ok(isAlive(readIdentity(impostor.pid!)!));
});

test('S0.61 what takes a lost job over is the wait that observe names, and an event says so', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  await killNow('the worker', job.identity('worker'));
  const { next } = parseReply<{ next: { wait: string } }>(await run(workspace, ['observe', job.id]));
  const shell = spawn('sh', ['-c', next.wait], { cwd: workspace.dir, env: workspace.env, stdio: 'ignore' });
  const over = new Promise((resolve) => shell.once('exit', resolve));
  await eventually('the replacement', () => job.events('worker_replaced').length === 1, { limitMs: 20_000 });
  assert.equal(job.events('worker_replaced')[0]?.baseline_reset, true);
  job.release();
  assert.equal(await over, 0);
});

test('S0.65 the same once-key gives the same id and one execution', async (t) => {
  const workspace = makeWorkspace(t);
  const words = ['--once-key', 'nightly', '--', 'sh', '-c', 'echo run >>"$0"', join(workspace.base, 'runs')];
  const first = await runToEnd(workspace, words);
  const second = await runToEnd(workspace, words);
  assert.deepEqual([second.job.id, second.wait.code], [first.job.id, 0]);
  assert.equal(workspace.read('../runs'), 'run\n');
});

test('S0.67 many waits at once change nothing of the job', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const before = bytesOf(job);
  const waits = [0, 1, 2, 3, 4, 5].map(() => start(workspace, ['wait', job.id, '--timeout', '3s']));
  for (const { promise } of waits) assert.equal((await promise).code, 2);
  assert.deepEqual(bytesOf(job), before);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S0.71 attention, lost waits and a lost worker send the command no signal and start nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const noting = makeNoting(workspace);
  const options = ['--expect', '1ms', '--checkpoint-every', '200ms', '--sample-every', '100ms'];
  const job = await launch(workspace, [...options, '--', ...noting.command]);
  await eventually('the command', () => noting.isReady());
  const first = start(workspace, ['wait', job.id]);
  await eventually('attention', () => job.state().attention_kind === 'task_attention', { limitMs: 20_000 });
  const child = job.identity('child');
  first.kill('SIGTERM');
  await first.promise;
  await killNow('the worker', job.identity('worker'));
  const second = start(workspace, ['wait', job.id]);
  await eventually('the replacement', () => job.events('worker_replaced').length === 1, { limitMs: 20_000 });
  const before = job.events('checkpoint').length;
  await eventually('more checkpoints', () => job.events('checkpoint').length > before + 1, { limitMs: 20_000 });
  await run(workspace, ['observe', job.id]);
  await run(workspace, ['status', job.id]);
  assert.deepEqual([job.identity('child'), noting.signals(), job.events('started').length], [child, [], 1]);
  noting.end();
  assert.equal((await second.promise).code, 0);
  assert.deepEqual([noting.signals(), job.state().state], [[], 'done']);
});

test('S0.72 two jobs of one command run side by side with records of their own, and an old one is never in the way', async (t) => {
  const workspace = makeWorkspace(t);
  const [first, second] = [await launchHeld(workspace), await launchHeld(workspace, { exitCode: 2 })];
  assert.notEqual(first.folder, second.folder);
  const { code } = await run(workspace, ['clean', '--older-than', '0s', '--yes']);
  assert.equal(code, 0);
  assert.deepEqual([first.state().state, second.state().state], ['running', 'running']);
  await killSupervision(second);
  assert.equal((await run(workspace, ['wait', second.id])).code, 3);
  const third = await runToEnd(workspace, ['--', 'echo', 'third']);
  assert.deepEqual([third.wait.code, third.wait.stdout], [0, 'third\n']);
  first.release();
  assert.equal((await run(workspace, ['wait', first.id])).code, 0);
  await untilQuiet(workspace);
});
