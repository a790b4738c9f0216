/**
 * Who would really be woken: the files of waiters/ against real processes. A file proves nothing - not that its process lives, not that it
 * runs, not that it is a wait.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { withRegistration } from '../../companion/src/jobs/registration.ts';
import { sealOf } from '../../companion/src/jobs/waiter-seal.ts';
import { lookAtWaiters, readWaiters, type WaitTerms } from '../../companion/src/jobs/waiters.ts';
import { monotonicMs } from '../../companion/src/platform/clock.ts';
import { identityOf, ownIdentity } from '../../companion/src/platform/identity.ts';
import { readProcess } from '../../companion/src/platform/process-table.ts';
import { ensureKey } from '../../companion/src/store/mac.ts';
import { eventually } from '../helpers/eventually.ts';
import type { Workspace } from '../helpers/workspace.ts';
import { jobId, makeJob, makePlace } from '../store/job-record.ts';

const terms: WaitTerms = { kind: 'wait', mode: 'all', until: [], timeoutMs: 60_000 };

/** A process that sleeps below the words of a companion's call. */
async function stand(workspace: Workspace, words: string[]) {
  const program = workspace.path('job-companion.cjs');
  writeFileSync(program, 'setInterval(() => undefined, 1e6); console.log("here");\n');
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  workspace.defer(() => ended(child));
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const identity = identityOf(child.pid as number);
  assert.ok(identity);
  return { child, identity };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

function place(t: TestContext) {
  const { workspace, root } = makePlace(t);
  const paths = makeJob(root, {});
  mkdirSync(paths.waiters);
  ensureKey();
  const write = (note: object, name = '5-5.json'): void =>
    writeFileSync(join(paths.waiters, name), JSON.stringify(note));
  const noteOf = (change: object): Record<string, unknown> => ({
    ids: [jobId],
    since: new Date().toISOString(),
    kind: 'wait',
    mode: 'any',
    until: ['attention'],
    timeout_ms: 60_000,
    ends_mono_ms: monotonicMs() + 60_000,
    ...change,
  });
  const put = (change: object, name?: string): void => {
    const note = noteOf(change);
    write({ ...note, seal: sealOf(note) }, name);
  };
  /** As whoever has no key would. */
  const forge = (change: object): void => write(noteOf(change));
  return { workspace, root, paths, put, forge, faults: () => readWaiters(root, jobId).map(({ fault }) => fault) };
}

test('a wait counts while it lives and runs; stopped and killed it does not, and goes on counting when it goes on', async (t) => {
  const { workspace, root, put, faults } = place(t);
  const { child, identity } = await stand(workspace, ['wait', jobId]);
  put({ waiter: identity });
  const [seen] = readWaiters(root, jobId);
  assert.ok(seen);
  assert.deepEqual(
    [seen.fault, seen.mode, seen.until, seen.ids, seen.kind],
    [null, 'any', ['attention'], [jobId], 'wait'],
  );
  assert.ok(seen.leftMs !== null && seen.leftMs > 0 && seen.leftMs <= 60_000);
  child.kill('SIGSTOP');
  await eventually('it to stop', () => readProcess(identity.pid)?.state === 'T');
  assert.deepEqual(faults(), ['stopped']);
  child.kill('SIGCONT');
  await eventually('it to go on', () => faults()[0] === null);
  await ended(child);
  assert.deepEqual(faults(), ['dead']);
});

test('a file that names a process which is no such call is no waiter', async (t) => {
  const { workspace, put, faults } = place(t);
  put({ waiter: ownIdentity() });
  assert.deepEqual(faults(), ['stranger']);
  const { identity } = await stand(workspace, ['observe', jobId]);
  put({ waiter: identity });
  assert.deepEqual(faults(), ['stranger']);
  const watch = await stand(workspace, ['watch', 'job', jobId, '--foreground']);
  put({ waiter: watch.identity });
  assert.deepEqual(faults(), ['stranger']);
  put({ waiter: watch.identity, kind: 'foreground' });
  assert.deepEqual(faults(), [null]);
});

test('a copy of another place, a link of another name, and a launch that waits are calls of ours', async (t) => {
  const { workspace, put, faults } = place(t);
  const launched = await stand(workspace, ['run', '--wait', '--', 'true']);
  put({ waiter: launched.identity });
  assert.deepEqual(faults(), [null]);
  symlinkSync('job-companion.cjs', workspace.path('jc'));
  const child = spawn(process.execPath, ['--no-warnings', 'jc', 'wait'], {
    cwd: workspace.dir,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  workspace.defer(() => ended(child));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  put({ waiter: identityOf(child.pid as number) });
  assert.deepEqual(faults(), [null]);
});

test('a forged file counts for no more than the command line of its process says', async (t) => {
  const { workspace, root, paths, put, forge, faults } = place(t);
  const other = await stand(workspace, ['wait', 'run-loyw3v28-000000', '--timeout', '1h']);
  put({ waiter: other.identity, ids: ['run-loyw3v28-000000'] });
  const file = join(paths.waiters, '5-5.json');
  const copy = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...copy, ids: [jobId] }));
  assert.deepEqual(faults(), ['stranger']);
  forge({ waiter: (await stand(workspace, ['run', '--wait', '--', 'true'])).identity });
  assert.deepEqual(faults(), ['stranger']);
  const short = await stand(workspace, ['wait', jobId, '--owner', 'o2', '--timeout', '5s']);
  forge({ waiter: short.identity, until: ['handback'], owner: 'o1', ends_mono_ms: monotonicMs() + 3_600_000 });
  const [seen] = readWaiters(root, jobId);
  assert.ok(seen?.leftMs && seen.leftMs <= 5000);
  assert.deepEqual([seen.fault, seen.until, seen.owner], [null, [], 'o2']);
});

test('a copy of any name counts when it is sealed; a verb must be there', async (t) => {
  const { workspace, put, forge, faults } = place(t);
  const program = workspace.path('jc.cjs');
  writeFileSync(program, 'setInterval(() => undefined, 1e6); console.log("here");\n');
  for (const [verb, fault] of [
    ['wait', null],
    ['observe', 'stranger'],
  ] as const) {
    const child = spawn(process.execPath, [program, verb, jobId], { stdio: ['ignore', 'pipe', 'ignore'] });
    workspace.defer(() => ended(child));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    put({ waiter: identityOf(child.pid as number) });
    assert.deepEqual(faults(), [fault]);
    forge({ waiter: identityOf(child.pid as number) });
    assert.deepEqual(faults(), ['stranger']);
  }
});

test('of a flooded folder the newest are read, and the rest is counted', async (t) => {
  const { workspace, root, paths, put } = place(t);
  for (let n = 10; n < 1110; n += 1) {
    const file = join(paths.waiters, `${n}-1.json`);
    writeFileSync(file, '{}');
    utimesSync(file, 1, 1);
  }
  const { identity } = await stand(workspace, ['wait', jobId]);
  put({ waiter: identity }, '99999-9.json');
  const seen = lookAtWaiters(root, jobId);
  assert.deepEqual([seen.waiters.length, seen.cut, seen.closed], [1, 101, null]);
});

test('what cannot be recorded is said in one line, and waits all the same', async (t) => {
  const { root, paths } = place(t);
  rmSync(paths.waiters, { recursive: true });
  writeFileSync(paths.waiters, '');
  const told: string[] = [];
  const answer = await withRegistration(root, [jobId], { ...terms, tell: (line) => told.push(line) }, async () => 7);
  assert.deepEqual([answer, told.length, lookAtWaiters(root, jobId).closed], [7, 1, 'ENOTDIR']);
  assert.match(told[0] ?? '', /^this wait is not recorded/);
});

test('a pid of another start, boot or namespace is not taken for the waiter', async (t) => {
  const { workspace, put, faults } = place(t);
  const { identity } = await stand(workspace, ['wait', jobId]);
  put({ waiter: { ...identity, start_token: '1' } });
  assert.deepEqual(faults(), ['dead']);
  put({ waiter: { ...identity, boot_id: 'another' } });
  assert.deepEqual(faults(), ['dead']);
  put({ waiter: { ...identity, pid_ns: 'pid:[1]' } });
  assert.deepEqual(faults(), ['unseen']);
});

test('a wait past its bound, of another job, or of no form is no delivery', async (t) => {
  const { workspace, root, put, faults } = place(t);
  const { identity } = await stand(workspace, ['wait', jobId]);
  put({ waiter: identity, ends_mono_ms: monotonicMs() - 1 });
  assert.deepEqual(faults(), ['over']);
  put({ waiter: identity, ids: ['run-loyw3v28-000000'] });
  assert.deepEqual(faults(), []);
  for (const change of [{ waiter: 7 }, { waiter: identity, ids: 'x' }, { waiter: identity, since: 'long ago' }]) {
    put(change);
    assert.deepEqual(faults(), []);
  }
  // As an earlier release wrote it.
  put({ waiter: identity, kind: undefined, mode: undefined, until: undefined, ends_mono_ms: undefined });
  const [old] = readWaiters(root, jobId);
  assert.ok(old?.leftMs && old.leftMs > 50_000 && old.fault === null);
  put({ waiter: identity, timeout_ms: Number.MAX_SAFE_INTEGER, ends_mono_ms: null });
  assert.equal(readWaiters(root, jobId)[0]?.leftMs, null);
});

test('one that was orphaned says so', async (t) => {
  const { workspace, root, put } = place(t);
  const { identity } = await stand(workspace, ['wait', jobId]);
  put({ waiter: identity, parent: ownIdentity() });
  assert.equal(readWaiters(root, jobId)[0]?.isOrphan, false);
  put({ waiter: identity, parent: { ...ownIdentity(), start_token: '1' } });
  assert.equal(readWaiters(root, jobId)[0]?.isOrphan, true);
});

test('a registration says who, what and until when; it takes away what the dead left, and nothing else', async (t) => {
  const { root, paths, put } = place(t);
  put({ waiter: { ...ownIdentity(), start_token: '1' } });
  put({ seq: 3 }, 'delivered.json');
  await withRegistration(root, [jobId], { ...terms, mode: 'any', until: ['news'] }, async () => {
    const names = readdirSync(paths.waiters).sort();
    assert.equal(names.length, 2, names.join());
    const note = JSON.parse(readFileSync(join(paths.waiters, names[0] as string), 'utf8'));
    assert.deepEqual(
      [note.waiter, note.kind, note.mode, note.until, note.ids, note.timeout_ms],
      [ownIdentity(), 'wait', 'any', ['news'], [jobId], 60_000],
    );
    assert.ok(Math.abs(Date.parse(note.ends_at) - Date.parse(note.since) - 60_000) < 1000);
    assert.equal(note.parent.pid, process.ppid);
  });
  assert.deepEqual(readdirSync(paths.waiters), ['delivered.json']);
  await withRegistration(root, [jobId], { ...terms, timeoutMs: Number.MAX_SAFE_INTEGER }, async () => {
    const [name] = readdirSync(paths.waiters).sort();
    assert.equal(JSON.parse(readFileSync(join(paths.waiters, name as string), 'utf8')).ends_at, null);
  });
});
