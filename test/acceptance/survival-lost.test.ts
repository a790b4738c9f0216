/**
 * When nobody is left who could tell how a command ended: worker and shim killed, another boot of the machine, records
 * that name strangers. The job is called what it is, once; its tree is ended, what it printed is kept, and a pid that is
 * somebody else's by now is never signaled.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Identity as RecordedIdentity } from '../../companion/src/core/job.ts';
import { builtFile, type RunResult, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  findJob,
  type Job,
  killNow,
  killSupervision,
  launch,
  launchHeld,
  makeHold,
  program,
  untilHeld,
  untilPid,
  untilStarted,
} from '../helpers/jobs.ts';
import { type Identity, isAlive, killByIdentity, readIdentity } from '../helpers/process.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const members = ['child', 'stubborn', 'session', 'bare', 'daemon'] as const;

test('a job whose worker and shim are killed is crashed for a pending wait, its tree ended, its output kept', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, tree } = await launchTree(workspace);
  const waiting = start(workspace, ['wait', job.id]);
  await eventually('the wait', () => readdirSync(job.path('waiters')).length === 1);
  await killSupervision(job);
  const { code, stdout, stderr } = await waiting.promise;
  assert.equal(code, 3);
  checkLost(job);
  for (const [name, identity] of tree) assert.equal(isAlive(identity), false, name);
  assert.equal(job.text('output.log'), 'seen so far\n');
  assert.match(stdout, /seen so far/);
  assert.match(stdout, new RegExp(`restart ${job.id}`));
  assert.match(stderr, /crashed, worker_lost/);
  // Everybody who asks later sees the same, and nobody writes it a second time.
  const record = job.text('state.json');
  for (const verb of ['wait', 'result', 'status', 'observe'])
    assert.equal((await run(workspace, [verb, job.id])).code, 3);
  assert.equal(job.text('state.json'), record);
  checkLost(job);
});

for (const [verb, code] of [
  ['status', 3],
  ['observe', 3],
  ['result', 3],
  ['wait', 3],
  ['cancel', 1],
] as const) {
  test(`${verb} settles a job whose worker and shim were killed before`, async (t) => {
    const workspace = makeWorkspace(t);
    const job = await launchHeld(workspace);
    const child = job.identity('child');
    await killSupervision(job);
    assert.equal((await run(workspace, [verb, job.id])).code, code);
    checkLost(job);
    assert.equal(isAlive(child), false);
  });
}

test('five waits that see worker and shim die settle the job once', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const waits = Array.from({ length: 5 }, () => start(workspace, ['wait', job.id]));
  await killSupervision(job);
  for (const { promise } of waits) assert.equal((await promise).code, 3);
  checkLost(job);
});

test('a shim that is killed alone leaves a crashed job without a tree', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, tree } = await launchTree(workspace);
  await killNow('the shim', job.identity('shim'));
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  checkLost(job);
  for (const [name, identity] of tree) assert.equal(isAlive(identity), false, name);
});

test('a shim that is killed alone leaves no tree with --keep-children either', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--keep-children'] });
  const child = job.identity('child');
  workspace.defer(() => killByIdentity(child));
  await killNow('the shim', job.identity('shim'));
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  checkLost(job);
  assert.equal(isAlive(child), false, 'the command itself is no left-over child of it');
});

test('a job of another boot of the machine is host_restarted, written once, and its old pids are left alone', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const child = job.identity('child');
  await killSupervision(job);
  await killNow('the child', child);
  const stranger = await startStranger(workspace);
  const old = (identity: RecordedIdentity) => ({ ...identity, pid: stranger.identity.pid, boot_id: 'another-boot' });
  rewriteIdentities(job, old);

  const { code, stderr } = await run(workspace, ['status', job.id]);
  assert.equal(code, 3, stderr);
  checkHostRestarted(job);
  const record = job.text('state.json');
  for (const verb of ['wait', 'result', 'observe']) assert.equal((await run(workspace, [verb, job.id])).code, 3);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 1);
  assert.equal(job.text('state.json'), record);
  checkHostRestarted(job);
  await stranger.checkUnharmed();
});

test('a real change of the boot id is seen: wait gives 3 and host_restarted', async (t) => {
  const workspace = makeWorkspace(t);
  if (!canUnshareMounts()) return t.skip('needs the right to make a mount namespace');
  const job = await launchHeld(workspace);
  const child = job.identity('child');
  await killSupervision(job);
  await killNow('the child', child);
  assert.equal((await runAfterRestart(workspace, ['wait', job.id])).code, 3);
  checkHostRestarted(job);
  // Back on the first boot it stays what it was called.
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  checkHostRestarted(job);
});

test('a job that had ended before the machine was restarted keeps its own end', async (t) => {
  const workspace = makeWorkspace(t);
  if (!canUnshareMounts()) return t.skip('needs the right to make a mount namespace');
  const job = await launchHeld(workspace, { exitCode: 7 });
  killByIdentity(job.identity('worker'), 'SIGSTOP');
  job.release();
  await eventually('exit.json', () => job.has('exit.json'));
  await killNow('the worker', job.identity('worker'));
  const { code } = await runAfterRestart(workspace, ['wait', job.id]);
  assert.deepEqual([code, job.state().state, job.state().exit_code], [3, 'failed', 7]);
});

for (const [verb, code] of [
  ['status', 3],
  ['wait', 3],
  ['cancel', 1],
] as const) {
  test(`${verb} sends no signal to a living stranger that has the recorded pids now, and calls the job crashed`, async (t) => {
    const workspace = makeWorkspace(t);
    const job = await launchHeld(workspace);
    const child = job.identity('child');
    await killSupervision(job);
    await killNow('the child', child);
    const stranger = await startStranger(workspace);
    // Numbers come round: the pids are taken again, the start times cannot be.
    rewriteIdentities(job, (identity) => ({ ...identity, pid: stranger.identity.pid }));
    assert.equal((await run(workspace, [verb, job.id])).code, code);
    checkLost(job);
    await stranger.checkUnharmed();
  });
}

test('cancel of a running job whose records name a stranger ends the job and not the stranger', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, tree } = await launchTree(workspace);
  const stranger = await startStranger(workspace);
  await killNow('the worker', job.identity('worker'));
  rewriteIdentities(job, (identity, name) =>
    name === 'worker' ? { ...identity, pid: stranger.identity.pid } : identity,
  );
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  for (const [name, identity] of tree) assert.equal(isAlive(identity), false, name);
  await stranger.checkUnharmed();
});

test('a worker that is a zombie counts as dead', async (t) => {
  const workspace = makeWorkspace(t);
  // The launcher is the worker's parent; stopped, it cannot reap it.
  const hold = makeHold(workspace, 5);
  const launcher = start(workspace, ['run', '--wait', '--', ...hold.command]);
  await untilHeld(hold);
  const id = /job (\S+)/.exec(launcher.stderr())?.[1] ?? '';
  const job = findJob(workspace, id);
  await untilStarted(job);
  launcher.kill('SIGSTOP');
  const worker = job.identity('worker');
  killByIdentity(worker);
  await eventually('a zombie', () => /^\d+ \(.*\) Z/.test(readFileSync(`/proc/${worker.pid}/stat`, 'utf8')));
  const observed = await run(workspace, ['observe', id]);
  assert.equal(JSON.parse(observed.stdout).attention_kind, 'monitor_attention');
  const waiting = start(workspace, ['wait', id]);
  await eventually('a replacement', () => job.launch().generation === 2);
  assert.ok(existsSync(`/proc/${worker.pid}`), 'the zombie is still there');
  hold.release();
  assert.equal((await waiting.promise).code, 3);
  assert.equal(job.state().exit_code, 5);
  launcher.kill('SIGCONT');
  assert.equal((await launcher.promise).code, 3);
});

async function launchTree(workspace: Workspace): Promise<{ job: Job; tree: [string, Identity][] }> {
  const folder = join(workspace.base, 'tree');
  mkdirSync(folder);
  const command = ['sh', '-c', 'echo seen so far; exec sh "$@"', 'sh', program('grow-tree.sh'), folder];
  const job = await launch(workspace, ['--kill-after', '1s', '--', ...command]);
  const tree: [string, Identity][] = [];
  for (const name of members) tree.push([name, await untilPid(join(folder, name))]);
  await untilStarted(job);
  return { job, tree };
}

function checkLost(job: Job): void {
  const state = job.state();
  assert.deepEqual([state.state, state.error?.code, state.exit_code], ['crashed', 'worker_lost', null]);
  assert.equal(job.events('ended').length, 1);
}

function checkHostRestarted(job: Job): void {
  const state = job.state();
  assert.deepEqual([state.state, state.error?.code, state.reconciled], ['crashed', 'host_restarted', true]);
  assert.equal(job.events('ended').length, 1);
}

/** Change who launch.json and worker.json say is who. */
function rewriteIdentities(job: Job, change: (identity: RecordedIdentity, name: string) => RecordedIdentity): void {
  for (const file of ['launch.json', 'worker.json']) {
    const record = job.json<Record<string, unknown>>(file);
    for (const name of ['worker', 'shim', 'child'])
      if (record[name]) record[name] = change(record[name] as RecordedIdentity, name);
    writeFileSync(job.path(file), `${JSON.stringify(record)}\n`);
  }
}

interface Stranger {
  identity: Identity;
  checkUnharmed(): Promise<void>;
}

/** A process of the test, in a session and group of its own, that writes down every signal it gets. */
async function startStranger(workspace: Workspace): Promise<Stranger> {
  const file = join(workspace.base, 'signals');
  const child = spawn(testNode(), [program('note-signals.mjs'), file], {
    detached: true,
    env: workspace.env,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const identity = readIdentity(child.pid!)!;
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])));
  workspace.defer(() => killByIdentity(identity));
  await eventually('the stranger to listen', () => existsSync(file) && readFileSync(file, 'utf8'));
  return {
    identity,
    async checkUnharmed() {
      // SIGUSR2 of our own comes after all earlier ones: it proves that it hears, and that it heard nothing else.
      process.kill(identity.pid, 'SIGUSR2');
      await eventually('our own signal', () => readFileSync(file, 'utf8').includes('SIGUSR2'));
      child.stdin.end();
      assert.deepEqual(await ended, [0, null]);
      assert.equal(readFileSync(file, 'utf8'), 'ready\nSIGUSR2\n');
    },
  };
}

function canUnshareMounts(): boolean {
  return (
    spawnSync('unshare', ['-m', 'mount', '--bind', '/proc/uptime', '/proc/sys/kernel/random/boot_id']).status === 0
  );
}

/** The built file, on a machine that says it was booted again. */
function runAfterRestart(workspace: Workspace, args: string[]): Promise<Pick<RunResult, 'code'>> {
  const boot = join(workspace.base, 'boot-id');
  writeFileSync(boot, '01234567-89ab-cdef-0123-456789abcdef\n');
  const script = 'mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"';
  const child = spawn('unshare', ['-m', 'sh', '-c', script, 'sh', boot, testNode(), builtFile, ...args], {
    cwd: workspace.dir,
    env: workspace.env,
    stdio: 'ignore',
  });
  return new Promise((resolve) => child.once('exit', (code) => resolve({ code })));
}
