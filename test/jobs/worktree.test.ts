// A linked worktree for one job: planned without a trace, made outside, kept while it holds work, taken over by the commands told.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { WorktreeNote } from '../../companion/src/core/staff.ts';
import { compareWorkspace } from '../../companion/src/jobs/workspace/compare.ts';
import { captureWorkspace } from '../../companion/src/jobs/workspace/snapshot.ts';
import {
  addWorktree,
  isDirtyTree,
  planWorktree,
  removeWorktree,
  takeOverCommands,
  undoWorktree,
  worktreeWork,
} from '../../companion/src/jobs/worktree.ts';
import { makeRepository, type Repository } from './repository.ts';

const id = 'implement-0000000a-abcdef';

function begin(t: TestContext): { repository: Repository; note: WorktreeNote; git: (...args: string[]) => string } {
  const repository = makeRepository(t);
  const { cwd: _, ...note } = planWorktree(repository.dir, id);
  addWorktree(note);
  return { repository, note, git: (...args) => repository.git('-C', note.path, ...args) };
}

const branches = ({ git }: Repository) => git('branch', '--format=%(refname:short)').trim().split('\n');

test('a plan names place, branch, commit and git folder, and leaves no trace', (t) => {
  const repository = makeRepository(t);
  const plan = planWorktree(repository.path('sub'), id);
  const { home, dir } = repository;
  assert.match(plan.path, new RegExp(`^${home}/\\.local/state/job-companion/worktrees/work-[0-9a-f]{8}/${id}$`));
  assert.deepEqual(
    { ...plan, path: '' },
    {
      path: '',
      branch: `job-companion/${id}`,
      base: repository.git('rev-parse', 'HEAD').trim(),
      from: dir,
      git_folder: join(dir, '.git'),
      cwd: join(plan.path, 'sub'),
    },
  );
  assert.deepEqual([existsSync(join(home, '.local')), branches(repository)], [false, ['main']]);
});

test('XDG_STATE_HOME moves the place, and each repository has its own', (t) => {
  const [one, two] = [makeRepository(t), makeRepository(t)];
  process.env.XDG_STATE_HOME = join(one.base, 'state');
  t.after(() => {
    delete process.env.XDG_STATE_HOME;
  });
  const [a, b] = [planWorktree(one.dir, id), planWorktree(two.dir, id)];
  assert.ok(a.path.startsWith(join(one.base, 'state/job-companion/worktrees/work-')));
  assert.notEqual(a.path, b.path);
  process.env.XDG_STATE_HOME = 'relative';
  assert.ok(planWorktree(one.dir, id).path.startsWith(join(two.home, '.local/state/')));
});

test('a folder that the commit does not have is none to start in', (t) => {
  const repository = makeRepository(t);
  repository.write('new/f', 'f');
  const plan = planWorktree(repository.path('new'), id);
  assert.equal(plan.cwd, plan.path);
});

test('from a linked worktree the plan begins at its commit, with the git folder of all', (t) => {
  const { repository, note, git } = begin(t);
  writeFileSync(join(note.path, 'more'), 'x');
  git('add', '-A');
  git('commit', '-qm', 'More');
  const next = planWorktree(note.path, 'implement-0000000b-abcdef');
  assert.deepEqual([next.from, next.git_folder], [note.path, join(repository.dir, '.git')]);
  assert.equal(next.base, git('rev-parse', 'HEAD').trim());
});

const refusals: [name: string, make: (t: TestContext) => string, reason: RegExp][] = [
  ['outside git', (t) => makeRepository(t, { git: false }).dir, /is not in a git work tree/],
  [
    'before the first commit',
    (t) => {
      const repository = makeRepository(t, { git: false });
      repository.git('init', '-q');
      return repository.dir;
    },
    /there is no commit yet/,
  ],
  [
    'in a bare repository',
    (t) => {
      const repository = makeRepository(t);
      repository.git('config', 'core.bare', 'true');
      return repository.dir;
    },
    /must be run in a work tree/,
  ],
  [
    'when its place would lie in a work tree',
    (t) => {
      const repository = makeRepository(t);
      process.env.XDG_STATE_HOME = repository.path('state');
      t.after(() => {
        delete process.env.XDG_STATE_HOME;
      });
      return repository.dir;
    },
    /lies inside the repository .*; set XDG_STATE_HOME/,
  ],
];
for (const [name, make, reason] of refusals) {
  test(`no worktree can be planned ${name}`, (t) => {
    const folder = make(t);
    assert.throws(() => planWorktree(folder, id), { name: 'FaultError', code: 'preflight', message: reason });
  });
}

test('the worktree has the commit and not what is dirty, and the main tree stays as it is', (t) => {
  const repository = makeRepository(t);
  repository.write('a.txt', 'dirty');
  const before = repository.git('status', '--porcelain');
  const { cwd: _, ...note } = planWorktree(repository.dir, id);
  addWorktree(note);
  assert.equal(readFileSync(join(note.path, 'a.txt'), 'utf8'), 'one\n');
  assert.equal(repository.git('status', '--porcelain'), before);
  assert.deepEqual(branches(repository), [note.branch, 'main']);
  assert.deepEqual(worktreeWork(note), { uncommitted: 0, commits: 0, isMerged: true, isGone: false });
  assert.equal(captureWorkspace(note.path, { exclude: [] }).git?.branch, note.branch);
});

test('making it runs no hook', (t) => {
  const repository = makeRepository(t);
  const mark = join(repository.base, 'mark');
  writeFileSync(repository.path('.git/hooks/post-checkout'), `#!/bin/sh\n: >'${mark}'\n`);
  chmodSync(repository.path('.git/hooks/post-checkout'), 0o755);
  const { cwd: _, ...note } = planWorktree(repository.dir, id);
  addWorktree(note);
  assert.equal(existsSync(mark), false);
});

test('what cannot be made leaves nothing', (t) => {
  const { repository, note } = begin(t);
  const { cwd: _, ...second } = planWorktree(repository.dir, 'implement-0000000b-abcdef');
  // A branch of this name cannot be beside branches below it.
  assert.throws(() => addWorktree({ ...second, branch: `${note.branch}/x` }), { code: 'preflight' });
  assert.equal(existsSync(second.path), false);
  assert.throws(() => addWorktree(note), { code: 'preflight', message: /exists already/ });
  assert.equal(existsSync(note.path), true);
  assert.deepEqual(branches(repository), [note.branch, 'main']);
});

test('a worktree without work is removed with its branch', (t) => {
  const { repository, note } = begin(t);
  undoWorktree(note);
  assert.equal(existsSync(note.path), false);
  assert.deepEqual(branches(repository), ['main']);
  assert.equal(repository.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length, 1);
  assert.deepEqual(worktreeWork(note), { uncommitted: 0, commits: 0, isMerged: true, isGone: true });
  assert.equal(removeWorktree(note), true);
});

const kept: [name: string, act: (b: ReturnType<typeof begin>) => void, work: object][] = [
  [
    'an edit',
    ({ note }) => writeFileSync(join(note.path, 'a.txt'), 'x'),
    { uncommitted: 1, commits: 0, isMerged: true },
  ],
  [
    'a new file',
    ({ note }) => writeFileSync(join(note.path, 'n'), 'x'),
    { uncommitted: 1, commits: 0, isMerged: true },
  ],
  [
    'an edit that git was told to overlook',
    ({ note, git }) => {
      git('update-index', '--assume-unchanged', 'a.txt');
      writeFileSync(join(note.path, 'a.txt'), 'x');
    },
    { uncommitted: 1, commits: 0, isMerged: true },
  ],
  [
    'a commit',
    ({ git }) => git('commit', '-qm', 'Empty', '--allow-empty'),
    { uncommitted: 0, commits: 1, isMerged: false },
  ],
  [
    'a commit on no branch',
    ({ git }) => {
      git('checkout', '-q', '--detach');
      git('commit', '-qm', 'Empty', '--allow-empty');
    },
    { uncommitted: 0, commits: 1, isMerged: false },
  ],
  [
    'a broken repository',
    ({ note }) => writeFileSync(join(note.path, '.git'), 'gitdir: /nowhere\n'),
    { uncommitted: 1, commits: 0, isMerged: true },
  ],
];
for (const [name, act, work] of kept) {
  test(`a worktree with ${name} is kept`, (t) => {
    const all = begin(t);
    act(all);
    assert.deepEqual(worktreeWork(all.note), { ...work, isGone: false });
    assert.equal(removeWorktree(all.note), false);
    assert.equal(existsSync(all.note.path), true);
    assert.ok(branches(all.repository).includes(all.note.branch));
  });
}

test('a worktree that git refuses to remove keeps its branch', (t) => {
  const { repository, note } = begin(t);
  repository.git('worktree', 'lock', note.path);
  assert.equal(removeWorktree(note), false);
  assert.ok(existsSync(note.path));
  assert.ok(branches(repository).includes(note.branch));
});

test('merged work does not keep it, work on a branch whose folder is gone keeps the branch', (t) => {
  const { repository, note, git } = begin(t);
  git('commit', '-qm', 'Empty', '--allow-empty');
  rmSync(note.path, { recursive: true });
  assert.deepEqual(worktreeWork(note), { uncommitted: 0, commits: 1, isMerged: false, isGone: true });
  assert.equal(removeWorktree(note), false);
  assert.ok(branches(repository).includes(note.branch));
  repository.git('merge', '-q', note.branch);
  assert.equal(worktreeWork(note).isMerged, true);
  assert.equal(removeWorktree(note), true);
  assert.deepEqual(branches(repository), ['main']);
});

test('work that another branch or a remote has is merged, and what only a branch of the job has is not', (t) => {
  const { repository, note, git } = begin(t);
  git('commit', '-qm', 'Empty', '--allow-empty');
  assert.equal(worktreeWork(note).isMerged, false);
  repository.git('update-ref', 'refs/remotes/origin/topic', note.branch);
  assert.equal(worktreeWork(note).isMerged, true);
});

test('a folder that is no worktree of this repository is not removed', (t) => {
  const { repository, note } = begin(t);
  rmSync(note.path, { recursive: true });
  const other = makeRepository(t);
  symlinkSync(other.dir, note.path);
  assert.equal(removeWorktree(note), false);
  assert.ok(existsSync(other.path('a.txt')));
  rmSync(note.path);
  mkdirSync(note.path);
  assert.equal(removeWorktree(note), false);
  assert.ok(existsSync(note.path));
  assert.ok(branches(repository).includes(note.branch));
});

/** The commands, run by a shell as a user would. */
function takeOver(repository: Repository, commands: string[]): void {
  for (const command of commands) {
    execFileSync('sh', ['-c', command], { cwd: repository.base, env: repository.env, stdio: 'pipe' });
  }
}

const ways: [
  name: string,
  act: (b: ReturnType<typeof begin>) => void,
  commands: number,
  files: Record<string, string>,
][] = [
  [
    'commits',
    ({ note, git }) => {
      writeFileSync(join(note.path, 'a.txt'), 'two\n');
      git('commit', '-qam', 'Two');
    },
    1,
    { 'a.txt': 'two\n' },
  ],
  [
    'uncommitted work',
    ({ note }) => {
      writeFileSync(join(note.path, 'a.txt'), 'two\n');
      writeFileSync(join(note.path, "it's new"), 'new');
    },
    3,
    { 'a.txt': 'two\n', "it's new": 'new' },
  ],
  [
    'both, on no branch',
    ({ note, git }) => {
      git('checkout', '-q', '--detach');
      writeFileSync(join(note.path, 'a.txt'), 'two\n');
      git('commit', '-qam', 'Two');
      writeFileSync(join(note.path, 'b'), 'b');
    },
    4,
    { 'a.txt': 'two\n', b: 'b' },
  ],
  [
    'commits on another branch',
    ({ note, git }) => {
      git('checkout', '-q', '-b', 'own');
      writeFileSync(join(note.path, 'a.txt'), 'two\n');
      git('commit', '-qam', 'Two');
    },
    1,
    { 'a.txt': 'two\n' },
  ],
];
for (const [name, act, length, files] of ways) {
  test(`the commands told take over ${name}, and then nothing keeps the worktree`, (t) => {
    const all = begin(t);
    const { note, repository } = all;
    const before = captureWorkspace(note.path, { exclude: [] });
    act(all);
    const changes = compareWorkspace(before, captureWorkspace(note.path, { exclude: [] }));
    const commands = takeOverCommands(note, changes);
    assert.equal(commands.length, length);
    takeOver(repository, commands);
    for (const [file, content] of Object.entries(files)) assert.equal(repository.read(file), content);
    assert.equal(removeWorktree(note), true);
    assert.ok(commands.at(-1)?.startsWith(`git -C ${repository.dir} merge `));
    assert.equal(basename(note.path), id);
  });
}

test('there is nothing to take over where nothing was done', (t) => {
  const { note } = begin(t);
  const look = () => captureWorkspace(note.path, { exclude: [] });
  assert.deepEqual(takeOverCommands(note, compareWorkspace(look(), look())), []);
});

/** A program that leaves a mark and passes its input on. */
function makeTrap(repository: Repository): { file: string; ran: () => boolean } {
  const [file, mark] = [join(repository.base, 'trap'), join(repository.base, 'trapped')];
  writeFileSync(file, `#!/bin/sh\n: >'${mark}'\nexec cat\n`, { mode: 0o755 });
  return { file, ran: () => existsSync(mark) };
}

const conditions: [name: string, condition: string][] = [
  ['in the folder of a worktree', 'gitdir:**/worktrees/**'],
  ['on the branch of a job', 'onbranch:job-companion/**'],
];
for (const [name, condition] of conditions) {
  test(`no filter that the configuration names only ${name} runs, when it is made nor when it is removed`, (t) => {
    const repository = makeRepository(t);
    const { file, ran } = makeTrap(repository);
    repository.write('.gitattributes', '*.txt filter=evil\n');
    repository.commit('Attributes');
    const evil = join(repository.base, 'evil');
    writeFileSync(evil, `[filter "evil"]\n\tsmudge = ${file}\n\tclean = ${file}\n\trequired = true\n`);
    repository.git('config', `includeIf.${condition}.path`, evil);
    const { cwd: _, ...note } = planWorktree(repository.dir, id);
    addWorktree(note);
    assert.equal(readFileSync(join(note.path, 'a.txt'), 'utf8'), 'one\n');
    assert.deepEqual(worktreeWork(note), { uncommitted: 0, commits: 0, isMerged: true, isGone: false });
    // The same bytes with another time: git has to look at them again.
    utimesSync(join(note.path, 'a.txt'), 1_000, 1_000);
    assert.equal(removeWorktree(note), true);
    assert.equal(ran(), false);
    repository.git('worktree', 'add', '-q', '-b', 'job-companion/x', join(repository.base, 'plain'));
    assert.equal(ran(), true);
  });
}

test('a worktree whose files cannot be checked out leaves nothing', (t) => {
  const repository = makeRepository(t);
  const evil = join(repository.base, 'evil');
  writeFileSync(evil, '[filter "x=y"]\n\tsmudge = cat\n');
  repository.git('config', 'includeIf.gitdir:**/worktrees/**.path', evil);
  const { cwd: _, ...note } = planWorktree(repository.dir, id);
  assert.throws(() => addWorktree(note), { code: 'preflight', message: /cannot be switched off/ });
  assert.deepEqual([existsSync(note.path), branches(repository)], [false, ['main']]);
  assert.equal(repository.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length, 1);
});

/** A git that fails so often at making a worktree, as it does beside another one that is just being made. */
function failingGit(t: TestContext, repository: Repository, times: number): void {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const folder = join(repository.base, 'failing');
  mkdirSync(folder);
  const text = `#!/bin/sh
case "$*" in *'worktree add'*) for n in $(seq ${times}); do
  mkdir '${folder}/'$n 2>/dev/null && { echo 'fatal: failed to read .git/worktrees/x/commondir: Success' >&2; exit 128; }
done ;; esac
exec ${real} "$@"
`;
  writeFileSync(join(folder, 'git'), text, { mode: 0o755 });
  const kept = process.env.PATH;
  process.env.PATH = `${folder}:${kept}`;
  t.after(() => {
    process.env.PATH = kept;
  });
}

test('git that stumbles over another worktree that is just being made is asked again, and not for ever', (t) => {
  const repository = makeRepository(t);
  const { cwd: _, ...note } = planWorktree(repository.dir, id);
  failingGit(t, repository, 2);
  addWorktree(note);
  assert.ok(existsSync(join(note.path, 'a.txt')));
  const other = makeRepository(t);
  const { cwd: __, ...second } = planWorktree(other.dir, id);
  failingGit(t, other, 9);
  assert.throws(() => addWorktree(second), { code: 'preflight', message: /commondir/ });
  assert.deepEqual([existsSync(second.path), branches(other)], [false, ['main']]);
});

test('whether a tree has uncommitted work is told cheaply', (t) => {
  const repository = makeRepository(t);
  assert.equal(isDirtyTree(repository.dir), false);
  repository.write('new', 'x');
  assert.equal(isDirtyTree(repository.dir), true);
  repository.commit('New');
  repository.write('a.txt', 'x');
  assert.equal(isDirtyTree(repository.dir), true);
  repository.git('checkout', '-q', 'a.txt');
  for (let n = 0; n < 600; n += 1) repository.write(`${'long'.repeat(40)}${n}`, '');
  assert.equal(isDirtyTree(repository.dir), true);
  assert.equal(isDirtyTree(repository.base), false);
});
