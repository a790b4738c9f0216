// Facts about paths, and moving and removing: a link is a link, and what is not there is no error.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import test from 'node:test';
import {
  exists,
  factsOf,
  isExecutable,
  isFolder,
  listNames,
  moveFolder,
  removeTree,
  touch,
} from '../../companion/src/platform/folders.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('facts are those of the path itself, never of a link behind it', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  write('file', 'abc');
  chmodSync(path('file'), 0o640);
  mkdirSync(path('folder'));
  symlinkSync(path('folder'), path('link'));
  symlinkSync('/nowhere/at-all', path('broken'));
  execFileSync('mkfifo', [path('fifo')]);
  const file = factsOf(path('file'));
  assert.equal(file?.kind, 'file');
  assert.equal(file?.size, 3);
  assert.equal(file?.mode, 0o640);
  assert.equal(file?.uid, process.getuid?.());
  assert.equal(file?.modifiedMs, statSync(path('file')).mtimeMs);
  assert.equal(factsOf(path('folder'))?.kind, 'folder');
  assert.equal(factsOf(path('link'))?.kind, 'link');
  assert.equal(factsOf(path('broken'))?.kind, 'link');
  assert.equal(factsOf(path('fifo'))?.kind, 'other');
  assert.equal(factsOf(path('none')), undefined);
});

test('facts of what lies below a file are none', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  write('file', '');
  assert.equal(factsOf(path('file', 'below')), undefined);
});

test('nothing below a file is a folder or executable, and asking is no error', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  write('file', '');
  assert.equal(isFolder(path('file', 'below')), false);
  assert.equal(isExecutable(path('file', 'below')), false);
});

test('allocated bytes are those on the disk, not those of a hole', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  write('sparse', '');
  truncateSync(path('sparse'), 10 * 1024 * 1024);
  const facts = factsOf(path('sparse'));
  assert.equal(facts?.size, 10 * 1024 * 1024);
  assert.ok((facts?.allocated ?? Number.POSITIVE_INFINITY) < 1024 * 1024);
});

test('names of a folder that is not there are none', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  write('a', '');
  write('.b', '');
  assert.deepEqual(listNames(path()).sort(), ['.b', 'a']);
  assert.deepEqual(listNames(path('none')), []);
  assert.deepEqual(listNames(path('a')), []);
});

test('only a regular file with the right to execute is executable, links followed', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  chmodSync(write('program', ''), 0o755);
  chmodSync(write('text', ''), 0o644);
  mkdirSync(path('folder'));
  symlinkSync(path('program'), path('link'));
  symlinkSync('/nowhere/at-all', path('broken'));
  assert.equal(isExecutable(path('program')), true);
  assert.equal(isExecutable(path('link')), true);
  for (const name of ['text', 'folder', 'broken', 'none']) assert.equal(isExecutable(path(name)), false, name);
  assert.deepEqual([isFolder(path('folder')), isFolder(path('text')), isFolder(path('none'))], [true, false, false]);
});

test('a folder is moved onto nothing or onto an empty one, never onto a full one', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  write('from/x', '1');
  write('full/y', '2');
  mkdirSync(path('empty'));
  assert.equal(moveFolder(path('from'), path('full')), false);
  assert.deepEqual(readdirSync(path('full')), ['y']);
  assert.equal(moveFolder(path('from'), path('empty')), true);
  assert.equal(moveFolder(path('from'), path('other')), false);
  assert.equal(moveFolder(path('empty'), path('new')), true);
  assert.equal(readFileSync(path('new', 'x'), 'utf8'), '1');
});

test('removing a tree removes links and not what they point to', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  write('kept/x', '1');
  write('gone/y/z', '2');
  symlinkSync(path('kept'), path('gone', 'link'));
  symlinkSync(path('kept'), path('link'));
  removeTree(path('gone'));
  removeTree(path('link'));
  removeTree(path('none'));
  assert.deepEqual(readdirSync(path()), ['kept']);
  assert.equal(readFileSync(path('kept', 'x'), 'utf8'), '1');
});

test('touch renews a time and says when there is nothing to renew', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  write('lease', '');
  assert.equal(touch(path('lease'), 1_000_000_000_000), true);
  assert.equal(statSync(path('lease')).mtimeMs, 1_000_000_000_000);
  assert.equal(touch(path('none'), 1), false);
  assert.equal(existsSync(path('none')), false);
  assert.equal(exists(path('lease')), true);
});
