// What does not fit is said, and nothing is claimed of it.
import assert from 'node:assert/strict';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { compareWorkspace } from '../../companion/src/jobs/workspace/compare.ts';
import { limits } from '../../companion/src/jobs/workspace/entries.ts';
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

test('more dirty paths than a snapshot takes: it is bounded, and later changes among the rest are noticed', (t) => {
  const repository = makeRepository(t);
  writeMany(repository, 'many', limits.entries + 10);
  const before = repository.capture();
  assert.deepEqual([before.entries.length, before.rest?.count, before.exact], [limits.entries, 10, false]);
  const same = compareWorkspace(before, repository.capture());
  assert.deepEqual([same.unchanged, same.exact, same.file_count], [true, false, 0]);
  const last = `many/${String(limits.entries + 9).padStart(5, '0')}`;
  const unseen = changesOf(repository, (r) => r.write(last, 'x'));
  assert.deepEqual([unseen.unchanged, unseen.exact, unseen.file_count], [false, false, 0]);
});

test('a path that comes into view because another one went is not called new', (t) => {
  const repository = makeRepository(t);
  writeMany(repository, 'many', 12);
  withLimit('entries', 10, () => {
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
  withLimit('entries', 10, () => {
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
