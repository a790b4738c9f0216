/**
 * Who may be killed without any effect on a job: its worker at any moment, its launcher, the terminal it was started
 * from, and whoever waits for it. The moments are chosen by what the job has done, so that a slow machine meets them too.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { builtFile, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  findJob,
  firstLine,
  type Job,
  killNow,
  launchHeld,
  launchUnstarted,
  makeHold,
  program,
  untilGone,
  untilHeld,
  untilStarted,
} from '../helpers/jobs.ts';
import { MARKER } from '../helpers/leaks.ts';
import { isAlive, killByIdentity, listProcesses, readIdentity } from '../helpers/process.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const LINES = 1_000;
const everyLine = Array.from({ length: LINES }, (_, index) => `line ${index + 1}\n`).join('');
const upTo = (limit: number) => Math.floor(Math.random() * limit);

interface Moment {
  name: string;
  /** Comes true at the moment; looked at as fast as this process can. */
  isNow(job: Job, sinceMs: number): boolean;
}

/** Ten, from the id on to the end of the child. */
function chooseMoments(): Moment[] {
  const early = (ms: number): Moment => ({ name: `${ms} ms after the id`, isNow: (_, sinceMs) => sinceMs >= ms });
  const written = (bytes: number): Moment => ({
    name: `${bytes} bytes of output`,
    isNow: (job) => sizeOf(job.path('output.log')) >= bytes,
  });
  return [
    early(0),
    early(upTo(40)),
    early(40 + upTo(60)),
    early(100 + upTo(100)),
    { name: 'the claim of the start', isNow: (job) => job.has('started') },
    written(1),
    written(upTo(everyLine.length)),
    written(upTo(everyLine.length)),
    written(upTo(everyLine.length)),
    { name: 'exit.json', isNow: (job) => job.has('exit.json') },
  ];
}

for (const moment of chooseMoments()) {
  test(`a worker killed at ${moment.name}, with five waits pending, costs nothing`, async (t) => {
    const workspace = makeWorkspace(t);
    const { job, printedAt } = await launchCounted(workspace);
    const waits = Array.from({ length: 5 }, () => start(workspace, ['wait', job.id]));
    await killWorkerAt(job, moment, printedAt);
    for (const { promise } of waits) assert.equal((await promise).code, 3);
    await checkNothingLost(workspace, job);
  });

  test(`a worker killed at ${moment.name}, and nobody waiting until later, costs nothing`, async (t) => {
    const workspace = makeWorkspace(t);
    const { job, printedAt } = await launchCounted(workspace);
    await killWorkerAt(job, moment, printedAt);
    await eventually('the job to have come as far as it comes by itself', () => isQuiet(workspace), {
      limitMs: 20_000,
    });
    const isEnded = job.has('exit.json');
    assert.equal((await run(workspace, ['wait', job.id])).code, 3);
    assert.equal(job.launch().generation, isEnded ? 1 : 2);
    await checkNothingLost(workspace, job);
  });
}

test('each lost worker is replaced by exactly one, however many waits are pending', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { exitCode: 7 });
  const child = job.identity('child');
  const waits = Array.from({ length: 5 }, () => start(workspace, ['wait', job.id]));
  await eventually('five waits', () => readdirSync(job.path('waiters')).length === 5);
  for (const generation of [2, 3]) {
    await killNow('the worker', job.identity('worker'));
    await eventually('a replacement', () => job.launch().generation === generation && isAttached(job));
    assert.deepEqual(job.identity('child'), child);
  }
  assert.equal(job.state().state, 'running');
  job.release();
  for (const { promise } of waits) assert.equal((await promise).code, 3);
  assert.deepEqual([job.state().exit_code, job.state().reconciled, job.launch().generation], [7, false, 3]);
  const replaced = job.events('worker_replaced');
  assert.deepEqual(
    replaced.map(({ generation, baseline_reset }) => [generation, baseline_reset]),
    [
      [2, true],
      [3, true],
    ],
  );
});

test('a worker killed before the start is replaced by one with the environment of the waiter, and a difference is told', async (t) => {
  for (const [env, warnings] of [
    [{}, []],
    [{ COLOR: 'blue' }, ['environment_changed']],
  ] as const) {
    const workspace = makeWorkspace(t);
    const job = await launchUnstarted(workspace, ['--', 'sh', '-c', 'echo "${COLOR-none}"']);
    const { code, stdout } = await run(workspace, ['wait', job.id], { env });
    assert.deepEqual([code, stdout], [0, 'COLOR' in env ? 'blue\n' : 'none\n']);
    assert.deepEqual(
      job.state().warnings.map((warning) => warning.code),
      warnings,
    );
  }
});

test('a replacement tells when the command really started', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const startedMs = statSync(job.path('started/child')).mtimeMs;
  assert.ok(Math.abs(Date.parse(job.state().started_at ?? '') - startedMs) < 2, job.state().started_at ?? 'none');
  await killNow('the worker', job.identity('worker'));
  // As if it had been killed a moment earlier, before it told.
  writeFileSync(job.path('state.json'), JSON.stringify({ ...job.state(), state: 'starting', started_at: null }));
  await eventually('a second to pass', () => Date.now() > startedMs + 1_000);
  const waiting = start(workspace, ['wait', job.id]);
  await eventually('the replacement', () => job.state().started_at);
  job.release();
  assert.equal((await waiting.promise).code, 0);
  const { started_at, duration_ms } = job.state();
  assert.ok(Math.abs(Date.parse(started_at ?? '') - startedMs) < 2, `${started_at}`);
  assert.ok(duration_ms !== null && duration_ms >= 990, `${duration_ms}`);
});

test('a worker killed between its last event and its last state leaves one end', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { exitCode: 7 });
  const running = job.text('state.json');
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  await eventually('no process to be left', () => isQuiet(workspace));
  // Everything but the last step is on disk.
  writeFileSync(job.path('state.json'), running);
  writeFileSync(activeMarker(job), '');
  const waits = [0, 1, 2].map(() => run(workspace, ['wait', job.id]));
  for (const { code } of await Promise.all(waits)) assert.equal(code, 3);
  assert.deepEqual([job.state().state, job.state().exit_code], ['failed', 7]);
  assert.equal(job.events('ended').length, 1);
  assert.equal(existsSync(activeMarker(job)), false);
});

test('a worker killed right after its last state leaves no job that looks live', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  await eventually('no process to be left', () => isQuiet(workspace));
  writeFileSync(activeMarker(job), '');
  writeFileSync(job.path('reserve'), ' '.repeat(32 * 1024));
  const record = job.text('state.json');
  const { code, stdout } = await run(workspace, ['status']);
  assert.equal(code, 0);
  assert.match(stdout, new RegExp(`${job.id} +done`));
  assert.deepEqual([existsSync(activeMarker(job)), job.has('reserve'), job.text('state.json')], [false, false, record]);
});

test('observe and status of a job without its worker say so, name the command that mends it, and change nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  await killNow('the worker', job.identity('worker'));
  const before = [job.text('state.json'), job.text('launch.json'), job.text('worker.json'), job.text('events.ndjson')];
  const observed = await run(workspace, ['observe', job.id]);
  const picture = JSON.parse(observed.stdout) as Record<string, unknown> & { next: { wait: string } };
  assert.deepEqual(
    [observed.code, picture.state, picture.health, picture.attention_kind],
    [2, 'running', 'attention', 'monitor_attention'],
  );
  const status = await run(workspace, ['status', job.id]);
  assert.equal(status.code, 2);
  assert.match(status.stdout, /^health: +attention \(the worker is gone/m);
  assert.ok(status.stdout.includes(picture.next.wait), status.stdout);
  assert.deepEqual(
    [job.text('state.json'), job.text('launch.json'), job.text('worker.json'), job.text('events.ndjson')],
    before,
  );
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('a launcher that is killed as soon as it has printed the id takes nothing with it', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const launcher = start(workspace, ['run', '--id-only', '--', ...hold.command]);
  const id = await firstLine(launcher);
  launcher.kill();
  await launcher.promise;
  await untilHeld(hold);
  hold.release();
  assert.equal((await run(workspace, ['wait', id])).code, 0);
  assert.equal(findJob(workspace, id).launch().generation, 1);
});

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
  test(`${signal} to the whole group of a run --wait takes the wait and not the job`, async (t) => {
    const workspace = makeWorkspace(t);
    const hold = makeHold(workspace);
    const waiting = start(workspace, ['run', '--wait', '--', ...hold.command], { detached: true });
    await untilHeld(hold);
    process.kill(-waiting.pid, signal);
    assert.equal((await waiting.promise).signal, signal);
    const id = /job (\S+)/.exec(waiting.stderr())?.[1] ?? '';
    await checkUntouched(workspace, id);
    hold.release();
    assert.equal((await run(workspace, ['wait', id])).code, 0);
  });
}

test('a job runs on when the terminal that it was started from is closed', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const id = join(workspace.base, 'id');
  // The shell of the terminal stays there with the job as it would for a person; so does a wait.
  const words = [testNode(), builtFile].map((word) => `'${word}'`).join(' ');
  const line = `${words} run --id-only -- ${hold.command.join(' ')} >${id}; ${words} wait`;
  const terminal = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: workspace.dir,
    env: workspace.env,
    stdio: 'pipe',
  });
  const identity = readIdentity(terminal.pid!)!;
  workspace.defer(() => killByIdentity(identity));
  await untilHeld(hold);
  const job = findJob(workspace, readFileSync(id, 'utf8').trim());
  const waiter = await eventually('the wait in the terminal', () => readdirSync(job.path('waiters'))[0]);
  const waiting = readIdentity(Number.parseInt(waiter, 10))!;
  killByIdentity(identity);
  await untilGone('the wait in the terminal', waiting);
  await checkUntouched(workspace, job.id);
  hold.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('a killed wait has no effect on the job or on another wait', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const [first, second] = [start(workspace, ['wait', job.id]), start(workspace, ['wait', job.id])];
  await eventually('two waits', () => readdirSync(job.path('waiters')).length === 2);
  first.kill('SIGKILL');
  assert.equal((await first.promise).signal, 'SIGKILL');
  await checkUntouched(workspace, job.id);
  job.release();
  assert.equal((await second.promise).code, 0);
});

test('a wait that was killed right after it replaced a worker takes nothing with it', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  await killNow('the worker', job.identity('worker'));
  const waiting = start(workspace, ['wait', job.id], { detached: true });
  await eventually('a replacement', () => job.launch().generation === 2);
  process.kill(-waiting.pid, 'SIGKILL');
  await waiting.promise;
  await eventually('the replacement to attach', () => isAttached(job));
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.deepEqual([job.launch().generation, job.state().reconciled], [2, false]);
});

async function launchCounted(workspace: Workspace): Promise<{ job: Job; printedAt: number }> {
  const command = ['sh', program('number-lines.sh'), executions(workspace), String(LINES)];
  const launcher = start(workspace, ['run', '--id-only', '--', ...command]);
  const id = await firstLine(launcher);
  const printedAt = performance.now();
  workspace.defer(() => launcher.promise);
  return { job: findJob(workspace, id), printedAt };
}

function executions(workspace: Workspace): string {
  return join(workspace.base, 'executions');
}

async function killWorkerAt(job: Job, moment: Moment, printedAt: number): Promise<void> {
  await eventually(moment.name, () => moment.isNow(job, performance.now() - printedAt), {
    limitMs: 20_000,
    everyMs: 1,
  });
  await killNow('the worker', job.identity('launched'));
}

async function checkNothingLost(workspace: Workspace, job: Job): Promise<void> {
  const state = job.state();
  assert.deepEqual([state.state, state.exit_code, state.error?.code], ['failed', 7, 'exit_nonzero']);
  assert.deepEqual(state.warnings, []);
  assert.equal(job.text('output.log'), everyLine);
  assert.equal(readFileSync(executions(workspace), 'utf8'), 'started\n');
  // Settled from the files, or told by one replacement - or the worker had told before it was killed.
  const { generation } = job.launch();
  assert.deepEqual(
    job.events('worker_replaced').map((event) => event.generation),
    generation === 1 ? [] : [2],
  );
  assert.equal(state.reconciled && generation > 1, false);
  assert.equal(job.events('ended').length, 1);
  assert.match(job.text('result.md'), /line 1000/);
  await eventually('no process to be left', () => isQuiet(workspace));
}

async function checkUntouched(workspace: Workspace, id: string): Promise<void> {
  const job = findJob(workspace, id);
  await untilStarted(job);
  for (const member of ['worker', 'shim', 'child'] as const)
    assert.ok(isAlive(job.identity(member)), `the ${member} is gone`);
  assert.deepEqual([job.state().state, job.launch().generation], ['running', 1]);
}

/** The worker that launch.json names has written down that it looks after the job. */
function isAttached(job: Job): boolean {
  const worker = job.identity('worker');
  return worker.pid === job.identity('launched').pid && isAlive(worker) && job.events('worker_replaced').length > 0;
}

/** By which listings find live jobs without reading all. */
function activeMarker(job: Job): string {
  return join(job.folder, '../../active', job.id);
}

/** No process of the workspace lives. */
function isQuiet({ marker }: Workspace): boolean {
  return listProcesses({ environment: `${MARKER}=${marker}` }).length === 0;
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}
