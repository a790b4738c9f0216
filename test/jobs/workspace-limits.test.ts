// What does not fit is said, and nothing is claimed of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { compareWorkspace } from '../../companion/src/jobs/workspace/compare.ts';
import { collectEntries, limits } from '../../companion/src/jobs/workspace/entries.ts';
import { openRepository } from '../../companion/src/jobs/workspace/repository.ts';
import { captureWorkspace } from '../../companion/src/jobs/workspace/snapshot.ts';
import type { WorkspaceSnapshot } from '../../companion/src/jobs/workspace/types.ts';
import { monotonicMs } from '../../companion/src/platform/clock.ts';
import { walkFolder } from '../../companion/src/platform/raw-content.ts';
import { changesOf, makeRepository, type Repository, told } from './repository.ts';

function writeMany(repository: Repository, folder: string, count: number): void {
  mkdirSync(repository.path(folder));
  for (let n = 0; n < count; n += 1) writeFileSync(repository.path(folder, String(n).padStart(5, '0')), '');
}

/** A test of the limit itself, with a smaller one. */
function withLimit(name: keyof typeof limits, value: number, run: () => void): void {
  const kept = limits[name];
  limits[name] = value;
  try {
    run();
  } finally {
    limits[name] = kept;
  }
}

function withLimits(values: Partial<typeof limits>, run: () => void): void {
  const [first, ...others] = Object.entries(values) as [keyof typeof limits, number][];
  if (!first) run();
  else withLimit(first[0], first[1], () => withLimits(Object.fromEntries(others), run));
}

test('more dirty paths than are looked into: the others are compared by size and time, counted and named', (t) => {
  const repository = makeRepository(t);
  writeMany(repository, 'many', limits.entries + 10);
  const before = repository.capture();
  const { entries, rest, exact } = before;
  assert.deepEqual(
    [entries.length, rest?.count, rest?.files.length, rest?.digest, exact],
    [limits.entries, 10, 10, null, false],
  );
  const same = compareWorkspace(before, repository.capture());
  assert.deepEqual([same.unchanged, same.exact, same.file_count], [true, false, 0]);
  assert.deepEqual([same.dirty_before_count, same.dirty_after], [limits.entries + 10, limits.entries + 10]);
  const last = `many/${String(limits.entries + 9).padStart(5, '0')}`;
  const edited = changesOf(repository, (r) => r.write(last, 'x'));
  assert.deepEqual([told(edited), edited.index_changed], [[`modified ${last}, dirty`], false]);
  const gone = changesOf(repository, (r) => r.remove('many'));
  assert.equal(gone.file_count, limits.entries + 10);
});

test('of paths that are not looked into it is told what became of them', (t) => {
  const repository = makeRepository(t);
  for (const name of ['x1', 'x2', 'x3', 'x4', 'x5']) repository.write(name, name);
  repository.commit('More');
  for (const name of ['x1', 'x2', 'x3']) repository.write(name, 'dirty');
  repository.write('y', 'new');
  repository.write('z', 'new');
  withLimit('entries', 2, () => {
    assert.equal(repository.capture().rest?.count, 3);
    const changes = changesOf(repository, (r) => {
      r.git('checkout', '-q', '--', 'x3');
      r.write('x4', 'dirty');
      r.remove('x5');
      r.write('y', 'newer');
      r.move('z', 'zz');
      r.write('zzz', 'added');
    });
    const rows = [
      'modified x3, dirty',
      'modified x4',
      'deleted x5',
      'modified y, dirty',
      'renamed z -> zz, dirty',
      'added zzz',
    ];
    assert.deepEqual(told(changes), rows);
    assert.deepEqual([changes.dirty_before, changes.index_changed], [['x1', 'x2'], false]);
    const staged = changesOf(repository, (r) => r.git('add', 'zzz'));
    assert.deepEqual([told(staged), staged.index_changed], [[], true]);
    const committed = changesOf(repository, (r) => r.commit('All'));
    assert.deepEqual([told(committed), committed.dirty_committed_count], [[], 7]);
  });
});

test('beyond what is kept at all only that something changed is known', (t) => {
  const repository = makeRepository(t);
  writeMany(repository, 'many', 20);
  withLimits({ entries: 5, brief: 10 }, () => {
    const { rest } = repository.capture();
    assert.deepEqual([rest?.count, rest?.files.length, rest?.digest?.length], [15, 10, 32]);
    const still = changesOf(repository, () => undefined);
    assert.deepEqual([still.unchanged, still.beyond, still.dirty_before_count], [true, [], 15]);
    const unseen = changesOf(repository, (r) => r.write('many/00019', 'x'));
    assert.deepEqual([unseen.unchanged, unseen.exact, unseen.file_count], [false, false, 0]);
    assert.deepEqual(unseen.beyond, ['uncommitted files beyond the first 15']);
  });
});

test('a path that comes into view because another one went is not called new', (t) => {
  const repository = makeRepository(t);
  writeMany(repository, 'many', 12);
  withLimits({ entries: 6, brief: 4 }, () => {
    const before = repository.capture();
    // As if it had begun later: the files are older than the look.
    before.at = new Date(Date.now() + 60_000).toISOString();
    repository.remove('many/00000');
    const changes = compareWorkspace(before, repository.capture());
    assert.deepEqual(told(changes), ['deleted many/00000, dirty']);
    assert.deepEqual([changes.exact, changes.index_changed], [false, false]);
  });
});

test('a tracked path that comes into view is neither called changed nor newly staged', (t) => {
  const repository = makeRepository(t);
  writeMany(repository, 'many', 12);
  repository.commit('Many');
  for (let n = 1; n < 12; n += 1) repository.write(`many/${String(n).padStart(5, '0')}`, 'staged');
  repository.git('add', '-A');
  repository.write('many/00000', 'dirty');
  withLimits({ entries: 6, brief: 4 }, () => {
    const before = repository.capture();
    before.at = new Date(Date.now() + 60_000).toISOString();
    repository.git('checkout', '-q', '--', 'many/00000');
    const changes = compareWorkspace(before, repository.capture());
    assert.deepEqual(told(changes), ['modified many/00000, dirty']);
    assert.deepEqual([changes.exact, changes.index_changed], [false, false]);
  });
});

test('what is too much to be hashed is compared by size, time and inode', (t) => {
  const repository = makeRepository(t);
  repository.write('big', '');
  truncateSync(repository.path('big'), limits.hashedBytes + 1);
  repository.write('small', 'x');
  const before = repository.capture();
  const [big, small] = before.entries;
  assert.deepEqual([big?.content, before.exact], [null, false]);
  assert.match(small?.content ?? '', /^[0-9a-f]{40}$/);
  assert.equal(compareWorkspace(before, repository.capture()).unchanged, true);
  truncateSync(repository.path('big'), limits.hashedBytes + 2);
  const changes = compareWorkspace(before, repository.capture());
  assert.deepEqual([told(changes), changes.exact], [['modified big, dirty'], false]);
});

test('names are bounded together', (t) => {
  const repository = makeRepository(t);
  for (const name of ['x', 'y', 'z']) repository.write(name.repeat(100), '');
  withLimit('nameText', 250, () => {
    const { entries, rest, exact } = repository.capture();
    assert.deepEqual([entries.length, rest?.count, exact], [2, 1, false]);
  });
});

test('more repositories inside than are asked are said', (t) => {
  const repository = makeRepository(t);
  for (const name of ['one', 'two', 'three']) {
    repository.write(`${name}/f`, 'f');
    repository.git('init', '-q', name);
  }
  assert.equal(repository.capture().exact, true);
  withLimit('nested', 2, () => assert.equal(repository.capture().exact, false));
});

test('a submodule path that leads out of the work tree is not followed', (t) => {
  const repository = makeRepository(t);
  const outside = makeRepository(t);
  outside.write('secret', 'x');
  repository.link('link', outside.dir);
  const paths = [`../../${outside.base.split('/').at(-1)}/work`, outside.dir, 'link', '.', '..', 'sub/../../x'];
  const text = paths.map((path, n) => `[submodule "${n}"]\n\tpath = ${path}\n\turl = x\n`).join('');
  repository.write('.gitmodules', text);
  assert.deepEqual(
    repository.capture().entries.map(({ path }) => path),
    ['.gitmodules', 'link'],
  );
});

test('a walk stops at its limit, and leaves out what it is told to', (t) => {
  const repository = makeRepository(t, { git: false });
  repository.write('node_modules/x', 'x');
  repository.write('left/out', 'x');
  repository.link('loop', '.');
  const walk = (entries: number, ms = 60_000) =>
    walkFolder(repository.dir, { exclude: [repository.path('left')], skip: ['node_modules'], entries, ms });
  const whole = walk(100);
  assert.deepEqual([[...whole.found.keys()], whole.isWhole], [['a.txt', 'loop', 'sub/b.txt'], true]);
  assert.deepEqual([walk(2).found.size, walk(2).isWhole], [1, false]);
  assert.equal(walk(100, -1).isWhole, false);
});

test('outside git a folder that is too large is compared as far as it was seen', (t) => {
  const repository = makeRepository(t, { git: false });
  const before = repository.capture();
  before.exact = false;
  before.files = before.files!.filter(([name]) => name !== 'a.txt');
  before.at = new Date(Date.now() + 60_000).toISOString();
  repository.write('sub/b.txt', 'other');
  const changes = compareWorkspace(before, repository.capture());
  assert.deepEqual([told(changes), changes.exact], [['modified sub/b.txt'], false]);
});

/** A git that takes its time over every call, before the real one on PATH. */
function slowGit(t: TestContext, repository: Repository, seconds: number): void {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const folder = join(repository.base, 'slow');
  mkdirSync(folder);
  writeFileSync(join(folder, 'git'), `#!/bin/sh\nsleep ${seconds}\nexec ${real} "$@"\n`, { mode: 0o755 });
  const kept = process.env.PATH;
  process.env.PATH = `${folder}:${kept}`;
  t.after(() => {
    process.env.PATH = kept;
  });
}

const soon = (run: () => void): number => {
  const began = monotonicMs();
  run();
  return monotonicMs() - began;
};

test('one look has one budget, however slow git is', (t) => {
  const repository = makeRepository(t);
  repository.write('a.txt', 'dirty');
  const before = repository.capture();
  slowGit(t, repository, 0.4);
  const look = () => captureWorkspace(repository.dir, { exclude: [], budgetMs: 600 });
  let snapshot = look();
  assert.ok(soon(() => (snapshot = look())) < 1_500);
  assert.match(snapshot.reason ?? '', /^(?:git status took longer|the 0\.6 s for looking at it were used up)/);
  repository.write('a.txt', 'dirtier');
  const after = look();
  let changes = compareWorkspace(before, after, { budgetMs: 600 });
  assert.ok(soon(() => (changes = compareWorkspace(before, after, { budgetMs: 600 }))) < 1_500);
  assert.deepEqual([told(changes), changes.unchanged, changes.exact], [['modified a.txt, dirty'], false, false]);
  assert.match(changes.reason ?? '', /took longer|used up/);
});

for (const name of ['core.excludesFile', '.gitignore']) {
  test(`a pipe as ${name} holds nobody up`, (t) => {
    const repository = makeRepository(t);
    const pipe = name === '.gitignore' ? repository.path('sub/.gitignore') : join(repository.base, 'pipe');
    execFileSync('mkfifo', [pipe]);
    repository.write('sub/new', 'x');
    if (name !== '.gitignore') repository.git('config', name, pipe);
    let snapshot: WorkspaceSnapshot | undefined;
    const took = soon(() => {
      snapshot = captureWorkspace(repository.dir, { exclude: [], budgetMs: 800 });
    });
    assert.ok(took < 3_000, String(took));
    assert.match(snapshot?.reason ?? '', /^git status took longer than 0\.\d s$/);
    assert.ok((snapshot?.files ?? []).some(([file]) => file === 'a.txt'));
  });
}

test('what could not be hashed in time is compared by size and time, and the reason says so', (t) => {
  const repository = makeRepository(t);
  repository.write('big', '');
  truncateSync(repository.path('big'), 300 * 1024 * 1024);
  repository.write('zz', 'x');
  const opened = openRepository(repository.dir, monotonicMs() + 60_000);
  assert.ok('git' in opened);
  const { entries, exact, isLate } = collectEntries(opened, () => false, monotonicMs() + 20);
  assert.deepEqual(
    [entries.map(({ path, content }) => [path, content]), exact, isLate],
    [
      [
        ['big', null],
        ['zz', null],
      ],
      false,
      true,
    ],
  );
  assert.ok(entries.every(({ stat }) => stat !== null));
});
