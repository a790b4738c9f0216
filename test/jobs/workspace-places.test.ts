// Workspaces of every kind: no commit yet, no branch, conflicts, subfolders, worktrees, submodules and other repositories inside,
// sparse ones, what git was told to overlook, sha256, line ends; and those of which git tells nothing.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { compareWorkspace } from '../../companion/src/jobs/workspace/compare.ts';
import { captureWorkspace } from '../../companion/src/jobs/workspace/snapshot.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { changesOf, makeRepository, told } from './repository.ts';

const named = (snapshot: { entries: { xy: string; path: string }[] }) =>
  snapshot.entries.map(({ xy, path }) => `${xy} ${path}`);

test('a repository without a commit has no HEAD, and its first commit is a move forward', (t) => {
  const repository = makeRepository(t);
  repository.git('checkout', '-q', '--orphan', 'fresh');
  repository.git('rm', '-rq', '--cached', '.');
  const before = repository.capture();
  assert.deepEqual([before.git?.head, before.git?.branch, before.git?.subject], [null, 'fresh', null]);
  assert.deepEqual(named(before), ['?? README.md', '?? a.txt', '?? sub/b.txt']);
  const changes = changesOf(repository, (r) => {
    r.write('new', 'x');
    r.commit('First');
  });
  assert.deepEqual(told(changes), ['added new, committed']);
  assert.deepEqual(changes.dirty_committed, ['README.md', 'a.txt', 'sub/b.txt']);
  assert.deepEqual([changes.head.moved, changes.commit_count, changes.head.before], ['forward', 1, null]);
  assert.deepEqual(
    changes.commits.map(({ subject }) => subject),
    ['First'],
  );
});

test('a detached HEAD has a subject and no branch, and another branch is told', (t) => {
  const repository = makeRepository(t);
  repository.git('branch', 'other', 'HEAD~1');
  const changes = changesOf(repository, (r) => r.git('checkout', '-q', 'other'));
  assert.deepEqual(told(changes), ['deleted a.txt, committed', 'deleted sub/b.txt, committed']);
  assert.deepEqual(changes.branch, { before: 'main', after: 'other' });
  assert.deepEqual([changes.commit_count, changes.head.moved], [0, 'elsewhere']);
  repository.git('checkout', '-q', '--detach', 'main');
  const { git } = repository.capture();
  assert.deepEqual([git?.branch, git?.subject], [null, 'Files']);
  assert.deepEqual(Object.keys(git?.refs ?? {}), ['refs/heads/main', 'refs/heads/other']);
});

test('branches, commits on them and the stash are told, also when HEAD stands still', (t) => {
  const repository = makeRepository(t);
  repository.write('a.txt', 'dirty');
  const changes = changesOf(repository, (r) => {
    r.git('stash', '-q');
    r.git('checkout', '-q', '-b', 'side');
    r.write('c', 'c');
    r.commit('On the side');
    r.git('checkout', '-q', 'main');
  });
  assert.deepEqual(told(changes), ['modified a.txt, dirty']);
  assert.deepEqual(changes.refs_changed, ['refs/heads/side', 'refs/stash']);
  assert.deepEqual([changes.commit_count, changes.commits[0]?.subject], [1, 'On the side']);
  assert.deepEqual([changes.head.moved, changes.unchanged], [null, false]);
});

test('a conflict is a change of the file and of the index', (t) => {
  const repository = makeRepository(t);
  repository.git('checkout', '-q', '-b', 'side');
  repository.write('a.txt', 'side\n');
  repository.commit('Side');
  repository.git('checkout', '-q', 'main');
  repository.write('a.txt', 'main\n');
  repository.commit('Main');
  const merge = () => assert.throws(() => repository.git('merge', '-q', 'side'));
  const changes = changesOf(repository, merge);
  assert.deepEqual(told(changes), ['modified a.txt']);
  assert.equal(changes.index_changed, true);
  assert.deepEqual(named(repository.capture()), ['UU a.txt']);
  const solved = changesOf(repository, (r) => {
    r.write('a.txt', 'both\n');
    r.commit('Merge');
  });
  assert.deepEqual(told(solved), ['modified a.txt, dirty, committed']);
  assert.deepEqual([solved.commit_count, solved.index_changed, solved.head.moved], [1, true, 'forward']);
});

test('from a subfolder the whole work tree counts, also when that folder is gone at the end', (t) => {
  const repository = makeRepository(t);
  const cwd = repository.path('sub');
  const before = captureWorkspace(cwd, { exclude: [] });
  assert.deepEqual([before.cwd, before.git?.root], [cwd, repository.dir]);
  repository.write('a.txt', 'x');
  repository.remove('sub');
  const changes = compareWorkspace(before, captureWorkspace(cwd, { exclude: [] }));
  assert.deepEqual(told(changes), ['modified a.txt', 'deleted sub/b.txt']);
  assert.deepEqual([changes.exact, changes.reason], [true, null]);
});

test('what git was told to overlook is looked at all the same, and is dirty to nobody', (t) => {
  const repository = makeRepository(t);
  repository.git('update-index', '--assume-unchanged', 'a.txt');
  repository.git('update-index', '--skip-worktree', 'README.md');
  repository.write('a.txt', 'dirty');
  const changes = changesOf(repository, (r) => r.write('a.txt', 'dirtier'));
  assert.deepEqual(told(changes), ['modified a.txt']);
  assert.deepEqual([changes.dirty_before, changes.index_changed], [[], false]);
  assert.equal(changesOf(repository, () => undefined).unchanged, true);
});

test('what git is told to overlook meanwhile is compared with HEAD', (t) => {
  const repository = makeRepository(t);
  const changes = changesOf(repository, (r) => {
    r.git('update-index', '--assume-unchanged', 'a.txt', 'sub/b.txt');
    r.write('a.txt', 'hidden');
  });
  assert.deepEqual(told(changes), ['modified a.txt']);
});

test('a sparse checkout is no deletion, and a file that appears in it is told', (t) => {
  const repository = makeRepository(t);
  repository.git('sparse-checkout', 'set', '--no-cone', '/*', '!/sub/');
  assert.deepEqual(named(repository.capture()), []);
  const changes = changesOf(repository, (r) => r.write('sub/b.txt', 'other'));
  assert.deepEqual(told(changes), ['modified sub/b.txt']);
});

test('a sha256 repository is compared by its own names', (t) => {
  const repository = makeRepository(t);
  rmSync(repository.path('.git'), { recursive: true });
  repository.git('init', '-q', '-b', 'main', '--object-format=sha256');
  repository.git('config', 'user.name', 'Test');
  repository.git('config', 'user.email', 'test@localhost');
  repository.commit('All');
  repository.write('a.txt', 'staged');
  repository.git('add', 'a.txt');
  const changes = changesOf(repository, (r) => {
    r.write('README.md', 'x');
    r.git('add', 'README.md');
    r.write('README.md', '# A project\n');
    r.git('commit', '-q', '-m', 'Staged');
  });
  assert.deepEqual(told(changes), []);
  assert.deepEqual([changes.dirty_before, changes.dirty_committed], [[], ['a.txt']]);
  assert.deepEqual([changes.commit_count, changes.exact, changes.index_changed], [1, true, true]);
});

test('line ends that git converts are no change', (t) => {
  const repository = makeRepository(t);
  repository.write('.gitattributes', '*.crlf text eol=crlf\n');
  repository.write('x.crlf', 'one\r\ntwo\r\n');
  repository.write('y.crlf', 'one\r\ntwo\r\n');
  repository.commit('Line ends');
  repository.write('y.crlf', 'one\r\nthree\r\n');
  const changes = changesOf(repository, (r) => {
    r.write('x.crlf', 'one\r\ntwo\r\n');
    r.git('commit', '-qam', 'Three');
  });
  assert.deepEqual(told(changes), []);
  assert.deepEqual(changes.dirty_committed, ['y.crlf']);
  assert.deepEqual(told(changesOf(repository, (r) => r.git('reset', '-q', '--soft', 'HEAD~1'))), []);
  assert.deepEqual(told(changesOf(repository, (r) => r.write('x.crlf', 'one\r\n'))), ['modified x.crlf']);
});

test('repositories inside are asked by themselves: edits, commits, new ones', (t) => {
  const repository = makeRepository(t);
  const inner = makeWorkspace(t);
  const identity = ['-c', 'user.name=T', '-c', 'user.email=t@localhost'];
  repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'mod');
  repository.commit('Submodule');
  repository.write('vendor/lib/f', 'f');
  repository.git('init', '-q', 'vendor/lib');
  assert.deepEqual(named(repository.capture()), ['?? vendor/lib', '?? vendor/lib/f']);
  const edits = changesOf(repository, (r) => {
    r.write('mod/README.md', 'x');
    r.write('mod/new', 'x');
    r.write('vendor/lib/f', 'ff');
  });
  assert.deepEqual(told(edits), ['modified mod/README.md', 'added mod/new', 'modified vendor/lib/f, dirty']);
  const commits = changesOf(repository, (r) => {
    for (const folder of ['mod', 'vendor/lib']) {
      r.git('-C', folder, 'add', '-A');
      r.git('-C', folder, ...identity, 'commit', '-q', '-m', 'Inside');
    }
  });
  assert.deepEqual(told(commits), ['modified mod', 'modified vendor/lib, dirty']);
  assert.deepEqual(commits.dirty_committed, ['mod/README.md', 'mod/new', 'vendor/lib/f']);
  assert.deepEqual(commits.dirty_before, []);
  const fresh = changesOf(repository, (r) => {
    r.git('init', '-q', 'new');
    r.write('new/f', '1');
    r.remove('vendor');
  });
  assert.deepEqual(told(fresh), ['added new', 'added new/f', 'deleted vendor/lib, dirty']);
  assert.equal(fresh.exact, true);
});

test('a repository that is ignored by the one around it is a workspace of its own', (t) => {
  const outer = makeRepository(t);
  outer.write('.gitignore', 'inner/\n');
  outer.write('inner/f', 'f');
  outer.git('init', '-q', '-b', 'main', 'inner');
  const before = captureWorkspace(outer.path('inner'), { exclude: [] });
  assert.deepEqual([before.git?.root, named(before)], [outer.path('inner'), ['?? f']]);
  outer.write('inner/f', 'ff');
  outer.write('a.txt', 'outside');
  const changes = compareWorkspace(before, captureWorkspace(outer.path('inner'), { exclude: [] }));
  assert.deepEqual(told(changes), ['modified f, dirty']);
});

test('what ignore rules hid until now was not added', (t) => {
  const repository = makeRepository(t);
  repository.write('.gitignore', 'build/\n');
  repository.write('build/old', 'x');
  repository.commit('Ignore');
  const before = repository.capture();
  // As if it had begun later: the file is older than the look.
  before.at = new Date(Date.now() + 60_000).toISOString();
  repository.remove('.gitignore');
  assert.deepEqual(told(compareWorkspace(before, repository.capture())), ['deleted .gitignore']);
});

test('outside git files are compared by size, time and inode, and node_modules and the excluded do not count', (t) => {
  const repository = makeRepository(t, { git: false });
  const changes = changesOf(repository, (r) => {
    r.write('a.txt', 'xxx\n');
    r.move('sub/b.txt', 'c.txt');
    r.write('new/f', 'f');
    r.write('node_modules/x/y', 'y');
    r.write('.job-state/jobs/x', 'x');
  });
  assert.deepEqual(told(changes), ['modified a.txt', 'renamed sub/b.txt -> c.txt', 'added new/f']);
  assert.deepEqual(
    [changes.reason, changes.exact, changes.unchanged, changes.head.moved],
    ['not in a git work tree', true, false, null],
  );
  assert.equal(changesOf(repository, () => undefined).unchanged, true);
});

test('a folder that becomes a repository meanwhile is compared as a folder', (t) => {
  const repository = makeRepository(t, { git: false });
  const changes = changesOf(repository, (r) => {
    r.git('init', '-q');
    r.write('a.txt', 'other');
  });
  assert.deepEqual(told(changes), ['modified a.txt']);
});

test('a repository that was removed meanwhile is told, and nothing is claimed of its files', (t) => {
  const repository = makeRepository(t);
  const changes = changesOf(repository, (r) => r.remove('.git'));
  assert.deepEqual([changes.exact, changes.unchanged, changes.files], [false, false, []]);
  assert.match(changes.reason ?? '', /not in a git work tree/);
});

test('a bare repository and a .git of no kind are no work tree', (t) => {
  const plain = makeRepository(t, { git: false });
  plain.git('init', '-q', '--bare', 'bare.git');
  const bare = captureWorkspace(plain.path('bare.git'), { exclude: [] });
  assert.deepEqual([bare.git, bare.reason], [null, 'not in a git work tree']);
  plain.git('-C', plain.dir, 'init', '-q', '--bare', '.git');
  const odd = captureWorkspace(plain.dir, { exclude: [] });
  assert.match(odd.reason ?? '', /^git status ended with 128: fatal: this operation must be run in a work tree$/);
  rmSync(plain.path('.git'), { recursive: true });
  mkdirSync(plain.path('.git'));
  assert.match(plain.capture().reason ?? '', /not a git repository/);
  assert.ok(plain.capture().files!.length >= 2);
});

test('a repository inside another one with a broken .git does not become the other one', (t) => {
  const repository = makeRepository(t);
  mkdirSync(repository.path('sub/.git'));
  const snapshot = captureWorkspace(repository.path('sub'), { exclude: [] });
  assert.deepEqual([snapshot.git, snapshot.files?.map(([name]) => name)], [null, ['b.txt']]);
});

test('without git on PATH the files are compared all the same, and the reason says so', (t) => {
  const repository = makeRepository(t);
  const kept = process.env.PATH;
  t.after(() => {
    process.env.PATH = kept;
  });
  process.env.PATH = repository.path('bin');
  const changes = changesOf(repository, (r) => r.write('a.txt', 'x'));
  assert.deepEqual(told(changes), ['modified a.txt']);
  assert.equal(changes.reason, 'git is not installed (no git on PATH)');
});

test('a linked worktree is a workspace of its own', (t) => {
  const repository = makeRepository(t);
  const linked = join(repository.base, 'linked');
  repository.git('worktree', 'add', '-q', linked);
  repository.write('a.txt', 'x');
  const snapshot = captureWorkspace(linked, { exclude: [] });
  assert.deepEqual([snapshot.git?.root, snapshot.git?.branch, snapshot.entries], [linked, 'linked', []]);
});

test('a record of the start that lost its form is a reason, not an answer', (t) => {
  const repository = makeRepository(t);
  const after = repository.capture();
  const good = repository.capture();
  const bad = [
    {},
    null,
    { ...good, git: { ...good.git, head: '--output=x' } },
    { ...good, entries: [{ path: '../../etc/passwd' }] },
    { ...good, files: [['/etc/passwd', 'x', 'y']] },
    { ...good, at: 'never' },
  ];
  for (const before of bad) {
    const changes = compareWorkspace(before as never, after);
    assert.deepEqual([changes.unchanged, changes.exact, changes.files], [false, false, []]);
    assert.match(changes.reason ?? '', /damaged/);
  }
});
