/**
 * `--max-live N`: jobs that are queued and start by themselves, in order, when a place is free, also when whoever launched them is gone. What the
 * jobs themselves write down (a start and an end, in one file) says how many were at work at once.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import type { Spec, Turn } from '../../companion/src/core/job.ts';
import { builtFile, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, killNow, launch, makeHold, untilHeld } from '../helpers/jobs.ts';
import { killByIdentity } from '../helpers/process.ts';
import { patient, untilAllEnded, untilQueued } from '../helpers/queue.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

test('30 jobs with --max-live 4, their launcher killed after the 30th: all end, never more than 4 at work, in order', async (t) => {
  const workspace = makeWorkspace(t);
  const jobs = await launchMany(workspace, 30, 4);
  for (const job of jobs.slice(4)) await untilQueued(job);
  await eventually('four to be at work', () => linesOf(workspace).length === 4, patient);
  workspace.write('go', '');
  await untilAllEnded(workspace);
  for (const job of jobs) assert.deepEqual([job.id, job.state().state], [job.id, 'done']);
  const lines = linesOf(workspace);
  assert.equal(lines.length, 60);
  assert.ok(mostAtOnce(lines) <= 4, `${mostAtOnce(lines)} at work at once: ${lines.join(' ')}`);
  const turns = jobs.map((job) => job.json<Turn>('turn.json').mono_ms);
  assert.deepEqual(
    turns,
    [...turns].sort((a, b) => a - b),
  );
  // The others were told once that they wait, and once that they may begin; no flood in between.
  for (const job of jobs.slice(4)) {
    const types = job.events().map((event) => event.type);
    assert.deepEqual(types, ['queued', 'turn', 'claimed', 'started', 'ended'], job.id);
    assert.equal(job.state().queue, null);
  }
});

test('two different limits in one pool: nobody overtakes, each counts all that are at work', async (t) => {
  const workspace = makeWorkspace(t);
  const [one, two, three] = [makeHold(workspace), makeHold(workspace), makeHold(workspace)];
  const begun = await launch(workspace, ['--', ...one.command]);
  await untilHeld(one);
  const narrow = await launch(workspace, ['--max-live', '1', '--', ...two.command]);
  await untilQueued(narrow);
  const wide = await launch(workspace, ['--max-live', '5', '--', ...three.command]);
  await untilQueued(wide);
  assert.deepEqual(narrow.state().queue, { place: 1, live: 1, behind: [begun.id] });
  assert.deepEqual(wide.state().queue, { place: 2, live: 1, behind: [narrow.id] });
  one.release();
  await untilHeld(two);
  await untilHeld(three);
  for (const hold of [two, three]) hold.release();
  assert.equal((await run(workspace, ['wait', begun.id, narrow.id, wide.id, '--all'])).code, 0);
});

test('pools: another owner, a watch, and a job started inside a job do not wait for each other; a timer is armed at once', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--owner', 'me', '--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const limit = ['--max-live', '1'];
  const other = await launch(workspace, ['--owner', 'you', ...limit, '--', 'true']);
  assert.equal((await run(workspace, ['wait', other.id])).code, 0);
  workspace.write('there', '');
  const watch = await run(workspace, ['watch', 'file', 'there', '--for', '1h', '--owner', 'me', ...limit, '--wait']);
  assert.equal(watch.code, 0, watch.stderr);
  const timer = await run(workspace, ['timer', 'in', '1h', '--owner', 'me', ...limit, '--json']);
  const armed = JSON.parse(timer.stdout) as { id: string; state: string };
  assert.equal(armed.state, 'running');
  await run(workspace, ['cancel', armed.id]);
  // Its child's jobs have it as their owner: they are a pool of their own, or it would wait for itself.
  const inner = [testNode(), builtFile, 'run', ...limit, '--wait', '--', 'sh', '-c', 'echo inner'];
  const outer = await launch(workspace, ['--owner', 'they', ...limit, '--', ...inner]);
  assert.equal((await run(workspace, ['wait', outer.id])).code, 0);
  hold.release();
  assert.equal((await run(workspace, ['wait', holder.id])).code, 0);
});

test('cancel ends a queued job at once, also without its worker, and nothing was ever started', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const jobs = [];
  for (const word of ['a', 'b', 'c'])
    jobs.push(await launch(workspace, ['--max-live', '1', '--', 'sh', '-c', `echo ${word} >>log`]));
  const [first, second, third] = jobs as [Job, Job, Job];
  for (const job of jobs) await untilQueued(job);
  assert.equal((await run(workspace, ['cancel', first.id])).code, 0);
  killByIdentity(second.identity('worker'));
  assert.equal((await run(workspace, ['cancel', second.id])).code, 0);
  for (const job of [first, second]) {
    assert.deepEqual([job.state().state, job.state().queue, job.has('started')], ['canceled', null, false]);
    assert.match(job.text('result.md'), /Nothing of it had been started/);
    // No file is named that is not there.
    const { stdout, stderr } = await run(workspace, ['wait', job.id]);
    assert.doesNotMatch(`${stdout}${stderr}`, /Whole output|whole output|output\.log|error\.log/);
    const stored = job.json<{ output_path: unknown; error_path: unknown }>('result.json');
    assert.deepEqual([stored.output_path, stored.error_path], [null, null]);
  }
  await eventually('the third to move up', () => third.state().queue?.place === 1, patient);
  hold.release();
  assert.equal((await run(workspace, ['wait', holder.id, third.id, '--all'])).code, 0);
  assert.equal(workspace.read('log'), 'c\n');
});

test('the hard limit counts from the turn, also for a replacement', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const short = await launch(workspace, ['--max-live', '1', '--timeout', '1s', '--', 'true']);
  const long = await launch(workspace, ['--max-live', '1', '--timeout', '1s', '--', 'sleep', '600']);
  await untilQueued(long);
  const { deadline_mono_ms } = short.json<Spec>('spec.json');
  await eventually(
    'the limit to be long over, counted from launch',
    () => monotonicMs() > deadline_mono_ms + 1000,
    patient,
  );
  await killNow('the worker', long.identity('worker'));
  assert.equal((await run(workspace, ['observe', short.id])).code, 2);
  hold.release();
  assert.equal((await run(workspace, ['wait', holder.id, short.id, '--all'])).code, 0);
  assert.equal((await run(workspace, ['wait', long.id])).code, 3);
  assert.equal(long.state().error?.code, 'hard_timeout');
  assert.ok((long.state().duration_ms ?? 0) >= 900, `${long.state().duration_ms} ms`);
});

test('a file that was there before the turn makes no success of a job that was queued', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const queued = await launch(workspace, ['--max-live', '1', '--success-file', 'out', '--', 'true']);
  await untilQueued(queued);
  workspace.write('out', 'of somebody else');
  hold.release();
  assert.equal((await run(workspace, ['wait', holder.id, queued.id, '--all'])).code, 3);
  assert.equal(queued.state().error?.code, 'artifact_missing');
});

test('a queued job says where it stands: at launch, in wait, observe, status', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await untilHeld(hold);
  const told = await run(workspace, ['run', '--max-live', '1', '--', 'true']);
  assert.match(
    told.stdout,
    new RegExp(`^queued: {2}place 1, behind ${holder.id}; 1 at work, at most 1 at a time$`, 'm'),
  );
  const json = JSON.parse((await run(workspace, ['run', '--max-live', '1', '--json', '--', 'true'])).stdout) as {
    id: string;
  };
  const before = told.stdout.split('\n')[0]?.slice('job '.length) as string;
  const job = findJob(workspace, json.id);
  await untilQueued(job);
  const queue = { place: 2, live: 1, max_live: 1, behind: [before] };
  assert.deepEqual((json as { queue?: unknown }).queue, queue);
  const observed = await run(workspace, ['observe', job.id]);
  const document = JSON.parse(observed.stdout) as Record<string, unknown>;
  assert.deepEqual([observed.code, document.state, document.health, document.queue], [2, 'queued', 'unknown', queue]);
  const page = await run(workspace, ['status', job.id]);
  assert.match(page.stdout, new RegExp(`^queue: +place 2, behind ${before}; 1 at work`, 'm'));
  assert.match(page.stdout, /^limit: +24h from its turn$/m);
  assert.match((await run(workspace, ['status'])).stdout, /queued .*place 2/);
  const waited = await run(workspace, ['wait', job.id, '--timeout', '0s', '--json']);
  const document2 = JSON.parse(waited.stdout) as Record<string, unknown>;
  assert.deepEqual([waited.code, document2.state, document2.queue], [2, 'queued', queue]);
  hold.release();
  assert.equal((await run(workspace, ['wait', holder.id, before, job.id, '--all'])).code, 0);
});

test('the help of --max-live says whose jobs count together, and from when its limit', async (t) => {
  const help = (await run(makeWorkspace(t), ['run', '--help'])).stdout.replace(/\s+/g, ' ');
  assert.match(help, /jobs without an owner are one pool/);
  assert.match(help, /its hard limit counts from its turn, not from launch/);
});

test('a restart asks for the same place again, and goes to the end of the queue', async (t) => {
  const workspace = makeWorkspace(t);
  const ended = await launch(workspace, ['--max-live', '1', '--', 'sh', '-c', 'echo again']);
  assert.equal((await run(workspace, ['wait', ended.id])).code, 0);
  const hold = makeHold(workspace);
  const holder = await launch(workspace, ['--', ...hold.command]);
  await untilHeld(hold);
  const again = await run(workspace, ['restart', ended.id]);
  assert.match(again.stdout, /^queued: +place 1, behind /m);
  const job = findJob(workspace, /^job (\S+)$/m.exec(again.stdout)?.[1] ?? '');
  await untilQueued(job);
  hold.release();
  assert.equal((await run(workspace, ['wait', holder.id, job.id, '--all'])).code, 0);
});

/** Each job notes its start and its end, and ends when it may; the launcher is killed as soon as it has launched the last one. */
async function launchMany(workspace: Workspace, count: number, most: number): Promise<Job[]> {
  const job = workspace.write('job.sh', 'echo s >>log; until [ -e go ]; do sleep 0.1; done; echo e >>log\n');
  const script =
    'for i in $(seq "$1"); do "$2" "$3" run --id-only --max-live "$4" -- sh "$5" || exit 1; done; exec sleep 600';
  const words = [String(count), testNode(), builtFile, String(most), job];
  const launcher = spawn('sh', ['-c', script, 'launcher', ...words], {
    cwd: workspace.dir,
    env: workspace.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  launcher.stdout.on('data', (bytes) => {
    text += String(bytes);
  });
  await eventually('the last launch', () => text.split('\n').length === count + 1, patient);
  process.kill(-(launcher.pid as number), 'SIGKILL');
  const ids = text.trim().split('\n');
  return ids.map((id) => findJob(workspace, id));
}

function linesOf(workspace: Workspace): string[] {
  return readFileSync(workspace.path('log'), 'utf8').trim().split('\n');
}

function mostAtOnce(lines: readonly string[]): number {
  let live = 0;
  let most = 0;
  for (const line of lines) {
    live += line.startsWith('s') ? 1 : -1;
    most = Math.max(most, live);
  }
  return most;
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
