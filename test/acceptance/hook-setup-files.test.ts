/**
 * `setup --hooks` and the files of others: copies that no commit takes along, a way on wherever it refuses, links, and nothing changed
 * that is not ours.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Document {
  hooks: { scope: string }[];
  changes: { file: string; changes: string[]; copy: string | null }[];
}

async function setup(workspace: Workspace, ...args: string[]): Promise<Document> {
  const result = await run(workspace, ['setup', '--json', ...args]);
  assert.equal(result.code, 0, result.stderr);
  return parseReply<Document>(result);
}

const on = ['--hooks', 'claude', '--apply'];
const off = ['--hooks', 'none', '--apply'];

/** A settings file of the worktree with a private thing in it, and one of the user. */
function makeSettings(workspace: Workspace, text: string): { file: string; user: string } {
  const [file, user] = [workspace.path('.claude/settings.local.json'), join(workspace.home, '.claude/settings.json')];
  for (const one of [file, user]) {
    mkdirSync(dirname(one), { recursive: true });
    writeFileSync(one, text);
  }
  return { file, user };
}

test('copies of settings of a worktree lie in the state folder of the user, private, and one for one text', async (t) => {
  const workspace = makeWorkspace(t);
  const { file } = makeSettings(workspace, '{\n  "env": { "TOKEN": "secret" }\n}\n');
  const shown = await run(workspace, ['setup', '--hooks', 'claude']);
  assert.match(shown.stdout.replace(/\s+/g, ' '), /copy \S+\/\.local\/state\/job-companion\/\S+TIME\.bak/);
  const copies = new Set<string | null>();
  for (let round = 0; round < 3; round += 1) {
    copies.add((await setup(workspace, ...on)).changes[0]?.copy ?? null);
    await setup(workspace, ...off);
  }
  assert.deepEqual(readdirSync(dirname(file)), ['settings.local.json']);
  const folder = dirname([...copies][0] ?? '');
  assert.ok(folder.startsWith(join(workspace.home, '.local/state/job-companion/')), folder);
  assert.deepEqual(
    [statSync(folder).mode & 0o777, ...readdirSync(folder).map((one) => statSync(join(folder, one)).mode & 0o777)],
    [0o700, ...readdirSync(folder).map(() => 0o600)],
  );
  // Nothing has changed since the newest copy: none is made.
  const before = readdirSync(folder).length;
  const newest = (await setup(workspace, ...on)).changes[0]?.copy ?? '';
  const text = readFileSync(newest, 'utf8');
  writeFileSync(file, text);
  assert.equal((await setup(workspace, ...on)).changes[0]?.copy, newest);
  assert.equal(readdirSync(folder).length, before + 1);
});

test('an empty file is as none, and what is refused comes with the block to paste, which then works', async (t) => {
  const workspace = makeWorkspace(t);
  const { file } = makeSettings(workspace, '');
  assert.equal((await setup(workspace, ...on)).hooks.length, 1);
  const refused: [string | Buffer, RegExp][] = [
    ['\uFEFF{}', /byte order mark; allowed /],
    ['{\n  // why\n}', /line 2.*; allowed is JSON without comments/],
    ['{"a": 1,}', /allowed is JSON without .*trailing commas/],
    ['{"a": 12345678901234567890}', /line 1 would not be the same/],
    ['{"a": 1, "a": 2}', /without doubled keys/],
    [Buffer.from('{"a": "\xff"}', 'latin1'), /no UTF-8/],
  ];
  for (const [text, reason] of refused)
    for (const words of [['--hooks', 'claude'], on]) {
      writeFileSync(file, text);
      const { code, stdout, stderr } = await run(workspace, ['setup', ...words]);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, reason);
      assert.ok(readFileSync(file).equals(Buffer.from(text)));
      assert.ok(stderr.includes(`put this into ${file} yourself`), stderr);
      writeFileSync(file, stderr.slice(stderr.indexOf(':\n{') + 2));
      assert.deepEqual((await setup(workspace, ...on)).changes, []);
    }
  assert.deepEqual(readdirSync(dirname(file)), ['settings.local.json']);
});

test('a link in a worktree is refused before anything is written; pasted by hand, its hooks are seen', async (t) => {
  const workspace = makeWorkspace(t);
  const { file, user } = makeSettings(workspace, '{}\n');
  const outside = join(workspace.base, 'outside');
  mkdirSync(outside);
  const target = join(outside, 'settings.local.json');
  const inFile = (): void => {
    unlinkSync(file);
    symlinkSync(target, file);
  };
  const inFolder = (): void => {
    rmSync(dirname(file), { recursive: true });
    symlinkSync(outside, dirname(file));
  };
  for (const link of [inFile, inFolder]) {
    writeFileSync(target, '{}\n');
    link();
    for (const words of [['--hooks', 'claude'], on]) {
      const { code, stderr } = await run(workspace, ['setup', ...words]);
      assert.deepEqual([code, readFileSync(target, 'utf8')], [1, '{}\n']);
      assert.match(stderr, /(is a link|no folder of its own); allowed .*\ntry: put this into /);
      // Nothing of ours in it, nothing to refuse.
      assert.deepEqual((await setup(workspace, ...off)).changes, []);
      if (words !== on) continue;
      const pasted = stderr.slice(stderr.indexOf(':\n{') + 2);
      writeFileSync(target, pasted);
      assert.deepEqual([(await setup(workspace, ...on)).changes, (await setup(workspace)).hooks.length], [[], 1]);
      const gone = await run(workspace, ['setup', ...off]);
      assert.match(gone.stderr, /try: take the hooks whose command ends with .* out of \S+ yourself/);
      assert.equal(readFileSync(target, 'utf8'), pasted);
    }
  }
  assert.equal(readFileSync(user, 'utf8'), '{}\n');
});

test('settings of the user may be a link: what it leads to is told and changed, and it stays one', async (t) => {
  const workspace = makeWorkspace(t);
  const { user } = makeSettings(workspace, '{}\n');
  const target = join(workspace.home, 'dotfiles/claude.json');
  mkdirSync(dirname(target));
  writeFileSync(target, '{"model": "m"}');
  unlinkSync(user);
  symlinkSync(target, user);
  const { changes } = await setup(workspace, '--hooks', 'claude', '--user', '--apply');
  assert.ok(changes[0]?.changes[0]?.includes(target), JSON.stringify(changes));
  assert.ok(lstatSync(user).isSymbolicLink());
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(target, 'utf8'))), ['model', 'hooks']);
  assert.deepEqual(readdirSync(dirname(target)), ['claude.json']);
  rmSync(target);
  const { code, stderr } = await run(workspace, ['setup', '--hooks', 'claude', '--user', '--apply']);
  assert.equal(code, 1);
  assert.match(stderr, /a link that leads to nothing; allowed .*\ntry: put this into /);
  assert.equal(existsSync(target), false);
});

test('none is no business of settings that are not understood and hold nothing of ours', async (t) => {
  const workspace = makeWorkspace(t);
  const { file, user } = makeSettings(workspace, '{ // words\n}');
  assert.deepEqual((await setup(workspace, ...off)).changes, []);
  writeFileSync(user, '{}');
  await setup(workspace, '--hooks', 'claude', '--user', '--apply');
  const { changes } = await setup(workspace, ...off);
  assert.deepEqual([changes.length, readFileSync(file, 'utf8')], [1, '{ // words\n}']);
});

test('lines that end in CRLF do so afterwards, and the indentation stays', async (t) => {
  const workspace = makeWorkspace(t);
  const before = '{\r\n\t"model": "m",\r\n\t"n": 1.5\r\n}\r\n';
  const { file } = makeSettings(workspace, before);
  await setup(workspace, ...on);
  assert.doesNotMatch(readFileSync(file, 'utf8'), /[^\r]\n|^ /m);
  await setup(workspace, ...off);
  assert.equal(readFileSync(file, 'utf8'), before);
});
