// What a run left behind at its end, against what was there at launch: new, changed, unchanged, gone, through links, and in the way.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { RunPart } from '../../companion/src/core/job.ts';
import { freshPaths, pathsBefore, requireLogPath } from '../../companion/src/jobs/artifact-paths.ts';
import { describeResult, missingFiles, noteResults } from '../../companion/src/jobs/artifacts.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const command = { argv: ['x'], program: '/x', success_exit: 0, keep_children: false };

test('a file is new, changed by size, time or place, unchanged, gone or missing', async (t) => {
  const { dir, write } = makeWorkspace(t, { git: false });
  const long = new Date('2020-01-01T00:00:00.500Z');
  for (const name of ['size', 'time', 'place', 'same', 'gone']) {
    write(name, 'abc');
    utimesSync(join(dir, name), long, long);
  }
  const run = runWith(dir, ['new', 'size', 'time', 'place', 'same', 'gone', 'missing'], []);
  write('new', '');
  write('size', 'abcd');
  utimesSync(join(dir, 'size'), long, long);
  utimesSync(join(dir, 'time'), long, new Date(long.getTime() + 1));
  write('other', 'abc');
  utimesSync(join(dir, 'other'), long, long);
  renameSync(join(dir, 'other'), join(dir, 'place'));
  rmSync(join(dir, 'gone'));
  const notes = await noteResults(run);
  assert.deepEqual(
    notes.map(({ exists, existed, changed }) => [exists, existed, changed]),
    [
      [true, false, true],
      [true, true, true],
      [true, true, true],
      [true, true, true],
      [true, true, false],
      [false, true, false],
      [false, false, false],
    ],
  );
  assert.deepEqual(missingFiles(run, notes), [
    `${dir}/same (unchanged since the launch)`,
    `${dir}/gone (gone)`,
    `${dir}/missing (missing)`,
  ]);
  assert.deepEqual(notes.map(describeResult), [
    `${dir}/new: 0 B, new`,
    `${dir}/size: 4 B, changed`,
    `${dir}/time: 3 B, changed`,
    `${dir}/place: 3 B, changed`,
    `${dir}/same: 3 B, unchanged since the launch`,
    `${dir}/gone: gone`,
    `${dir}/missing: missing`,
  ]);
  assert.equal(notes[4]?.mtime, long.toISOString());
});

test('what stands behind a link counts, and the link is said', async (t) => {
  const { dir, write } = makeWorkspace(t, { git: false });
  write('run1', 'a');
  symlinkSync('run1', join(dir, 'latest'));
  symlinkSync('nowhere', join(dir, 'dangling'));
  const run = runWith(dir, ['latest', 'dangling'], []);
  assert.deepEqual(missingFiles(run, await noteResults(run)), [
    `${dir}/latest (unchanged since the launch)`,
    `${dir}/dangling (missing)`,
  ]);
  write('run2', 'a');
  rmSync(join(dir, 'latest'));
  symlinkSync('run2', join(dir, 'latest'));
  const [latest] = await noteResults(run);
  assert.deepEqual([latest?.changed, latest?.link_to], [true, join(dir, 'run2')]);
  assert.equal(latest && describeResult(latest), `${dir}/latest -> ${dir}/run2: 1 B, changed`);
});

test('a folder or a FIFO in the place of a success file is no file, however new it is', async (t) => {
  const { dir } = makeWorkspace(t, { git: false });
  const run = runWith(dir, ['folder', 'fifo', 'in/the/way'], []);
  mkdirSync(join(dir, 'folder'));
  execFileSync('mkfifo', [join(dir, 'fifo')]);
  writeFileSync(join(dir, 'in'), '');
  assert.deepEqual(missingFiles(run, await noteResults(run)), [
    `${dir}/folder (a folder, not a file)`,
    `${dir}/fifo (a special file, not a file)`,
    `${dir}/in/the/way (missing)`,
  ]);
});

test('a cycle of links that came later is told as trouble and throws nothing', async (t) => {
  const { dir } = makeWorkspace(t, { git: false });
  const run = runWith(dir, ['loop'], []);
  symlinkSync('loop', join(dir, 'loop'));
  const notes = await noteResults(run);
  assert.deepEqual([notes[0]?.trouble, notes[0]?.exists], ['ELOOP', false]);
  assert.deepEqual(missingFiles(run, notes), [`${dir}/loop (cannot be looked at (ELOOP))`]);
});

test('a result path is told and required by nobody; one that is a success file too is told once', async (t) => {
  const { dir, write } = makeWorkspace(t, { git: false });
  mkdirSync(join(dir, 'out'));
  const run = runWith(dir, ['model'], ['out', 'model', 'none']);
  write('out/part', 'x');
  write('model', 'x');
  const notes = await noteResults(run);
  assert.deepEqual(notes.map(describeResult), [
    `${dir}/model: 1 B, new`,
    `${dir}/out: folder, changed`,
    `${dir}/none: missing`,
  ]);
  assert.deepEqual([notes.map(({ required }) => required), missingFiles(run, notes)], [[true, false, false], []]);
});

test('a run of an older release has nothing to tell', async () => {
  assert.deepEqual(await noteResults(command), []);
});

test('the same paths are looked at afresh for the same command once more', async (t) => {
  const { dir, write } = makeWorkspace(t, { git: false });
  const run = runWith(dir, ['model'], ['out']);
  write('model', 'x');
  write('out', 'x');
  const again: RunPart = { ...run, ...freshPaths(run) };
  assert.deepEqual(missingFiles(again, await noteResults(again)), [`${dir}/model (unchanged since the launch)`]);
  assert.deepEqual([again.result_paths, again.result_baselines?.[0]?.before?.size], [run.result_paths, 1]);
  assert.deepEqual(freshPaths(command), {});
});

test('a path that can never hold what is asked for is refused with the reason', async (t) => {
  const { dir, write } = makeWorkspace(t, { git: false });
  write('file', 'x');
  mkdirSync(join(dir, 'folder'));
  symlinkSync('loop', join(dir, 'loop'));
  const refuse = (names: { files?: string[]; results?: string[] }, message: RegExp) =>
    assert.throws(() => runWith(dir, names.files ?? [], names.results ?? []), { message });
  refuse({ files: [''] }, /^cannot take --success-file "": allowed is a path/);
  refuse({ results: ['a\nb'] }, /^cannot take --result "a\\nb": a path may hold no line end/);
  refuse({ files: ['a\0b'] }, /no NUL$/);
  refuse({ files: ['folder'] }, /folder: it is a folder$/);
  refuse({ files: ['new/'] }, /"new\/": it names a folder; name a file in it$/);
  refuse({ files: ['new/..'] }, /it names a folder/);
  refuse({ files: ['file/x'] }, /file\/x: .*\/file is no folder$/);
  refuse({ results: ['file/x/y/z'] }, /\/file is no folder$/);
  refuse({ results: ['/dev/null'] }, /neither a file nor a folder$/);
  refuse({ files: ['loop'] }, /loop: it cannot be looked at \(ELOOP\)$/);
  refuse({ files: ['x'.repeat(300)] }, /\(ENAMETOOLONG\)$/);
  refuse({ files: ['a', './b/../a'] }, /--success-file twice for .*\/a: name each path once$/);
  refuse({ results: Array.from({ length: 65 }, (_, n) => `r${n}`) }, /65 times --result: at most 64 are allowed$/);
  assert.throws(() => requireLogPath('folder', dir), { message: /--log .*folder: it is a folder$/ });
  // Builds make them.
  const { success_files } = runWith(dir, ['build/not/yet/there.bin'], ['dist']);
  assert.deepEqual(success_files, [{ path: join(dir, 'build/not/yet/there.bin'), before: null }]);
});

function runWith(cwd: string, successFiles: string[], results: string[]): RunPart {
  return { ...command, ...pathsBefore({ successFiles, results }, cwd) };
}
