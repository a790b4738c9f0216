/**
 * `doctor` (issue 2): explains a damaged, stuck or orphaned record and names the command that mends it; the command is run here
 * as printed, and mends it. 0 when nothing is wrong, 3 when something is. It changes nothing.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Identity, isAlive, killByIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Finding {
  id: string;
  condition: string;
  problem: string | null;
  next: string | null;
}

test('where nothing is wrong it says so with 0, also where there is no state folder', async (t) => {
  const workspace = makeWorkspace(t);
  const none = await run(workspace, ['doctor']);
  assert.deepEqual([none.code, none.stdout], [0, `nothing is wrong in ${workspace.path('.job-state')}\n`]);
  assert.equal(existsSync(workspace.path('.job-state')), false);
  const ids = [await finished(workspace, 'true', 0), await finished(workspace, 'false', 3)];
  assert.equal((await run(workspace, ['doctor'])).code, 0);
  for (const id of ids) {
    const { code, stdout } = await run(workspace, ['doctor', id]);
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`^${id}: nothing is wrong\n`));
  }
  assert.deepEqual(await diagnose(workspace, 0), []);
});

test('a running job is not wrong', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, release } = await launchHeld(workspace);
  assert.equal((await run(workspace, ['doctor', id])).code, 0);
  writeFileSync(release, '');
  assert.equal((await run(workspace, ['wait', id])).code, 0);
});

test('a lost worker is explained, and the command that it names attaches a new one', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, release, worker } = await launchHeld(workspace);
  await kill(worker);
  const before = picture(workspace);
  const [finding] = await diagnose(workspace, 3, id);
  assert.equal(finding?.condition, 'orphaned');
  assert.match(finding?.problem ?? '', /the worker is gone/);
  assert.deepEqual(await diagnose(workspace, 3), [finding]);
  assert.deepEqual(picture(workspace), before);
  writeFileSync(release, '');
  assert.equal(paste(workspace, finding?.next), 'released\n');
  assert.deepEqual(await diagnose(workspace, 0), []);
});

test('an end that nobody published is explained, and the command that it names publishes it', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, release, worker } = await launchHeld(workspace);
  await kill(worker);
  writeFileSync(release, '');
  await eventually('the end', () => existsSync(workspace.path('.job-state/jobs', id, 'exit.json')));
  const before = picture(workspace);
  const [finding] = await diagnose(workspace, 3, id);
  assert.equal(finding?.condition, 'over');
  assert.match(finding?.problem ?? '', /the end is not published yet/);
  assert.deepEqual(picture(workspace), before);
  assert.equal(paste(workspace, finding?.next), 'released\n');
  assert.deepEqual(await diagnose(workspace, 0), []);
});

test('a job of which everything was killed is explained', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, worker, shim, child } = await launchHeld(workspace);
  for (const one of [worker, shim, child]) await kill(one);
  const before = picture(workspace);
  const [finding] = await diagnose(workspace, 3, id);
  assert.equal(finding?.condition, 'lost');
  assert.deepEqual(picture(workspace), before);
  const ended = await run(workspace, ['wait', id]);
  assert.equal(ended.code, 3);
  assert.match(ended.stdout, /worker_lost/);
  assert.deepEqual(await diagnose(workspace, 0), []);
});

test('a damaged record is explained among sound ones, and left as it is', async (t) => {
  const workspace = makeWorkspace(t);
  const [sound, bad] = [await finished(workspace, 'true', 0), await finished(workspace, 'true', 0)];
  writeFileSync(workspace.path('.job-state/jobs', bad, 'state.json'), '{"sta');
  const before = picture(workspace);
  const findings = await diagnose(workspace, 3);
  assert.deepEqual(
    findings.map(({ id, condition }) => [id, condition]),
    [[bad, 'damaged']],
  );
  assert.match(findings[0]?.problem ?? '', /state.json is no JSON object; nothing was deleted/);
  assert.ok(findings[0]?.next);
  assert.match(paste(workspace, findings[0]?.next), new RegExp(sound));
  assert.deepEqual(picture(workspace), before);
});

test('a spec that was changed is explained: nothing is started or signaled for that job', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, release, worker } = await launchHeld(workspace);
  await kill(worker);
  const file = workspace.path('.job-state/jobs', id, 'spec.json');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"argv":["sh"', '"argv":["bash"'));
  const [finding] = await diagnose(workspace, 3, id);
  assert.match(
    finding?.problem ?? '',
    /spec.json was changed or written by another user: nothing is started or signaled/,
  );
  writeFileSync(file, text);
  writeFileSync(release, '');
  assert.equal((await run(workspace, ['wait', id])).stdout, 'released\n');
});

test('a marker without a job is explained, and the command that it names takes it away', async (t) => {
  const workspace = makeWorkspace(t);
  await finished(workspace, 'true', 0);
  const marker = workspace.path('.job-state/active/run-aaaaaaaa-aaaaaa');
  writeFileSync(marker, '');
  const old = new Date(Date.now() - 3_600_000);
  utimesSync(marker, old, old);
  const [finding] = await diagnose(workspace, 3);
  assert.match(finding?.problem ?? '', /marker of a live job without a job folder/);
  assert.ok(existsSync(marker));
  paste(workspace, finding?.next);
  assert.equal(existsSync(marker), false);
  assert.deepEqual(await diagnose(workspace, 0), []);
  // A status meanwhile is not disturbed by one.
  writeFileSync(marker, '');
  assert.equal((await run(workspace, ['status'])).code, 0);
  rmSync(marker);
});

test('a job whose launcher died is explained as soon as that is certain', async (t) => {
  const workspace = makeWorkspace(t);
  await finished(workspace, 'true', 0);
  const crash = join(workspace.base, 'crash.cjs');
  writeFileSync(crash, "require('node:child_process').spawn = () => process.kill(process.pid, 'SIGKILL');");
  const known = readdirSync(workspace.path('.job-state/jobs'));
  const dead = await run(workspace, ['run', '--', 'true'], { nodeOptions: ['--require', crash] });
  assert.equal(dead.signal, 'SIGKILL');
  const [id = ''] = readdirSync(workspace.path('.job-state/jobs')).filter((name) => !known.includes(name));
  // Ten seconds later, as the file says.
  const old = new Date(Date.now() - 60_000);
  utimesSync(workspace.path('.job-state/jobs', id, 'spec.json'), old, old);
  const [finding] = await diagnose(workspace, 3, id);
  assert.equal(finding?.condition, 'never_started');
  const ended = await run(workspace, ['wait', id]);
  assert.equal(ended.code, 3);
  assert.match(ended.stdout, /never_started/);
});

async function diagnose(workspace: Workspace, code: number, ...id: string[]): Promise<Finding[]> {
  const reply = await run(workspace, ['doctor', '--json', ...id]);
  assert.equal(reply.code, code, reply.stdout + reply.stderr);
  const { findings } = parseReply<{ findings: Finding[] }>(reply);
  return findings.map(({ id: of, condition, problem, next }) => ({ id: of, condition, problem, next }));
}

/** Runs a printed command as a user pastes it; gives its stdout. */
function paste(workspace: Workspace, command: string | null | undefined): string {
  assert.ok(command, 'no command is named');
  return execFileSync('sh', ['-c', command], {
    cwd: workspace.dir,
    env: workspace.env,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

interface Held {
  id: string;
  release: string;
  worker: Identity;
  shim: Identity;
  child: Identity;
}

/** A running job that prints `released` and ends when the file appears. */
async function launchHeld(workspace: Workspace): Promise<Held> {
  const release = workspace.path('release');
  workspace.defer(() => writeFileSync(release, ''));
  const wait = ['sh', '-c', 'until [ -e "$0" ]; do sleep 0.05; done; echo released', release];
  const { code, stdout, stderr } = await run(workspace, ['run', '--id-only', '--', ...wait]);
  assert.equal(code, 0, stderr);
  const id = stdout.trim();
  const folder = workspace.path('.job-state/jobs', id);
  const record = await eventually('the job to run', () => {
    const { state } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'));
    return state === 'running' && JSON.parse(readFileSync(join(folder, 'worker.json'), 'utf8'));
  });
  return {
    id,
    release,
    worker: identityOf(record.worker),
    shim: identityOf(record.shim),
    child: identityOf(record.child),
  };
}

function identityOf(record: { pid: number; start_token: string }): Identity {
  return { pid: record.pid, startTime: record.start_token };
}

async function kill(process: Identity): Promise<void> {
  killByIdentity(process);
  await eventually('the killed process to be gone', () => !isAlive(process));
}

async function finished(workspace: Workspace, command: string, code: number): Promise<string> {
  const launched = await run(workspace, ['run', '--id-only', '--', command]);
  assert.equal(launched.code, 0, launched.stderr);
  assert.equal((await run(workspace, ['wait', launched.stdout.trim()])).code, code);
  return launched.stdout.trim();
}

function picture(workspace: Workspace): string[] {
  return readdirSync(workspace.path('.job-state'), { recursive: true, withFileTypes: true })
    .filter(({ name }) => name !== 'lease.json')
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const content = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      return `${path} ${lstatSync(path).mtimeMs} ${content}`;
    })
    .sort();
}
