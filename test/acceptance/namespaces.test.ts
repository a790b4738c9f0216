/**
 * Collectors in another pid namespace (a sandbox) cannot see the processes of a job. They say what the record and the
 * lease say, and never write an end, whatever they cannot see. Needs the right to make namespaces.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { builtFile, run } from '../helpers/companion.ts';
import { findJob, type Job, killSupervision, launchHeld, makeHold, untilHeld, untilStarted } from '../helpers/jobs.ts';
import { isAlive, killByIdentity, readIdentity } from '../helpers/process.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const namespace = ['--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = spawnSync('unshare', [...namespace, 'true']).status === 0;
const skip = canUnshare ? false : 'needs the right to make a pid namespace';

test('wait, status, observe and result from another pid namespace say that a live job runs', { skip }, async (t) => {
  const { workspace, job } = await prepare(t);
  const before = recordsOf(job);
  for (const words of [
    ['wait', job.id, '--timeout', '1s'],
    ['status', job.id],
    ['observe', job.id],
  ]) {
    const { code, stdout } = await runElsewhere(workspace, words);
    assert.equal(code, 2, words.join(' '));
    assert.match(stdout, /\brunning\b/, words.join(' '));
    assert.doesNotMatch(stdout, /crashed|attention_kind": ?"/, words.join(' '));
  }
  assert.match((await runElsewhere(workspace, ['status'])).stdout, new RegExp(`${job.id} +running`));
  assert.equal((await runElsewhere(workspace, ['result', job.id])).code, 2);
  assert.deepEqual(recordsOf(job), before);
  await endNormally(workspace, job);
});

test('with a stale lease, too, a reader in another pid namespace reports attention and writes nothing', {
  skip,
}, async (t) => {
  const { workspace, job } = await prepare(t);
  const worker = job.identity('worker');
  killByIdentity(worker, 'SIGSTOP');
  makeLeaseOld(job);
  const before = recordsOf(job);
  for (const words of [
    ['wait', job.id, '--timeout', '1s', '--json'],
    ['status', job.id, '--json'],
    ['observe', job.id],
  ]) {
    const { code, stdout } = await runElsewhere(workspace, words);
    const { state, health, attention_kind } = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual([code, state, health, attention_kind], [2, 'running', 'attention', 'monitor_attention'], words[0]);
  }
  assert.deepEqual(recordsOf(job), before);
  killByIdentity(worker, 'SIGCONT');
  await endNormally(workspace, job);
});

test('even a job that is really lost is not called so from another pid namespace, and a wait there starts nothing', {
  skip,
}, async (t) => {
  const { workspace, job } = await prepare(t);
  await killSupervision(job);
  makeLeaseOld(job);
  const before = recordsOf(job);
  for (const words of [
    ['wait', job.id, '--timeout', '1s'],
    ['status', job.id],
  ]) {
    assert.equal((await runElsewhere(workspace, words)).code, 2, words[0]);
  }
  assert.deepEqual(recordsOf(job), before);
  assert.ok(isAlive(job.identity('child')), 'it was not touched');
  // At home it is settled.
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  assert.equal(job.state().error?.code, 'worker_lost');
});

test('cancel from another pid namespace is a request that the worker answers', { skip }, async (t) => {
  const { workspace, job } = await prepare(t);
  const child = job.identity('child');
  assert.equal((await runElsewhere(workspace, ['cancel', job.id])).code, 0);
  assert.deepEqual([job.state().state, isAlive(child)], ['canceled', false]);
});

test('the end of a job is seen from another pid namespace', { skip }, async (t) => {
  const { workspace, job } = await prepare(t);
  const waiting = runElsewhere(workspace, ['wait', job.id]);
  job.release();
  const { code, stdout } = await waiting;
  assert.deepEqual([code, stdout], [0, '']);
});

test('a job that was started in a pid namespace of its own is unseen from outside, and ends with its namespace', {
  skip,
}, async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const idFile = join(workspace.base, 'id');
  const script = 'id=$1; shift; "$@" >"$id"; exec sleep 300';
  const words = [testNode(), builtFile, 'run', '--id-only', '--', ...hold.command];
  const sandbox = spawn('unshare', [...namespace, 'sh', '-c', script, 'sh', idFile, ...words], {
    cwd: workspace.dir,
    env: workspace.env,
    stdio: 'ignore',
  });
  const identity = readIdentity(sandbox.pid!)!;
  const ended = new Promise((resolve) => sandbox.once('exit', resolve));
  workspace.defer(() => killByIdentity(identity));
  await untilHeld(hold);
  const job = findJob(workspace, readFileSync(idFile, 'utf8').trim());
  await untilStarted(job);
  const before = recordsOf(job);
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '1s'])).code, 2);
  killByIdentity(identity);
  await ended;
  makeLeaseOld(job);
  const { code, stdout } = await run(workspace, ['observe', job.id]);
  const { state, health, attention_kind } = JSON.parse(stdout) as Record<string, unknown>;
  assert.deepEqual([code, state, health, attention_kind], [2, 'running', 'attention', 'monitor_attention']);
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '1s'])).code, 2);
  assert.deepEqual(recordsOf(job), before);
});

async function prepare(t: TestContext) {
  const workspace = makeWorkspace(t);
  return { workspace, job: await launchHeld(workspace) };
}

/** The built file in a pid namespace of its own. */
async function runElsewhere(workspace: Workspace, args: string[]): Promise<{ code: number | null; stdout: string }> {
  const child = spawn('unshare', [...namespace, testNode(), builtFile, ...args], {
    cwd: workspace.dir,
    env: workspace.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout };
}

/** What nobody but the worker may change. */
function recordsOf(job: Job): Record<string, string> {
  const names = ['state.json', 'events.ndjson', 'launch.json', 'worker.json', 'spec.json'];
  const active = readdirSync(join(job.folder, '../../active')).join();
  return {
    active,
    result: String(existsSync(job.path('result.md'))),
    ...Object.fromEntries(names.map((name) => [name, job.text(name)])),
  };
}

function makeLeaseOld(job: Job): void {
  const longAgo = Date.now() / 1000 - 3600;
  utimesSync(job.path('lease.json'), longAgo, longAgo);
}

async function endNormally(workspace: Workspace, job: Job & { release(): void }): Promise<void> {
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
}
