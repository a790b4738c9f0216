/**
 * A state folder that somebody else brought along (contract 11): tracked by git, a link, foreign, open to all, of another
 * program or release. Every command refuses it with 1, runs nothing, and leaves it byte for byte as it was. What a folder of
 * our own may hold after an agent wrote into it is hostile-record.test.ts.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import test from 'node:test';
import { type RunOptions, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const nobody = 65534;
const isRoot = process.getuid?.() === 0;
const needsRoot = isRoot ? false : 'needs root to give files away';

test('a state folder that a cloned repository brings along is refused by every command', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await makeJob(workspace);
  workspace.git('add', '-f', '.job-state');
  workspace.git('commit', '-q', '-m', 'Bring jobs along');
  const clone = join(workspace.base, 'clone');
  workspace.git('clone', '-q', workspace.dir, clone);
  // The modes that git gives are not at fault: only that it tracks the files.
  chmodSync(join(clone, '.job-state'), 0o700);
  assert.ok(existsSync(join(clone, '.job-state/jobs', id, 'spec.json')));
  for (const version of ['2', '4']) {
    workspace.git('-C', clone, 'update-index', '--index-version', version);
    await refuse(workspace, everyCommand(id), /git tracks files in it/, { cwd: clone });
  }
  mkdirSync(join(clone, 'below'));
  await refuse(workspace, someCommands(id), /git tracks files in it/, { cwd: join(clone, 'below') });
});

test('a pipe or a device in the place of git files holds nobody up: nothing new is started, and what is there can be read and ended', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await makeJob(workspace);
  workspace.write('tracked', 'x');
  workspace.git('add', 'tracked');
  for (const place of ['index', 'config']) {
    const file = workspace.path('.git', place);
    const whole = readFileSync(file);
    for (const odd of ['pipe', 'device']) {
      rmSync(file);
      if (odd === 'pipe') execFileSync('mkfifo', [file]);
      else symlinkSync('/dev/zero', file);
      const launches = [
        ['run', '--', 'touch', '../ran'],
        ['restart', id],
        ['timer', 'in', '1h'],
      ];
      await refuse(workspace, launches, /whether git tracks files in it cannot be told \(.*no regular file\)/);
      for (const words of [['status'], ['observe', id], ['wait', id], ['result', id], ['idle-check'], ['reconcile']]) {
        const { code, stderr } = await run(workspace, words);
        assert.equal(code, 0, `${words}: ${stderr}`);
      }
      assert.equal((await run(workspace, ['hook', 'claude', 'Stop'], { input: '{}' })).code, 0);
    }
    rmSync(file);
    writeFileSync(file, whole);
  }
  // Nothing is made where there was nothing.
  rmSync(workspace.path('.git/index'));
  execFileSync('mkfifo', [workspace.path('.git/index')]);
  rmSync(workspace.path('.job-state'), { recursive: true });
  await refuse(workspace, [['run', '--', 'touch', '../ran']], /cannot be told/);
  // A pipe as `.git` is no worktree.
  rmSync(workspace.path('.git'), { recursive: true });
  execFileSync('mkfifo', [workspace.path('.git')]);
  assert.equal((await run(workspace, ['status'])).code, 0);
});

test('one tracked file, also a deleted or only staged one, is enough to refuse the folder', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await makeJob(workspace);
  workspace.git('add', '-f', '.job-state/meta.json');
  await refuse(workspace, someCommands(id), /git tracks files in it/);
  workspace.git('commit', '-q', '-m', 'Track it');
  await refuse(workspace, someCommands(id), /git tracks files in it/);
  workspace.git('rm', '-q', '--cached', '.job-state/meta.json');
  assert.equal((await run(workspace, ['status', id])).code, 0);
});

test('a tracked folder is found in a linked worktree and beside names that sort near it', async (t) => {
  const workspace = makeWorkspace(t);
  for (const name of ['.job', '.job-state-x/a', '.job-stat/b', '.job-state.txt', 'zzz']) workspace.write(name, 'x');
  workspace.git('add', '.');
  workspace.git('commit', '-q', '-m', 'Neighbours');
  const id = await makeJob(workspace);
  assert.equal((await run(workspace, ['status', id])).code, 0);
  const linked = join(workspace.base, 'linked');
  workspace.git('worktree', 'add', '-q', linked);
  renameSync(workspace.path('.job-state'), join(linked, '.job-state'));
  assert.equal((await run(workspace, ['status', id], { cwd: linked })).code, 0);
  workspace.git('-C', linked, 'add', '-f', '.job-state/jobs');
  await refuse(workspace, someCommands(id), /git tracks files in it/, { cwd: linked });
});

test('a tracked folder is refused under a name that is not ASCII', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await makeJob(workspace, { env: { JOB_STATE_DIR: 'état' } });
  workspace.git('add', '-f', 'état');
  await refuse(workspace, someCommands(id), /git tracks files in it/, { env: { JOB_STATE_DIR: 'état' } });
});

test('a tracked folder is refused when the way to it leads through a link', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('deep'));
  const id = await makeJob(workspace, { env: { JOB_STATE_DIR: 'deep/state' } });
  workspace.git('add', '-f', 'deep/state');
  symlinkSync(workspace.path('deep'), join(workspace.base, 'way'));
  const env = { JOB_STATE_DIR: join(workspace.base, 'way/state') };
  await refuse(workspace, someCommands(id), /git tracks files in it/, { env });
});

test('a state folder that is a link is refused, wherever it leads', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await makeJob(workspace);
  const elsewhere = join(workspace.base, 'elsewhere');
  renameSync(workspace.path('.job-state'), elsewhere);
  for (const target of [elsewhere, join(workspace.base, 'nowhere'), join(workspace.base, 'home')]) {
    rmSync(workspace.path('.job-state'), { force: true });
    symlinkSync(target, workspace.path('.job-state'));
    await refuse(workspace, everyCommand(id), /it is a symbolic link/);
    await refuse(workspace, someCommands(id), /it is a symbolic link/, { env: { JOB_STATE_DIR: '.job-state' } });
  }
});

test('a state folder that is no folder, or holds files that are not ours, is refused', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await makeJob(workspace);
  const folder = workspace.path('.job-state');
  const meta = join(folder, 'meta.json');
  const good = readFileSync(meta, 'utf8');
  const bad: [content: string, reason: RegExp][] = [
    ['', /no meta.json of ours/],
    ['{"schema":1', /no meta.json of ours/],
    ['[]', /no meta.json of ours/],
    ['{"schema":1,"tool":"another"}', /no meta.json of ours/],
    [good.replace('"schema":1', '"schema":2'), /a newer release wrote it \(schema 2, known: 1\)/],
    [good.replace('"schema":1', '"schema":"1"'), /schema/],
    [good.replace('"schema":1', '"schema":null'), /schema/],
  ];
  for (const [content, reason] of bad) {
    writeFileSync(meta, content);
    await refuse(workspace, someCommands(id), reason);
  }
  rmSync(meta);
  await refuse(workspace, someCommands(id), /it holds files but no meta.json of ours/);
  symlinkSync(workspace.write('elsewhere.json', good), meta);
  await refuse(workspace, someCommands(id), /it holds files but no meta.json of ours/);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  await refuse(workspace, someCommands(id), /it is no folder/);
});

test('a state folder that others may write into is refused, and its mode is not changed', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await makeJob(workspace);
  for (const mode of [0o777, 0o770, 0o1702]) {
    chmodSync(workspace.path('.job-state'), mode);
    await refuse(workspace, everyCommand(id), /others may write into it \(mode [0-7]+\)/);
  }
  chmodSync(workspace.path('.job-state'), 0o755);
  assert.equal((await run(workspace, ['status', id])).code, 0);
  assert.equal(lstatSync(workspace.path('.job-state')).mode & 0o7777, 0o755);
});

for (const name of ['jobs', 'active', 'once', 'slots', 'lock']) {
  test(`a link in the place of ${name} is not followed`, async (t) => {
    const workspace = makeWorkspace(t);
    const id = await makeJob(workspace);
    const elsewhere = join(workspace.base, 'elsewhere');
    const inner = workspace.path('.job-state', name);
    if (existsSync(inner)) renameSync(inner, elsewhere);
    else mkdirSync(elsewhere);
    symlinkSync(elsewhere, inner);
    await refuse(workspace, everyCommand(id), new RegExp(`its ${name} is no folder of ours`));
  });
}

test('a state folder of another user is refused, from both sides', { skip: needsRoot }, async (t) => {
  const workspace = makeWorkspace(t);
  openTo(workspace, nobody);
  const ours = { env: { XDG_CONFIG_HOME: join(workspace.base, 'root-config') } };
  const id = await makeJob(workspace, ours);
  await refuse(workspace, everyCommand(id), /it belongs to user 0, not to us \(65534\)/, asNobody());
  giveAway(workspace.path('.job-state'), nobody);
  await refuse(workspace, everyCommand(id), /it belongs to user 65534, not to us \(0\)/, ours);
});

test('an unprivileged user is refused in a worktree that he may not write, and told how to go elsewhere', {
  skip: needsRoot,
}, async (t) => {
  const workspace = makeWorkspace(t);
  openTo(workspace, nobody);
  const { dir } = workspace;
  chownSync(dir, 0, 0);
  chmodSync(dir, 0o755);
  const options = asNobody();
  const before = picture(dir);
  const refused = await run(workspace, ['run', '--', 'true'], options);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(
    refused.stderr,
    /state folder \S*\/\.job-state: .*EACCES.*\ntry: use another place with --state-dir DIR/,
  );
  assert.deepEqual(picture(dir), before);

  const shut = join(workspace.base, 'shut');
  mkdirSync(shut, { mode: 0o700 });
  for (const args of [['run', '--', 'true'], ['status'], ['wait']]) {
    const [verb = '', ...rest] = args;
    const locked = await run(workspace, [verb, '--state-dir', join(shut, 'state'), ...rest], options);
    assert.deepEqual([locked.code, locked.stdout], [1, ''], verb);
    assert.match(
      locked.stderr,
      /^job-companion: cannot [^\n]*\/shut\/state[^\n]*EACCES[^\n]*\ntry: [^\n]*--state-dir DIR/,
      verb,
    );
  }
  const moved = await run(
    workspace,
    ['run', '--wait', '--state-dir', join(workspace.home, 's'), '--', 'id', '-u'],
    options,
  );
  assert.deepEqual([moved.code, moved.stdout], [0, `${nobody}\n`], moved.stderr);
});

test('his own folder that he may no longer write is named before anything starts', { skip: needsRoot }, async (t) => {
  const workspace = makeWorkspace(t);
  openTo(workspace, nobody);
  const options = asNobody();
  const first = await run(workspace, ['run', '--wait', '--', 'echo', 'first'], options);
  assert.deepEqual([first.code, first.stdout], [0, 'first\n'], first.stderr);
  chmodSync(workspace.path('.job-state'), 0o500);
  const before = picture(workspace.dir);
  const refused = await run(workspace, ['run', '--', 'touch', 'ran'], options);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /state folder \S*: it is not writable \(EACCES\)\ntry: .*--state-dir/);
  assert.deepEqual(picture(workspace.dir), before);
  assert.equal((await run(workspace, ['result'], options)).stdout, 'first\n');
});

test('a config folder that cannot be read is named at launch, and keeps nobody from reading', {
  skip: needsRoot,
}, async (t) => {
  const workspace = makeWorkspace(t);
  openTo(workspace, nobody);
  const release = workspace.path('release');
  const wait = ['sh', '-c', 'until [ -e "$0" ]; do sleep 0.05; done; echo done', release];
  const { code, stdout, stderr } = await run(workspace, ['run', '--id-only', '--', ...wait], asNobody());
  assert.equal(code, 0, stderr);
  const id = stdout.trim();
  // The worker has verified its request with the key by then.
  await eventually('the command to run', () => existsSync(workspace.path('.job-state/jobs', id, 'started/child')));
  const config = join(workspace.home, '.config/job-companion');
  chmodSync(config, 0);
  const refused = await run(workspace, ['run', '--', 'touch', 'ran'], asNobody());
  const readers = [];
  for (const args of [['status'], ['status', id], ['observe', id], ['wait', id, '--timeout', '0s']]) {
    readers.push([args[0], (await run(workspace, args, asNobody())).code]);
  }
  writeFileSync(release, '');
  const waited = await run(workspace, ['wait', id], asNobody());
  chmodSync(config, 0o700);
  assert.deepEqual([waited.code, waited.stdout], [0, 'done\n'], waited.stderr);
  const codes = [
    ['status', 0],
    ['status', 2],
    ['observe', 2],
    ['wait', 2],
  ];
  assert.deepEqual(readers, codes);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(
    refused.stderr,
    new RegExp(`^job-companion: cannot [^\\n]*${config}[^\\n]*EACCES[^\\n]*\\ntry: .*XDG_CONFIG_HOME`),
  );
});

/** One finished job in the workspace's state folder. */
async function makeJob(workspace: Workspace, options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await run(workspace, ['run', '--id-only', '--', 'true'], options);
  assert.equal(code, 0, stderr);
  assert.equal((await run(workspace, ['wait', stdout.trim()], options)).code, 0);
  return stdout.trim();
}

/** Every command that could do something with the folder. */
function everyCommand(id: string): string[][] {
  return [
    ...someCommands(id),
    ['run', '--once-key', 'k', '--', 'touch', '../ran'],
    ['wait', id, '--timeout', '0s'],
    ['wait', '--timeout', '0s'],
    ['observe', id],
    ['status', id],
    ['result', id],
    ['cancel', id],
    ['continue', '--job', id, '--prompt', 'x'],
    ['doctor'],
    ['doctor', id],
  ];
}

function someCommands(id: string): string[][] {
  return [['run', '--', 'touch', '../ran'], ['restart', id], ['status'], ['clean', '--older-than', '0s', '--yes']];
}

/** Exit 1 with the reason, and nothing changed anywhere. */
async function refuse(workspace: Workspace, lines: string[][], reason: RegExp, options?: RunOptions): Promise<void> {
  const before = picture(workspace.base);
  for (const args of lines) {
    const { code, stdout, stderr } = await run(workspace, args, options);
    const seen = `${args.join(' ')}: ${code} ${stdout}${stderr}`;
    assert.deepEqual([code, stdout], [1, ''], seen);
    assert.match(stderr, /^job-companion: cannot use the state folder \/[^\n]+\ntry: [^\n]+\n$/, seen);
    assert.match(stderr, reason, seen);
  }
  assert.deepEqual(picture(workspace.base), before);
}

/** Every path with what it is: owner, mode, time and content. */
function picture(folder: string): string[] {
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const { mode, uid, mtimeMs } = lstatSync(path);
        const content = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
        const target = entry.isSymbolicLink() ? readlinkSync(path) : '';
        return `${relative(folder, path)} ${uid} ${mode.toString(8)} ${mtimeMs} ${content}${target}`;
      })
      // A worker keeps what V8 compiled when it leaves, which may be after its job was collected.
      .filter((line) => !line.startsWith('home/.cache'))
      .sort()
  );
}

/** Lets an unprivileged user in: the way to the worktree, and a worktree and home of his own. */
function openTo({ base, dir, home }: Workspace, uid: number): void {
  chmodSync(base, 0o755);
  giveAway(dir, uid);
  giveAway(home, uid);
}

function giveAway(folder: string, uid: number): void {
  lchownSync(folder, uid, uid);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, name), uid, uid);
}

/** The built file as that user, without any privilege of ours. */
function asNobody(): RunOptions {
  const ids = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
  return { node: 'setpriv', nodeOptions: [...ids, '--bounding-set=-all', testNode()] };
}
