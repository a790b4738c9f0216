// Whether git tracks anything below a folder, asked of indexes that a real git wrote.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { findWorktree, trackingOf } from '../../companion/src/platform/git-folder.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

/** What can be read must leave no doubt. */
function tracksAnything(folder: string): boolean {
  const { isTracked, doubt } = trackingOf(folder);
  assert.equal(doubt, undefined);
  return isTracked;
}

/** A repository that tracks these files, in an index of this version. */
function makeRepository(t: TestContext, files: readonly string[], version: number): Workspace {
  const workspace = makeWorkspace(t);
  for (const file of files) workspace.write(file, `${file}\n`);
  workspace.git('add', '-f', '.');
  // Version 3 is only kept where an entry needs it.
  if (version === 3) {
    workspace.write('zz-later', '');
    workspace.git('add', '-N', 'zz-later');
  } else workspace.git('update-index', '--index-version', String(version));
  return workspace;
}

function versionOf({ path }: Workspace): number {
  return readFileSync(path('.git', 'index')).readUInt32BE(4);
}

const around = [
  ...[
    '.gitignore',
    '.job',
    '.job-stat',
    '.job-state-2/x',
    '.job-state.txt',
    '.job-state0',
    'README.md',
    'a/b/c',
    'zebra',
  ],
  ...[
    'deep/er/than/all/the/others/with-a-name-that-is-rather-long-so-that-padding-differs.txt',
    'src/.job-state-old/y',
  ],
  ...Array.from({ length: 40 }, (_, n) => `src/file-${'x'.repeat(n)}`),
];

for (const version of [2, 3, 4]) {
  test(`an index of version ${version} without the folder tracks nothing below it, whatever stands before and after`, (t) => {
    const workspace = makeRepository(t, around, version);
    assert.equal(versionOf(workspace), version);
    for (const folder of ['.job-state', 'src/.job-state', 'none', 'a/none', 'zz']) {
      assert.equal(tracksAnything(workspace.path(folder)), false, folder);
    }
  });

  test(`an index of version ${version} with one file in the folder tracks it, wherever the folder lies`, (t) => {
    const inside = ['.job-state/jobs/run-x/spec.json', 'src/sub/.job-state/meta.json', 'zzz/meta.json', '!first/x'];
    const workspace = makeRepository(t, [...around, ...inside], version);
    assert.equal(versionOf(workspace), version);
    for (const folder of ['.job-state', '.job-state/jobs', 'src/sub/.job-state', 'zzz', '!first', 'src', 'a']) {
      assert.equal(tracksAnything(workspace.path(folder)), true, folder);
    }
    assert.equal(tracksAnything(workspace.path('src/.job-state')), false);
  });
}

test('a linked worktree has an index of its own', (t) => {
  const workspace = makeRepository(t, ['.job-state/meta.json'], 2);
  workspace.git('commit', '-q', '-m', 'Track it');
  const linked = join(workspace.base, 'linked');
  workspace.git('worktree', 'add', '-q', '--detach', linked);
  assert.equal(findWorktree(join(linked, '.job-state', 'jobs')), linked);
  assert.equal(tracksAnything(join(linked, '.job-state')), true);
  workspace.git('-C', linked, 'rm', '-rq', '--cached', '.job-state');
  assert.equal(tracksAnything(join(linked, '.job-state')), false);
  assert.equal(tracksAnything(workspace.path('.job-state')), true);
});

test('a file that was staged and never committed counts, and one that was taken back does not', (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('.job-state/meta.json', '{}');
  assert.equal(tracksAnything(workspace.path('.job-state')), false);
  workspace.git('add', '-f', '.job-state');
  assert.equal(tracksAnything(workspace.path('.job-state')), true);
  workspace.git('rm', '-rq', '--cached', '.job-state');
  assert.equal(tracksAnything(workspace.path('.job-state')), false);
});

test('a name that git tracks is found when it is not ASCII', (t) => {
  const workspace = makeRepository(t, ['\u00e4\u6f22/state/meta.json'], 2);
  assert.equal(tracksAnything(workspace.path('\u00e4\u6f22/state')), true);
});

test('a repository with SHA-256 names is read too', (t) => {
  const workspace = makeWorkspace(t, { git: false });
  workspace.git('init', '-q', '--object-format=sha256');
  workspace.write('.job-state/meta.json', '{}');
  workspace.git('add', '-f', '.');
  assert.equal(tracksAnything(workspace.path('.job-state')), true);
});

test('a submodule in the place of the folder counts as tracked', (t) => {
  const workspace = makeWorkspace(t);
  const module = makeWorkspace(t);
  module.write('meta.json', '{}');
  module.git('add', '.');
  module.git('commit', '-q', '-m', 'State');
  workspace.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', module.dir, '.job-state');
  assert.ok(existsSync(workspace.path('.job-state', 'meta.json')));
  assert.equal(tracksAnything(workspace.path('.job-state')), true);
});

test('outside git, and where the index is missing or no index, nothing is tracked', (t) => {
  const plain = makeWorkspace(t, { git: false });
  plain.write('.job-state/meta.json', '{}');
  assert.equal(findWorktree(plain.dir), undefined);
  assert.equal(tracksAnything(plain.path('.job-state')), false);
  mkdirSync(plain.path('.git'));
  assert.equal(tracksAnything(plain.path('.job-state')), false);
  for (const content of ['', 'DIR', `DIRC\0\0\0\x09\0\0\0\x01${'x'.repeat(100)}`, 'x'.repeat(500)]) {
    writeFileSync(plain.path('.git', 'index'), content, 'latin1');
    assert.equal(tracksAnything(plain.path('.job-state')), false);
  }
});

test('an index that ends too early is read as far as it goes', (t) => {
  const workspace = makeRepository(t, ['.job-state/meta.json', 'b', 'c'], 2);
  const whole = readFileSync(workspace.path('.git', 'index'));
  for (let length = 0; length < whole.length; length += 1) {
    writeFileSync(workspace.path('.git', 'index'), whole.subarray(0, length));
    assert.equal(typeof tracksAnything(workspace.path('.job-state')), 'boolean');
  }
  writeFileSync(workspace.path('.git', 'index'), whole);
  assert.equal(tracksAnything(workspace.path('.job-state')), true);
});

test('the worktree is found from any folder in it, also from one that does not exist', (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('a', 'b'), { recursive: true });
  for (const folder of [workspace.dir, workspace.path('a', 'b'), workspace.path('none', 'at', 'all')]) {
    assert.equal(findWorktree(folder), workspace.dir);
  }
  assert.equal(findWorktree(workspace.base), undefined);
  assert.equal(findWorktree('/'), undefined);
});

test('the inner one of two nested worktrees counts, also when its .git is a link', (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('inner', '.git'), { recursive: true });
  assert.equal(findWorktree(workspace.path('inner', 'x')), workspace.path('inner'));
  mkdirSync(workspace.path('linked'));
  symlinkSync(workspace.path('.git'), workspace.path('linked', '.git'));
  const top = workspace.git('-C', workspace.path('linked'), 'rev-parse', '--show-toplevel').trim();
  assert.deepEqual([findWorktree(workspace.path('linked')), top], [workspace.path('linked'), workspace.path('linked')]);
});

test('a .git that is a link to a git folder or to a file that names one makes a worktree, as for git', (t) => {
  const workspace = makeRepository(t, ['a', '.job-state/meta.json'], 2);
  renameSync(workspace.path('.git'), join(workspace.base, 'elsewhere'));
  symlinkSync('../elsewhere', workspace.path('.git'));
  assert.equal(workspace.git('rev-parse', '--show-toplevel').trim(), workspace.dir);
  assert.equal(findWorktree(workspace.path('sub')), workspace.dir);
  assert.equal(tracksAnything(workspace.path('.job-state')), true);
  writeFileSync(join(workspace.base, 'file'), `gitdir: ${join(workspace.base, 'elsewhere')}\n`);
  unlinkSync(workspace.path('.git'));
  symlinkSync('../file', workspace.path('.git'));
  assert.equal(workspace.git('rev-parse', '--show-toplevel').trim(), workspace.dir);
  assert.equal(findWorktree(workspace.dir), workspace.dir);
  unlinkSync(workspace.path('.git'));
  symlinkSync('../nowhere', workspace.path('.git'));
  assert.equal(findWorktree(workspace.dir), undefined);
});

test('what is no regular file in the place of git files is never opened, and leaves a doubt', (t) => {
  const places = ['index', 'config'];
  for (const place of places) {
    const workspace = makeRepository(t, ['a'], 2);
    const file = workspace.path('.git', place);
    const look = () => trackingOf(workspace.path('.job-state'));
    const whole = readFileSync(file);
    unlinkSync(file);
    execFileSync('mkfifo', [file]);
    assert.match(look().doubt ?? '', new RegExp(`/\\.git/${place} is no regular file$`));
    for (const device of ['/dev/zero', '/dev/tty', '/proc/self/fd']) {
      unlinkSync(file);
      symlinkSync(device, file);
      assert.match(look().doubt ?? '', new RegExp(`/\\.git/${place} is no regular file$`), device);
    }
    unlinkSync(file);
    symlinkSync(file, file);
    assert.match(look().doubt ?? '', /cannot be read \(ELOOP\)/);
    unlinkSync(file);
    writeFileSync(join(workspace.base, 'moved'), whole);
    symlinkSync(join(workspace.base, 'moved'), file);
    assert.deepEqual(look(), { isTracked: false });
  }
});

test('a link in the place of the index is followed, as by git', (t) => {
  const workspace = makeRepository(t, ['.job-state/meta.json'], 2);
  renameSync(workspace.path('.git', 'index'), join(workspace.base, 'moved'));
  symlinkSync(join(workspace.base, 'moved'), workspace.path('.git', 'index'));
  assert.equal(tracksAnything(workspace.path('.job-state')), true);
});

for (const version of [2, 4]) {
  test(`an index of version ${version} that is larger than a piece is read to its end`, (t) => {
    const workspace = makeWorkspace(t);
    const hash = workspace.git('hash-object', '-w', '--stdin', '-t', 'blob').trim();
    const names = [
      ...Array.from({ length: 9000 }, (_, n) => `src/${'d'.repeat(1 + (n % 90))}/file-${n}`),
      'zz/state/meta.json',
    ];
    const lines = names.map((name) => `100644 ${hash}\t${name}\n`).join('');
    execFileSync('git', ['update-index', '--index-info'], { cwd: workspace.dir, env: workspace.env, input: lines });
    workspace.git('update-index', '--index-version', String(version));
    assert.ok(readFileSync(workspace.path('.git', 'index')).length > 256 * 1024);
    for (const name of names) mkdirSync(workspace.path(name, '..'), { recursive: true });
    assert.equal(tracksAnything(workspace.path('zz/state')), true);
    for (const folder of ['zz/other', 'zz/stat', 'src/none', '.job-state', 'zzz'])
      assert.equal(tracksAnything(workspace.path(folder)), false, folder);
    for (const name of names.filter((_, n) => n % 300 === 0))
      assert.equal(tracksAnything(workspace.path(name)), true, name);
  });
}

test('an index without an end, or with a name without an end, is given up and leaves a doubt', (t) => {
  const workspace = makeRepository(t, ['a'], 2);
  const file = workspace.path('.git', 'index');
  const head = Buffer.from('DIRC\0\0\0\x02\xff\xff\xff\xff', 'latin1');
  writeFileSync(file, head);
  truncateSync(file, 2 ** 40);
  assert.match(trackingOf(workspace.path('.job-state')).doubt ?? '', /too large to be looked through/);
  writeFileSync(file, Buffer.concat([head, Buffer.alloc(2 ** 20, 'a')]));
  assert.match(trackingOf(workspace.path('.job-state')).doubt ?? '', /a name that is too long/);
});
