/**
 * Timers and what may happen to their place: a restart of the machine, a reader in another pid namespace, a folder that cannot be
 * written, launchers that die, sleeping workers.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Spec } from '../../companion/src/core/job.ts';
import { macOf } from '../../companion/src/store/mac.ts';
import { builtFile, parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, program } from '../helpers/jobs.ts';
import { killByIdentity } from '../helpers/process.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const pidNamespace = ['--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = (words: string[]) => spawnSync('unshare', [...words, 'true']).status === 0;
const noNamespace = canUnshare(pidNamespace) ? false : 'needs the right to make a pid namespace';
const noMount = canUnshare(['--mount']) ? false : 'needs the right to mount';

async function arm(workspace: Workspace, ...words: string[]): Promise<Job> {
  const result = await run(workspace, ['timer', ...words, '--id-only']);
  assert.equal(result.code, 0, result.stderr);
  return findJob(workspace, result.stdout.trim());
}

const dueOf = (job: Job) => Date.parse(job.json<Spec>('spec.json').timer?.due_at ?? '');
const untilDue = (job: Job) => eventually('the instant', () => Date.now() >= dueOf(job));

/** A record as the user's own launcher would have written it. */
async function rewrite(workspace: Workspace, job: Job, change: (spec: Spec) => Partial<Spec>): Promise<void> {
  const key = readFileSync(join(workspace.home, '.config', 'job-companion', 'key'), 'utf8').trim();
  const { mac: _, ...spec } = job.json<Spec>('spec.json');
  const changed = { ...spec, ...change({ ...spec, mac: '' }) };
  writeFileSync(job.path('spec.json'), JSON.stringify({ ...changed, mac: await macOf(changed, key) }));
}

function elsewhere(
  workspace: Workspace,
  words: string[],
  command: string[],
): Promise<{ code: number | null; stdout: string }> {
  const child = spawn('unshare', [...words, ...command], { cwd: workspace.dir, env: workspace.env, stdio: 'pipe' });
  let stdout = '';
  child.stdout.on('data', (bytes) => {
    stdout += bytes;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout })));
}

const companion = (...words: string[]) => [testNode(), builtFile, ...words];

test('a restart of the machine loses no timer: one that came due meanwhile is settled, one that is armed stays so', async (t) => {
  const workspace = makeWorkspace(t);
  const [over, armed] = [
    await arm(workspace, 'in', '1h', '--message', 'while you were away'),
    await arm(workspace, 'in', '1h'),
  ];
  const launcher = (spec: Spec) => ({ ...spec.launcher, boot_id: 'an earlier boot' });
  await rewrite(workspace, over, (spec) => ({
    launcher: launcher(spec),
    timer: { ...(spec.timer as NonNullable<Spec['timer']>), due_at: new Date(Date.now() - 7_200_000).toISOString() },
  }));
  await rewrite(workspace, armed, (spec) => ({ launcher: launcher(spec) }));
  assert.equal((await run(workspace, ['observe', armed.id])).code, 2);
  assert.equal(armed.state().state, 'running');
  const waited = await run(workspace, ['wait', over.id]);
  assert.deepEqual([waited.code, waited.stdout], [0, 'while you were away']);
  assert.deepEqual([over.state().state, over.state().reconciled], ['done', true]);
  assert.equal((await run(workspace, ['cancel', armed.id])).code, 0);
});

test('a reader in another pid namespace settles a due timer and cancels an armed one', {
  skip: noNamespace,
}, async (t) => {
  const workspace = makeWorkspace(t);
  const [due, armed] = [await arm(workspace, 'in', '1s', '--message', 'x'), await arm(workspace, 'in', '1h')];
  await untilDue(due);
  const waited = await elsewhere(workspace, pidNamespace, companion('wait', due.id));
  assert.deepEqual([waited.code, waited.stdout, due.state().state], [0, 'x', 'done']);
  assert.equal((await elsewhere(workspace, pidNamespace, companion('cancel', armed.id))).code, 0);
  assert.equal(armed.state().state, 'canceled');
});

test('from a folder that cannot be written a due timer is reported, and settled by a reader that can', {
  skip: noMount,
}, async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, 'in', '1s', '--message', 'x');
  await untilDue(job);
  const folder = workspace.path('.job-state');
  const script = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`;
  for (const words of [['observe'], ['status'], ['wait', '--timeout', '1s']]) {
    const [verb = '', ...rest] = words;
    const seen = await elsewhere(
      workspace,
      ['--mount'],
      ['sh', '-c', script, folder, ...companion(verb, job.id, ...rest)],
    );
    assert.equal(seen.code, 2, verb);
    assert.match(seen.stdout, /its end could not be stored from here/, verb);
  }
  assert.equal(job.state().state, 'running');
  assert.equal((await run(workspace, ['wait', job.id])).stdout, 'x');
});

test('a launcher killed at any moment leaves the slot with an armed timer, and the next one leaves exactly one', async (t) => {
  const workspace = makeWorkspace(t);
  await arm(workspace, 'in', '1h', '--slot', 's');
  // A launcher that died while it wrote its marker leaves the temporary file: that is no job.
  const ids = () => readdirSync(workspace.path('.job-state', 'active')).filter((name) => !name.startsWith('.'));
  const live = () => ids().filter((id) => isArmed(workspace, id));
  for (let round = 0; round < 24; round += 1) {
    const launcher = start(workspace, ['timer', 'in', '1h', '--slot', 's']);
    const at = performance.now() + 30 + round * 8;
    await eventually('the moment', () => performance.now() >= at, { everyMs: 1 });
    launcher.kill();
    await launcher.promise;
    assert.ok(live().length >= 1, `round ${round}`);
  }
  const last = await arm(workspace, 'in', '1h', '--slot', 's');
  assert.deepEqual(live(), [last.id]);
  assert.equal(workspace.read('.job-state/slots/s').trim(), last.id);
});

function isArmed(workspace: Workspace, id: string): boolean {
  const job = findJob(workspace, id);
  return job.has('state.json') && job.state().state === 'running';
}

test('a stopped worker holds no timer back: a reader settles it, and the worker tells when it goes on', async (t) => {
  const workspace = makeWorkspace(t);
  const file = join(workspace.base, 'told');
  const notify = JSON.stringify([program('notifier.sh'), file]);
  const job = await arm(workspace, 'in', '2s', '--message', 'x', '--notify', notify);
  const worker = job.identity('launched');
  await eventually('the worker to have it', () => job.events('claimed').length === 1);
  killByIdentity(worker, 'SIGSTOP');
  const waited = await run(workspace, ['wait', job.id]);
  assert.deepEqual([waited.code, waited.stdout, job.state().reconciled], [0, 'x', true]);
  assert.deepEqual(job.events('notified'), []);
  killByIdentity(worker, 'SIGCONT');
  await eventually('the notice', () => job.events('notified').length === 1);
  assert.deepEqual([job.events('ended').length, job.events('late_evidence').length], [1, 0]);
  assert.equal(readFileSync(file, 'utf8').trim().split('\n').length, 1);
});

test('a cancel that comes after the instant changes nothing, also when nobody has written down the end yet', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, 'in', '1s', '--message', 'x', '--notify', '/bin/true');
  const worker = job.identity('launched');
  await eventually('the worker to have it', () => job.events('claimed').length === 1);
  killByIdentity(worker, 'SIGSTOP');
  await untilDue(job);
  const late = await run(workspace, ['cancel', job.id]);
  killByIdentity(worker, 'SIGCONT');
  assert.deepEqual([late.code, job.state().state], [1, 'done'], late.stderr);
  assert.deepEqual([(await run(workspace, ['wait', job.id])).stdout, job.events('ended').length], ['x', 1]);
});

test('readers say when the worker that should tell is gone', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, 'in', '1h', '--notify', '/bin/true');
  const worker = job.identity('launched');
  killByIdentity(worker);
  const seen = await eventually('attention', async () => {
    const reply = parseReply(await run(workspace, ['observe', job.id]));
    return reply.health === 'attention' && reply;
  });
  assert.equal(seen.attention_kind, 'monitor_attention');
  assert.match(String(seen.reason), /whoever looks first when it is due/);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  await eventually('the notice', () => job.events('notified').length === 1);
});
