/**
 * Private state (contract 6, p1): every folder of ours is 0700 and every file 0600 whatever the caller's umask, for root and
 * for an unprivileged user, while a job runs and after it; the child gets the caller's own umask; a folder that we did not
 * make keeps its mode.
 */
import assert from 'node:assert/strict';
import { chmodSync, lchownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type RunOptions, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const nobody = 65534;
const isRoot = process.getuid?.() === 0;

for (const user of ['this user', 'an unprivileged user']) {
  for (const umask of ['0000', '0777']) {
    const skip = user !== 'this user' && !isRoot ? 'needs root to become another user' : false;
    test(`under umask ${umask} all that ${user} makes is private, and the child keeps that umask`, {
      skip,
    }, async (t) => {
      const workspace = makeWorkspace(t, { git: false });
      const options = user === 'this user' ? underUmask(umask) : asNobody(workspace, umask);
      const release = join(workspace.base, 'release');
      workspace.defer(() => writeFileSync(release, ''));
      withBackend(workspace, user === 'this user' ? undefined : nobody);
      const wait = ['sh', '-c', 'umask; until [ -e "$0" ]; do sleep 0.05; done', release];
      const { code, stdout, stderr } = await run(
        workspace,
        ['run', '--id-only', '--once-key', 'k', '--', ...wait],
        options,
      );
      assert.equal(code, 0, stderr);
      const id = stdout.trim();
      await eventually('the job to run', async () =>
        (await run(workspace, ['status', id], options)).stdout.includes('running'),
      );
      assert.deepEqual(wrongModes(workspace), []);
      writeFileSync(release, '');
      const waited = await run(workspace, ['wait', id], options);
      assert.deepEqual([waited.code, waited.stdout], [0, `${umask}\n`]);

      const staff = ['staffer', '--backend', 'cat', '--prompt', 'x', '--wait'];
      assert.equal((await run(workspace, staff, options)).stdout, 'x');
      writeFileSync(join(workspace.base, 'broken'), '#!/nowhere/interpreter\n', { mode: 0o755 });
      for (const program of ['false', join(workspace.base, 'broken')]) {
        assert.equal((await run(workspace, ['run', '--wait', '--', program], options)).code, 3);
      }
      assert.equal((await run(workspace, ['result'], options)).code, 3);
      assert.deepEqual(wrongModes(workspace), []);
      const names = readdirSync(join(workspace.dir, '.job-state'), { recursive: true }).map(String);
      assert.ok(
        names.some((name) => name.endsWith('/collected.json')) && names.some((name) => name.startsWith('once/')),
      );
    });
  }
}

test('an empty folder that somebody made for us is used, and keeps its mode', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('given'));
  chmodSync(workspace.path('given'), 0o755);
  const args = ['run', '--wait', '--state-dir', 'given', '--', 'echo', 'hi'];
  assert.equal((await run(workspace, args)).stdout, 'hi\n');
  assert.equal(lstatSync(workspace.path('given')).mode & 0o7777, 0o755);
  assert.equal(lstatSync(workspace.path('given/jobs')).mode & 0o7777, 0o700);
});

test('git does not see the state folder', async (t) => {
  const workspace = makeWorkspace(t);
  assert.equal((await run(workspace, ['run', '--wait', '--', 'true'])).code, 0);
  assert.equal(workspace.git('status', '--porcelain', '--untracked-files=all'), '');
  assert.equal(workspace.read('.job-state/.gitignore'), '*\n');
});

/** What is not private of all that we made in state and config folder. */
function wrongModes(workspace: Workspace): string[] {
  const wrong: string[] = [];
  for (const folder of [join(workspace.dir, '.job-state'), join(workspace.home, '.config/job-companion')]) {
    for (const path of [
      folder,
      ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
    ]) {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (!stat || path.endsWith('config.json')) continue;
      const mode = stat.mode & 0o7777;
      if (mode !== (stat.isDirectory() ? 0o700 : 0o600)) wrong.push(`${mode.toString(8)} ${path}`);
    }
  }
  return wrong;
}

function withBackend(workspace: Workspace, owner?: number): void {
  const folder = join(workspace.home, '.config/job-companion');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ backends: { cat: { argv: ['cat'], prompt: 'file' } } }));
  if (owner === undefined) return;
  for (const path of [folder, join(folder, 'config.json')]) lchownSync(path, owner, owner);
}

function underUmask(umask: string, ...before: string[]): RunOptions {
  return { node: 'sh', nodeOptions: ['-c', `umask ${umask}; exec "$0" "$@"`, ...before, testNode()] };
}

/** That user, in a worktree and home of his own. */
function asNobody({ base, dir, home }: Workspace, umask: string): RunOptions {
  chmodSync(base, 0o755);
  for (const path of [dir, home, join(home, '.config')]) lchownSync(path, nobody, nobody);
  return underUmask(umask, 'setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups');
}
