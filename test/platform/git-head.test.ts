// Where the HEAD of a worktree stands, without git: every commit, reset and switch is seen, also in a linked worktree and without logs;
// what others do to the repository is not, and nothing that lies in the place of git's files is read through.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { headFolder, headStamp } from '../../companion/src/platform/git-head.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

function makeRepository(t: TestContext) {
  const workspace = makeWorkspace(t);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@e', ...args], {
      cwd: workspace.dir,
      env: workspace.env,
      stdio: 'pipe',
    });
  const stampOf = async (folder: string) => {
    const place = headFolder(folder);
    assert.ok(place);
    const stamp = await headStamp(place);
    assert.ok(stamp);
    return stamp;
  };
  return { workspace, git, stampOf };
}

test('a commit, a reset and a switch are seen, a status and a new file are not', async (t) => {
  const { workspace, git, stampOf } = makeRepository(t);
  let before = await stampOf(workspace.dir);
  const isOther = async () => {
    const now = await stampOf(workspace.dir);
    const answer = now !== before;
    before = now;
    return answer;
  };
  writeFileSync(workspace.path('new'), 'x');
  git('status');
  git('add', 'new');
  assert.equal(await isOther(), false);
  git('commit', '-q', '-m', 'one');
  assert.equal(await isOther(), true);
  git('reset', '-q', '--soft', 'HEAD~1');
  assert.equal(await isOther(), true);
  git('switch', '-q', '-c', 'other');
  assert.equal(await isOther(), true);
  git('pack-refs', '--all');
  before = await stampOf(workspace.dir);
  git('-c', 'core.logAllRefUpdates=false', 'commit', '-q', '--allow-empty', '-m', 'two');
  assert.equal(await isOther(), true);
  rmSync(workspace.path('.git/logs'), { recursive: true });
  before = await stampOf(workspace.dir);
  git('-c', 'core.logAllRefUpdates=false', 'commit', '-q', '--allow-empty', '-m', 'three');
  assert.equal(await isOther(), true);
});

test('of a linked worktree its own HEAD counts, whatever the others do', async (t) => {
  const { workspace, git, stampOf } = makeRepository(t);
  const linked = join(workspace.base, 'linked');
  git('worktree', 'add', '-q', linked);
  const before = await stampOf(linked);
  git('commit', '-q', '--allow-empty', '-m', 'elsewhere');
  assert.equal(await stampOf(linked), before);
  git('-C', linked, 'commit', '-q', '--allow-empty', '-m', 'here');
  assert.notEqual(await stampOf(linked), before);
});

test('outside git there is no HEAD, and odd things in the place of its files neither hang nor lead away', async (t) => {
  const { workspace } = makeRepository(t);
  assert.equal(headFolder(workspace.base), undefined);
  const odd = join(workspace.base, 'odd');
  mkdirSync(join(odd, '.git'), { recursive: true });
  execFileSync('mkfifo', [join(odd, '.git/HEAD')]);
  assert.ok(await headStamp(join(odd, '.git')));
  rmSync(join(odd, '.git/HEAD'));
  writeFileSync(join(workspace.base, 'secret'), 'ref: refs/heads/x\n');
  symlinkSync(join(workspace.base, 'secret'), join(odd, '.git/HEAD'));
  assert.match((await headStamp(join(odd, '.git'))) ?? '', /^\[""/);
  rmSync(join(odd, '.git/HEAD'));
  writeFileSync(join(odd, '.git/HEAD'), 'ref: refs/heads/../../../../secret\n');
  assert.match((await headStamp(join(odd, '.git'))) ?? '', /,null\]$/);
});
