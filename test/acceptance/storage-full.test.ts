/**
 * A disk that has no room, may not be written, or goes away (h1, l1, l2): a launch ends with 1 and leaves nothing, a key
 * that a failed launch used is free again, the outcome and exit code of a job that filled the disk are told, readers read.
 * Real file systems: small tmpfs mounts, so these need root.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { parseReply, type RunOptions, type RunResult, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Identity, isAlive, killByIdentity, readIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const skip = process.getuid?.() === 0 && process.platform === 'linux' ? false : 'needs root on Linux to mount';

test('a launch on a full disk is refused and leaves nothing half-written', { skip }, async (t) => {
  const { workspace, disk, options } = makeDisk(t, 'size=256k');
  fill(disk);
  const before = tree(disk);
  const refused = await run(workspace, ['run', '--', 'touch', 'ran'], options);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /^job-companion: cannot [^\n]*\/small\/state[^\n]*ENOSPC[^\n]*\ntry: [^\n]*--state-dir/);
  assert.deepEqual(tree(disk), before);
  assert.equal(existsSync(workspace.path('ran')), false);
  rmSync(join(disk, 'filler'));
  assert.equal((await run(workspace, ['run', '--wait', '--', 'echo', 'room'], options)).stdout, 'room\n');
});

test('a disk that fills up while the state folder is made leaves a folder that can be used later', {
  skip,
}, async (t) => {
  for (let room = 0; room < 9; room += 1) {
    const { workspace, disk } = makeDisk(t, 'size=256k');
    const options = { env: { JOB_STATE_DIR: disk } };
    execFileSync('mount', ['-o', `remount,nr_inodes=${room + 1}`, disk]);
    const first = await run(workspace, ['run', '--wait', '--', 'true'], options);
    assert.notEqual(first.code, 0, `${room} inodes`);
    execFileSync('mount', ['-o', 'remount,nr_inodes=1000', disk]);
    const second = await run(workspace, ['run', '--wait', '--', 'echo', 'room'], options);
    assert.deepEqual([second.code, second.stdout], [0, 'room\n'], `${room} inodes: ${second.stderr}`);
  }
});

test('wherever a launch runs out of room, nothing is half-written and its once-key never runs twice', {
  skip,
}, async (t) => {
  const seen = { refused: 0, launched: 0 };
  const made: (Disk & { id: string; count: string; isKept: boolean })[] = [];
  for (let room = 0; room < 14; room += 1) {
    // A disk for each: a worker that was started all the same uses room as well.
    const one = makeDisk(t, 'size=4m,nr_inodes=200');
    const { workspace, disk, options } = one;
    assert.equal((await run(workspace, ['run', '--wait', '--', 'true'], options)).code, 0);
    const count = join(workspace.base, 'count');
    const args = ['run', '--id-only', '--once-key', 'key', '--', 'sh', '-c', 'echo run >>"$0"', count];
    leaveInodes(disk, room);
    const before = tree(join(disk, 'state'));
    const first = await run(workspace, args, options);
    const isClean = isDeepStrictEqual(tree(join(disk, 'state')), before);
    rmSync(join(disk, 'inodes'), { recursive: true });
    seen[first.code === 0 ? 'launched' : 'refused'] += 1;
    if (first.code !== 0) {
      assert.equal(first.code, 1, `${room} inodes`);
      assert.match(first.stderr, /^job-companion: cannot [^\n]*ENOSPC/, `${room} inodes`);
    }
    const id = await launch(workspace, args, options);
    if (first.code === 0) assert.equal(`${id}\n`, first.stdout);
    // A key that was given out already keeps its job, which may say that it never started.
    made.push({ ...one, id, count, isKept: first.code === 1 && !isClean });
  }
  assert.ok(seen.refused > 3 && seen.launched > 0, JSON.stringify(seen));
  for (const [room, { workspace, disk, options, id, count, isKept }] of made.entries()) {
    const { code, stdout, stderr } = await run(workspace, ['wait', id, '--timeout', '30s'], options);
    const runs = existsSync(count) ? readFileSync(count, 'utf8') : '';
    const told = /\((never_started)\)/.exec(stdout)?.[1];
    const expected = isKept && code === 3 ? [3, 'never_started', ''] : [0, undefined, 'run\n'];
    assert.deepEqual([code, told, runs], expected, `${room} inodes: ${stdout}${stderr}`);
    assert.deepEqual(readdirSync(join(disk, 'state/active')), [], `${room} inodes`);
    const jobs = readdirSync(join(disk, 'state/jobs'));
    assert.deepEqual(
      jobs.filter((name) => name.startsWith('.')),
      [],
      `${room} inodes`,
    );
  }
});

test('without a once-key, a launch that runs out of room leaves nothing at all', { skip }, async (t) => {
  const { workspace, disk, options } = makeDisk(t, 'size=4m,nr_inodes=400');
  assert.equal((await run(workspace, ['run', '--wait', '--', 'true'], options)).code, 0);
  let refused = 0;
  for (let room = 0; room < 12; room += 1) {
    leaveInodes(disk, room);
    const before = tree(join(disk, 'state'));
    const first = await run(workspace, ['run', '--id-only', '--', 'true'], options);
    const after = tree(join(disk, 'state'));
    rmSync(join(disk, 'inodes'), { recursive: true });
    if (first.code === 0) assert.equal((await run(workspace, ['wait', first.stdout.trim()], options)).code, 0);
    else {
      refused += 1;
      assert.equal(first.code, 1);
      assert.deepEqual(after, before, `${room} inodes`);
    }
  }
  assert.ok(refused > 3 && refused < 12, `${refused} refused`);
});

const fillers: [what: string, args: string[], exit: number][] = [
  ['a command', ['run', '--', 'sh', '-c', 'head -c 32M /dev/zero; exit 7'], 7],
  ['a command that does not mind', ['run', '--', 'sh', '-c', 'head -c 32M /dev/zero; exit 0'], 0],
  [
    'a command with much on both streams',
    ['run', '--', 'sh', '-c', 'head -c 32M /dev/zero | tee /dev/stderr; exit 9'],
    9,
  ],
  ['a custom backend', ['staffer', '--backend', 'filler', '--prompt', 'exit 7'], 7],
  ['a custom backend that does not mind', ['staffer', '--backend', 'filler', '--prompt', 'exit 0'], 0],
];
for (const [what, args, exit] of fillers) {
  test(`${what} whose output fills the disk: its exit code ${exit} is told, and no record is torn`, {
    skip,
  }, async (t) => {
    const { workspace, disk, options } = makeDisk(t, 'size=6m');
    withFiller(workspace);
    const other = await launch(workspace, ['run', '--id-only', '--', 'echo', 'other'], options);
    assert.equal((await run(workspace, ['wait', other], options)).code, 0);
    const [verb = '', ...rest] = args;
    const id = await launch(workspace, [verb, '--id-only', ...rest], options);
    const ended = await run(workspace, ['wait', id, '--timeout', '30s'], options);
    const folder = join(disk, 'state/jobs', id);
    assert.ok(ended.code === 3 || (ended.code === 0 && exit === 0), `${ended.code}: ${ended.stderr}`);
    if (exit !== 0) assert.match(ended.stderr + ended.stdout, new RegExp(`exit code ${exit}`, 'i'));
    assertWhole(folder);
    const state = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'));
    assert.equal(state.exit_code, exit, JSON.stringify(state));
    assert.deepEqual(readdirSync(join(disk, 'state/active')), []);
    for (const reader of [['status'], ['result', other]]) {
      assert.equal((await run(workspace, reader, options)).code, 0, reader[0]);
    }
    assert.equal((await run(workspace, ['result', id], options)).code, ended.code);
  });
}

test('wherever a worker or shim runs out of room at the start, it is told as that, and the job goes on or ends as it was', {
  skip,
}, async (t) => {
  const faults: string[] = [];
  let launched = 0;
  for (let room = 6; room <= 30; room += 4) {
    const { workspace, disk, options } = makeDisk(t, 'size=4m,nr_inodes=200');
    assert.equal((await run(workspace, ['run', '--wait', '--', 'true'], options)).code, 0);
    const count = join(workspace.base, 'count');
    leaveInodes(disk, room);
    const args = ['run', '--id-only', '--', 'sh', '-c', 'echo run >>"$0"; exit 7', count];
    const first = await run(workspace, args, options);
    const id = first.stdout.trim();
    if (first.code !== 0) {
      rmSync(join(disk, 'inodes'), { recursive: true });
      assert.doesNotMatch(first.stderr, /internal error/);
      continue;
    }
    launched += 1;
    const waiting = run(workspace, ['wait', id, '--timeout', '500ms'], { ...options, limitMs: 8_000 });
    const told = await waiting.then(({ stderr }) => stderr, String);
    rmSync(join(disk, 'inodes'), { recursive: true });
    if (/internal error|not over after/.test(told)) faults.push(`${room} inodes: ${told.slice(0, 300)}`);
    const end = await run(workspace, ['wait', id, '--json', '--timeout', '30s'], options);
    const { exit_code, error } = parseReply<{ exit_code: number; error: { code: string } }>(end);
    const runs = existsSync(count) ? readFileSync(count, 'utf8') : '';
    const seen = `${room} inodes: ${end.code} ${exit_code} ${error.code}, ran ${JSON.stringify(runs)}`;
    // Nobody was killed: worker_lost would be a lie.
    const isTold = runs === '' ? error.code !== 'worker_lost' : runs === 'run\n' && exit_code === 7;
    if (end.code !== 3 || !isTold) faults.push(seen);
  }
  assert.ok(launched > 3, `${launched} launched`);
  assert.deepEqual(faults, []);
});

test('a worker that is killed on a full disk costs neither the exit code nor the sight of other jobs', {
  skip,
}, async (t) => {
  const { workspace, disk, options } = makeDisk(t, 'size=4m');
  const release = join(workspace.base, 'release');
  workspace.defer(() => writeFileSync(release, ''));
  const other = await launch(workspace, ['run', '--id-only', '--', 'echo', 'other'], options);
  assert.equal((await run(workspace, ['wait', other], options)).code, 0);
  const wait = ['sh', '-c', 'until [ -e "$0" ]; do sleep 0.05; done; exit 7', release];
  const id = await launch(workspace, ['run', '--id-only', '--', ...wait], options);
  const folder = join(disk, 'state/jobs', id);
  await kill(await runningWorker(folder));
  rmSync(join(folder, 'reserve'));
  fill(disk);
  writeFileSync(release, '');
  await eventually('the end of the command', () => existsSync(join(folder, 'exit.json')));
  const full = await run(workspace, ['wait', id, '--timeout', '5s'], options);
  assert.ok(full.code === 1 || full.code === 3, `${full.code}`);
  assert.match(full.stderr, /exit code 7/);
  const status = await run(workspace, ['status'], options);
  assert.equal(status.code, 0, status.stderr);
  assert.ok(status.stdout.includes(other) && status.stdout.includes(id), status.stdout);
  assert.equal((await run(workspace, ['result', other], options)).stdout, 'other\n');

  rmSync(join(disk, 'filler'));
  const ended = await run(workspace, ['wait', id], options);
  assert.equal(ended.code, 3);
  assert.match(ended.stderr, /exit code 7/);
  assertWhole(folder);
});

test('on a read-only disk a launch is refused with path and option, and every reader reads', { skip }, async (t) => {
  const { workspace, disk, options } = makeDisk(t, 'size=4m');
  const id = await launch(workspace, ['run', '--id-only', '--', 'sh', '-c', 'echo out; exit 3'], options);
  assert.equal((await run(workspace, ['wait', id], options)).code, 3);
  // The worker lets go of its log a moment after it let go of the wait.
  await eventually('the disk to be let go', () => spawnSync('mount', ['-o', 'remount,ro', disk]).status === 0);
  for (const name of ['state', 'fresh']) {
    const refused = await run(workspace, ['run', '--state-dir', join(disk, name), '--', 'touch', 'ran']);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    const sentence = `^job-companion: cannot [^\\n]*${join(disk, name)}[^\\n]*\\ntry: [^\\n]*--state-dir DIR`;
    assert.match(refused.stderr, new RegExp(sentence));
  }
  const readers: [args: string[], code: number, shows: RegExp][] = [
    [['wait', id], 3, /exit code: 3|Exit code: 3/],
    [['result', id], 3, /Exit code: 3/],
    [['result', id, '--json'], 3, /"exit_code":3/],
    [['observe', id], 3, /"exit_code":3/],
    [['status', id], 3, /exit code: +3/],
    [['status'], 0, new RegExp(id)],
    [['doctor'], 0, /nothing is wrong/],
    [['clean', '--older-than', '0s'], 0, new RegExp(`would remove ${id}`)],
  ];
  for (const [args, code, shows] of readers) {
    const reply = await run(workspace, args, options);
    assert.equal(reply.code, code, `${args.join(' ')}: ${reply.stderr}`);
    assert.match(reply.stdout, shows, args.join(' '));
  }
  for (const args of [
    ['clean', '--older-than', '0s', '--yes'],
    ['restart', id],
    ['cancel', id],
  ]) {
    const refused = await run(workspace, args, options);
    assert.equal(refused.code, 1, args[0]);
    assert.match(refused.stderr, /^job-companion: cannot /, args[0]);
  }
});

test('the job folder vanishes while a job runs: its tree is ended and a pending wait ends with 1', async (t) => {
  await vanish(t, (workspace, id) => workspace.path('.job-state/jobs', id));
});

test('the whole state folder vanishes while a job runs: its tree is ended and a pending wait ends with 1', async (t) => {
  await vanish(t, (workspace) => workspace.path('.job-state'));
});

async function vanish(t: TestContext, folderOf: (workspace: Workspace, id: string) => string): Promise<void> {
  const workspace = makeWorkspace(t);
  const pids = workspace.path('pids');
  const script = 'sleep 600 & setsid sleep 600 & echo $$ $! >"$0.new"; mv "$0.new" "$0"; wait';
  const id = await launch(workspace, ['run', '--id-only', '--', 'sh', '-c', script, pids]);
  const folder = workspace.path('.job-state/jobs', id);
  const worker = await runningWorker(folder);
  await eventually('the tree', () => existsSync(pids));
  const processes = readFileSync(pids, 'utf8')
    .trim()
    .split(' ')
    .map((pid) => readIdentity(Number(pid)));
  const waiting = start(workspace, ['wait', id]);
  await eventually('the wait to register', () => readdirSync(join(folder, 'waiters')).length > 0);
  renameSync(folderOf(workspace, id), join(workspace.base, 'gone'));
  const { code, stdout, stderr } = await waiting.promise;
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, new RegExp(`^job-companion: cannot go on waiting for job ${id}: .* is gone`));
  await eventually('the worker to leave', () => !isAlive(worker), { limitMs: 30_000 });
  assert.equal(processes.length, 2);
  for (const one of processes) assert.ok(one === undefined || !isAlive(one));
  // Whatever was going on, the next job is not held up.
  assert.equal((await run(workspace, ['run', '--wait', '--', 'echo', 'next'])).stdout, 'next\n');
}

interface Disk {
  workspace: Workspace;
  disk: string;
  options: RunOptions;
}

/** A small disk of its own beside the worktree, with the state folder on it. */
function makeDisk(t: TestContext, size: string): Disk {
  const workspace = makeWorkspace(t);
  const disk = join(workspace.base, 'small');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `mode=700,${size}`, 'tmpfs', disk]);
  workspace.defer(() => eventually('the disk to be free', () => unmount(disk)));
  return { workspace, disk, options: { env: { JOB_STATE_DIR: join(disk, 'state') } } };
}

function unmount(disk: string): boolean {
  execFileSync('umount', [disk], { stdio: 'pipe' });
  return true;
}

/** Not one page is left. */
function fill(disk: string): void {
  try {
    execFileSync('sh', ['-c', 'cat /dev/zero >"$0"', join(disk, 'filler')], { stdio: 'pipe' });
  } catch {
    // It ends when nothing fits any more.
  }
  assert.equal(statfsSync(disk).bavail, 0);
}

/** As many new files fit, and no more. */
function leaveInodes(disk: string, room: number): void {
  const folder = join(disk, 'inodes');
  mkdirSync(folder);
  for (let free = statfsSync(disk).ffree; free > room; free -= 1) writeFileSync(join(folder, `${free}`), '');
  assert.equal(statfsSync(disk).ffree, room);
}

/** All that lies in a folder; what a lock leaves behind for its next holder is no record. */
function tree(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => !/(^|\/)lock(\/|$)/.test(name)).sort();
}

/** No temporary file is left, and every record is a whole document. */
function assertWhole(folder: string): void {
  const names = readdirSync(folder);
  assert.deepEqual(
    names.filter((name) => name.endsWith('.tmp')),
    [],
  );
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    assert.doesNotThrow(() => JSON.parse(readFileSync(join(folder, name), 'utf8')), name);
  }
}

/** A backend that fills its disk with an answer, and ends as its task says. */
function withFiller(workspace: Workspace): void {
  const folder = join(workspace.home, '.config/job-companion');
  mkdirSync(folder, { mode: 0o700 });
  const argv = ['sh', '-c', 'head -c 32M /dev/zero | tr "\\0" x; eval "$(cat)"'];
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ backends: { filler: { argv } } }));
}

async function launch(workspace: Workspace, args: string[], options?: RunOptions): Promise<string> {
  const reply: RunResult = await run(workspace, args, options);
  assert.equal(reply.code, 0, reply.stderr);
  return reply.stdout.trim();
}

function runningWorker(folder: string): Promise<Identity> {
  return eventually('the job to run', () => {
    const { state } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'));
    const { worker } = JSON.parse(readFileSync(join(folder, 'worker.json'), 'utf8'));
    return state === 'running' && { pid: worker.pid, startTime: worker.start_token };
  });
}

async function kill(process: Identity): Promise<void> {
  killByIdentity(process);
  await eventually('the killed process to be gone', () => !isAlive(process));
}
