/**
 * `clean` (contract 5, c9): a dry run unless --yes; never a live, awaited or uncollected job, nor one that a live job descends
 * from; old and collected ones go whole, and nothing else does.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeStaff } from '../helpers/staff.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Cleaned {
  removed: string[];
  would_remove: string[];
  worktrees: { id: string; path: string; branch: string }[];
  kept: { id: string; why: string }[];
}

const all = ['--older-than', '0s'];

test('without --yes nothing changes, and the printed command does what was shown', async (t) => {
  const workspace = makeWorkspace(t);
  const ids = [await collected(workspace), await collected(workspace)];
  const before = picture(workspace);
  const dry = await run(workspace, ['clean', ...all, '--keep', '1']);
  assert.equal(dry.code, 0);
  assert.match(dry.stdout, new RegExp(`^would remove ${ids[0]}\n`));
  assert.doesNotMatch(dry.stdout, new RegExp(`would remove ${ids[1]}`));
  assert.match(dry.stdout, / clean --older-than 0s --keep 1 --yes\n$/);
  assert.deepEqual((await clean(workspace, ...all)).would_remove.sort(), [...ids].sort());
  assert.deepEqual(picture(workspace), before);

  const done = await run(workspace, ['clean', ...all, '--keep', '1', '--yes']);
  assert.deepEqual([done.code, done.stdout], [0, `removed ${ids[0]}\n1 removed\n`]);
  assert.deepEqual(jobs(workspace), [ids[1]]);
  assert.equal((await run(workspace, ['wait', ids[0]!])).code, 1);
});

test('by default only what ended two weeks ago goes', async (t) => {
  const workspace = makeWorkspace(t);
  const [old, young] = [await collected(workspace), await collected(workspace)];
  const file = workspace.path('.job-state/jobs', old, 'state.json');
  const state = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...state, ended_at: new Date(Date.now() - 15 * 86_400_000).toISOString() }));
  assert.deepEqual((await clean(workspace)).would_remove, [old]);
  assert.deepEqual((await clean(workspace, '--older-than', '16d')).would_remove, []);
  assert.deepEqual((await clean(workspace, '--yes')).removed, [old]);
  assert.deepEqual(jobs(workspace), [young]);
});

test('live and uncollected jobs are kept, however old they are asked to be', async (t) => {
  const workspace = makeWorkspace(t);
  const live = await launch(workspace, 'run', '--kill-after', '0s', '--', 'sleep', '600');
  const uncollected = await launch(workspace, 'run', '--', 'true');
  await eventually('its end', async () => (await run(workspace, ['status', uncollected])).code === 0);
  await run(workspace, ['observe', uncollected]);
  const done = await clean(workspace, ...all, '--yes');
  assert.deepEqual(done.removed, []);
  assert.deepEqual(done.kept, [
    { id: uncollected, why: 'nobody has collected its result' },
    { id: live, why: 'it is live' },
  ]);
  assert.deepEqual(jobs(workspace), [live, uncollected].sort());
  assert.equal((await run(workspace, ['cancel', live])).code, 0);
  for (const id of [live, uncollected]) await run(workspace, ['result', id]);
  assert.deepEqual((await clean(workspace, ...all, '--yes')).removed.sort(), [live, uncollected].sort());
});

test('a job that somebody waits for is kept, until that wait is gone', async (t) => {
  const workspace = makeWorkspace(t);
  const release = workspace.path('release');
  const awaited = await collected(workspace);
  const live = await launch(workspace, 'run', '--', 'sh', '-c', `until [ -e ${release} ]; do sleep 0.05; done`);
  const waiting = start(workspace, ['wait', '--all', awaited, live]);
  await eventually(
    'the wait to register',
    () => readdirSync(workspace.path('.job-state/jobs', awaited, 'waiters')).length > 0,
  );
  const first = await clean(workspace, ...all, '--yes');
  assert.deepEqual(first.removed, []);
  assert.deepEqual(first.kept.find(({ id }) => id === awaited)?.why, 'somebody waits for it');
  // A wait that was killed is none, whatever it has left behind.
  waiting.kill('SIGKILL');
  await waiting.promise;
  assert.deepEqual((await clean(workspace, ...all, '--yes')).removed, [awaited]);
  writeFileSync(release, '');
  assert.equal((await run(workspace, ['wait', live])).code, 0);
});

test('a job that a live job descends from is kept, over all generations', async (t) => {
  const workspace = makeWorkspace(t);
  const release = workspace.path('release');
  workspace.defer(() => writeFileSync(release, ''));
  const first = await launch(workspace, 'run', '--', 'sh', '-c', `until [ -e ${release} ]; do sleep 0.05; done`);
  writeFileSync(release, '');
  await run(workspace, ['wait', first]);
  const second = await launch(workspace, 'restart', first);
  await run(workspace, ['wait', second]);
  rmSync(release);
  const live = await launch(workspace, 'restart', second);
  const other = await collected(workspace);
  const done = await clean(workspace, ...all, '--yes');
  assert.deepEqual(done.removed, [other]);
  assert.deepEqual(
    done.kept.map(({ id, why }) => [id, why]),
    [
      [live, 'it is live'],
      [second, 'a live job descends from it'],
      [first, 'a live job descends from it'],
    ],
  );
  writeFileSync(release, '');
  await run(workspace, ['wait', live]);
  assert.equal((await clean(workspace, ...all, '--yes')).removed.length, 3);
});

test('what is left of launches and cleanings that died goes when it is old; nothing that is not ours does', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await collected(workspace);
  const state = workspace.path('.job-state');
  const debris = [join(state, 'jobs', `.new-${id}`), join(state, 'jobs', `.gone-${id}`)];
  const fresh = join(state, 'jobs', '.new-run-zzzzzzzz-zzzzzz');
  for (const folder of [...debris, fresh]) mkdirSync(folder);
  const marker = join(state, 'active', 'run-aaaaaaaa-aaaaaa');
  writeFileSync(marker, '');
  const outside = workspace.write('outside/file', 'x');
  symlinkSync(workspace.path('outside'), join(debris[0]!, 'link'));
  writeFileSync(join(state, 'jobs', 'notes.txt'), 'mine');
  const old = new Date(Date.now() - HOUR);
  for (const path of [...debris, marker]) utimesSync(path, old, old);
  assert.equal((await run(workspace, ['clean', '--yes'])).code, 0);
  assert.deepEqual(readdirSync(join(state, 'jobs')).sort(), ['.new-run-zzzzzzzz-zzzzzz', id, 'notes.txt'].sort());
  assert.equal(existsSync(marker), false);
  assert.ok(existsSync(outside));
});

test('clean where there is nothing makes nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const { code, stdout } = await run(workspace, ['clean', '--yes']);
  assert.deepEqual([code, stdout], [0, `no jobs in ${workspace.path('.job-state')}\n`]);
  assert.equal(existsSync(workspace.path('.job-state')), false);
});

/** A job with a worktree of its own whose result was read. */
async function withTree(workspace: Workspace, text: string): Promise<{ id: string; path: string; branch: string }> {
  const staff = makeStaff(workspace);
  staff.act(text);
  const { id, json } = await staff.launch('implement', ['--worktree', '--prompt', 'x']);
  assert.equal((await run(workspace, ['wait', id])).code, 0);
  return { id, ...json<{ worktree: { path: string; branch: string } }>('spec.json').worktree };
}

test('a worktree that goes with its job is named, with its branch, before and after', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, path, branch } = await withTree(workspace, 'echo nothing');
  const words = `${id} and its worktree ${path} with its branch ${branch}\n`;
  assert.ok((await run(workspace, ['clean', ...all])).stdout.startsWith(`would remove ${words}`));
  assert.deepEqual((await clean(workspace, ...all)).worktrees, [{ id, path, branch }]);
  assert.equal((await run(workspace, ['clean', ...all, '--yes'])).stdout, `removed ${words}1 removed\n`);
  assert.deepEqual([existsSync(path), workspace.git('branch', '--list', branch)], [false, '']);
});

test('a worktree in which a job of its own runs, or waits to be collected, is kept with its record', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, path } = await withTree(workspace, 'echo nothing');
  const inner = await run(workspace, ['run', '--id-only', '--', 'sleep', '600'], { cwd: path });
  assert.equal(inner.code, 0, inner.stderr);
  const innerId = inner.stdout.trim();
  const kept = (why: string) => [{ id, why: `its worktree ${path} has a job of its own, ${innerId}: ${why}` }];
  for (const words of [all, [...all, '--yes']]) {
    const done = await clean(workspace, ...words);
    assert.deepEqual([done.removed, done.would_remove, done.kept], [[], [], kept('it is live')]);
  }
  const state = ['--state-dir', join(path, '.job-state')];
  assert.equal((await run(workspace, ['cancel', innerId, ...state])).code, 0);
  const done = await clean(workspace, ...all, '--yes');
  assert.deepEqual([done.removed, done.kept], [[], kept('nobody has collected its result')]);
  await run(workspace, ['result', innerId, ...state]);
  assert.deepEqual((await clean(workspace, ...all, '--yes')).removed, [id]);
  assert.equal(existsSync(path), false);
});

test('a job whose worktree is gone and whose branch holds unmerged work is kept, and both runs say why', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, path, branch } = await withTree(workspace, 'echo x >x; git add x; git commit -qm X; echo done');
  rmSync(path, { recursive: true });
  for (const words of [all, [...all, '--yes']]) {
    const { stdout } = await run(workspace, ['clean', ...words]);
    assert.ok(
      stdout.includes(`keeps ${id}: its worktree is gone, and its branch ${branch} holds 1 unmerged commit(s)`),
      stdout,
    );
    assert.doesNotMatch(stdout, /would remove/);
  }
  workspace.git('merge', '-q', branch);
  assert.deepEqual((await clean(workspace, ...all, '--yes')).removed, [id]);
  assert.equal(workspace.git('branch', '--list', branch), '');
});

test('a worktree that git refuses to remove keeps its record, and it is said', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, path } = await withTree(workspace, 'echo nothing');
  workspace.git('worktree', 'lock', path);
  const { stdout } = await run(workspace, ['clean', ...all, '--yes']);
  assert.equal(stdout, `keeps ${id}: git refuses to remove its worktree ${path}\n0 removed\n`);
});

test('readers beside clean see a whole job or none', async (t) => {
  const workspace = makeWorkspace(t);
  const ids: string[] = [];
  for (let at = 0; at < 6; at += 1) ids.push(await collected(workspace));
  const [cleaned, ...seen] = await Promise.all([
    run(workspace, ['clean', ...all, '--yes']),
    ...ids.map((id) => run(workspace, ['result', id])),
  ]);
  assert.deepEqual([cleaned.code, cleaned.stdout.includes('6 removed')], [0, true]);
  for (const { code, stdout, stderr } of seen) {
    if (code === 0) assert.equal(stdout, 'collected\n');
    else assert.deepEqual([code, /cannot find job/.test(stderr)], [1, true], stderr);
  }
});

const HOUR = 3_600_000;

async function clean(workspace: Workspace, ...args: string[]): Promise<Cleaned> {
  const reply = await run(workspace, ['clean', '--json', ...args]);
  assert.equal(reply.code, 0, reply.stderr);
  return parseReply<Cleaned & Record<string, unknown>>(reply);
}

async function launch(workspace: Workspace, verb: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(workspace, [verb, '--id-only', ...args]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

/** A finished job whose result was read. */
async function collected(workspace: Workspace): Promise<string> {
  const id = await launch(workspace, 'run', '--', 'echo', 'collected');
  assert.equal((await run(workspace, ['wait', id])).stdout, 'collected\n');
  return id;
}

function jobs(workspace: Workspace): string[] {
  return readdirSync(workspace.path('.job-state/jobs')).sort();
}

function picture(workspace: Workspace): string[] {
  return readdirSync(workspace.path('.job-state'), { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const content = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      return `${path} ${lstatSync(path).mtimeMs} ${content}`;
    })
    .sort();
}
