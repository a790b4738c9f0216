// Jobs beside each other in one repository, each in a tree of its own: nobody is told, or told to take over, what another one did.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { WorktreeNote } from '../../companion/src/core/staff.ts';
import { takeOverCommands } from '../../companion/src/jobs/take-over.ts';
import { compareWorkspace } from '../../companion/src/jobs/workspace/compare.ts';
import { refLimits } from '../../companion/src/jobs/workspace/refs.ts';
import { captureWorkspace } from '../../companion/src/jobs/workspace/snapshot.ts';
import type { WorkspaceChanges } from '../../companion/src/jobs/workspace/types.ts';
import { addWorktree, planWorktree } from '../../companion/src/jobs/worktree.ts';
import { changesOf, makeRepository, type Repository } from './repository.ts';

interface Tree {
  note: WorktreeNote;
  git(...args: string[]): string;
  write(name: string, text: string): void;
  commit(name: string): void;
  /** Since this tree was made. */
  changes(): WorkspaceChanges;
}

function makeTree(repository: Repository, letter: string): Tree {
  const { cwd: _, ...note } = planWorktree(repository.dir, `implement-0000000${letter}-abcdef`);
  addWorktree(note);
  const look = () => JSON.parse(JSON.stringify(captureWorkspace(note.path, { exclude: [] })));
  const before = look();
  const git = (...args: string[]) => repository.git('-C', note.path, ...args);
  const write = (name: string, text: string) => writeFileSync(join(note.path, name), text);
  return {
    note,
    git,
    write,
    commit(name) {
      write(name, name);
      git('add', '-A');
      git('commit', '-qm', name);
    },
    changes: () => compareWorkspace(before, look()),
  };
}

function begin(t: TestContext): { repository: Repository; a: Tree; b: Tree } {
  const repository = makeRepository(t);
  return { repository, a: makeTree(repository, 'a'), b: makeTree(repository, 'b') };
}

const merge = (repository: Repository, what: string) => `git -C ${repository.dir} merge ${what}`;
const nothing = { unchanged: true, commits: 0, refs: [] };
const brief = ({ unchanged, commit_count, refs_changed }: WorkspaceChanges) => ({
  unchanged,
  commits: commit_count,
  refs: refs_changed,
});

test('what another job commits on its branch is told neither in the main tree nor in another tree', (t) => {
  const { repository, a, b } = begin(t);
  const reader = changesOf(repository, () => b.commit('made.txt'));
  assert.deepEqual(brief(reader), nothing);
  assert.deepEqual(brief(a.changes()), nothing);
  assert.deepEqual(takeOverCommands(a.note, a.changes()), []);
  assert.deepEqual(brief(b.changes()), { unchanged: false, commits: 1, refs: [`refs/heads/${b.note.branch}`] });
  assert.deepEqual(takeOverCommands(b.note, b.changes()), [merge(repository, b.note.branch)]);
});

test('a branch that another tree has checked out, before or now, is not told', (t) => {
  const { repository, a, b } = begin(t);
  repository.git('branch', 'topic');
  const left = changesOf(repository, () => {
    b.git('switch', '-q', 'topic');
    b.commit('made.txt');
  });
  assert.deepEqual(brief(left), nothing);
  const back = changesOf(repository, () => {
    b.commit('more.txt');
    b.git('switch', '-q', b.note.branch);
  });
  assert.deepEqual(brief(back), nothing);
  repository.write('a.txt', 'x');
  repository.commit('In the main tree');
  assert.deepEqual(brief(a.changes()).refs, ['refs/heads/topic']);
});

test('a stash is told where it was made, though all trees share it', (t) => {
  const { repository, a, b } = begin(t);
  const reader = changesOf(repository, () => {
    b.write('a.txt', 'x');
    b.git('stash', '-q');
  });
  assert.deepEqual(brief(reader), nothing);
  assert.deepEqual(brief(b.changes()).refs, ['refs/stash']);
  assert.deepEqual(brief(a.changes()), nothing);
  assert.deepEqual(brief(changesOf(repository, () => b.git('stash', 'pop', '-q'))), nothing);
  repository.write('a.txt', 'y');
  const main = changesOf(repository, (r) => r.git('stash', '-q', '-m', 'Mine'));
  assert.deepEqual(brief(main).refs, ['refs/stash']);
});

test('a job that begins or is cleaned meanwhile is not told', (t) => {
  const { repository, a } = begin(t);
  const changes = changesOf(repository, (r) => {
    makeTree(r, 'c').commit('c');
    r.git('worktree', 'remove', '--force', a.note.path);
    r.git('branch', '-D', a.note.branch);
  });
  assert.deepEqual(brief(changes), nothing);
});

test('a branch of a job that is checked out here counts', (t) => {
  const { repository } = begin(t);
  repository.git('switch', '-q', '-c', 'job-companion/here');
  const changes = changesOf(repository, (r) => {
    r.write('a.txt', 'x');
    r.commit('Here');
  });
  assert.deepEqual(brief(changes), { unchanged: false, commits: 1, refs: ['refs/heads/job-companion/here'] });
});

const ways: [name: string, act: (a: Tree, repository: Repository) => void, branches: (a: Tree) => string[]][] = [
  [
    'a branch that it made, committed on and left',
    ({ git, commit, note }) => {
      git('switch', '-q', '-c', 'topic');
      commit('topic.txt');
      git('switch', '-q', note.branch);
    },
    () => ['topic'],
  ],
  [
    'its own branch, which it left',
    ({ git, commit, note }) => {
      commit('own.txt');
      git('switch', '-q', '--detach', note.base);
    },
    ({ note }) => [note.branch],
  ],
  [
    'both',
    ({ git, commit, note }) => {
      git('switch', '-q', '-c', 'topic');
      commit('topic.txt');
      git('switch', '-q', note.branch);
      commit('own.txt');
    },
    ({ note }) => [note.branch, 'topic'],
  ],
  [
    'a branch on a branch once',
    ({ git, commit }) => {
      git('switch', '-q', '-c', 'one');
      commit('one.txt');
      git('switch', '-q', '-c', 'two');
      commit('two.txt');
    },
    () => ['two'],
  ],
  [
    'nothing of a branch that somebody made in the main tree',
    (_, repository) => {
      repository.git('switch', '-q', '-c', 'mine');
      repository.write('mine.txt', 'x');
      repository.commit('Mine');
      repository.git('switch', '-q', 'main');
    },
    () => [],
  ],
  [
    'nothing when it only took over what the main tree has',
    ({ git }, repository) => {
      repository.write('mine.txt', 'x');
      repository.commit('Mine');
      git('merge', '-q', 'main');
    },
    () => [],
  ],
];
for (const [name, act, branches] of ways) {
  test(`the commands take over ${name}`, (t) => {
    const { repository, a } = begin(t);
    act(a, repository);
    const commands = takeOverCommands(a.note, a.changes());
    assert.deepEqual(
      commands,
      branches(a).map((branch) => merge(repository, branch)),
    );
    for (const command of commands) execFileSync('sh', ['-c', command], { env: repository.env, stdio: 'pipe' });
    assert.deepEqual(takeOverCommands(a.note, a.changes()), []);
  });
}

test('a later job in the same tree takes over what the earlier one committed too', (t) => {
  const { repository, a } = begin(t);
  a.commit('first.txt');
  const look = () => captureWorkspace(a.note.path, { exclude: [] });
  const still = compareWorkspace(look(), look());
  assert.equal(still.unchanged, true);
  assert.deepEqual(takeOverCommands(a.note, still), [merge(repository, a.note.branch)]);
});

test('a tree that is gone leaves its branch to take over', (t) => {
  const { repository, a } = begin(t);
  a.commit('first.txt');
  const changes = a.changes();
  repository.git('worktree', 'remove', a.note.path);
  assert.deepEqual(takeOverCommands(a.note, changes), [merge(repository, a.note.branch)]);
});

test('more branches than a snapshot takes: a change among the rest is noticed, and what is told of branches is not exact', (t) => {
  const kept = refLimits.names;
  t.after(() => {
    refLimits.names = kept;
  });
  refLimits.names = 5;
  const repository = makeRepository(t);
  for (let n = 0; n < 8; n += 1) repository.git('branch', `b${n}`);
  const { git } = repository.capture();
  assert.deepEqual([Object.keys(git?.refs ?? {}).length, git?.refs_rest?.count], [5, 4]);
  assert.ok('refs/heads/main' in (git?.refs ?? {}));
  const still = changesOf(repository, () => undefined);
  assert.deepEqual([still.unchanged, still.exact, still.beyond], [true, false, []]);
  const commit = repository.git('rev-parse', 'HEAD~1').trim();
  const moved = changesOf(repository, (r) => r.git('update-ref', 'refs/heads/b7', commit));
  assert.deepEqual([moved.unchanged, moved.exact, moved.refs_changed], [false, false, []]);
  assert.deepEqual(moved.beyond, ['branches beyond the first 5']);
  // One that comes into view was there before.
  const gone = changesOf(repository, (r) => r.git('branch', '-D', 'b0'));
  assert.deepEqual([gone.unchanged, gone.refs_changed, gone.commit_count], [false, [], 0]);
});

test('branches that cannot be read are none that went', (t) => {
  const repository = makeRepository(t);
  const before = repository.capture();
  const after = repository.capture();
  after.git!.refs = null;
  const changes = compareWorkspace(before, after);
  assert.deepEqual([changes.refs_changed, changes.exact], [[], false]);
});
