/**
 * `setup --hooks`: off unless asked for, shown before it is written, beside the hooks of others, gone with one command; `doctor` tells
 * of hooks that cannot work.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Document {
  applied: boolean;
  hooks: { host: string; scope: string; file: string; events: string[]; problem: string | null }[];
  changes: { file: string; changes: string[]; copy: string | null }[];
}

async function setup(workspace: Workspace, ...args: string[]): Promise<Document> {
  const result = await run(workspace, ['setup', '--json', ...args]);
  assert.equal(result.code, 0, result.stderr);
  return parseReply<Document>(result);
}

const ownSettings = ({ path }: Workspace): string => path('.claude/settings.local.json');
const commandsOf = (file: string, event: string): string[] =>
  JSON.parse(readFileSync(file, 'utf8')).hooks[event].flatMap((group: { hooks: { command: string }[] }) =>
    group.hooks.map(({ command }) => command),
  );

test('off by default, a dry run writes nothing, and --apply writes what was shown, once', async (t) => {
  const workspace = makeWorkspace(t);
  const file = ownSettings(workspace);
  assert.deepEqual((await setup(workspace)).hooks, []);
  const shown = await setup(workspace, '--hooks', 'claude');
  assert.deepEqual([shown.applied, shown.changes[0]?.file, existsSync(file)], [false, file, false]);
  const done = await setup(workspace, '--hooks', 'claude', '--apply');
  assert.deepEqual(done.changes[0]?.changes, shown.changes[0]?.changes);
  const { host, scope, events, problem } = done.hooks[0]!;
  assert.deepEqual([host, scope, events, problem], ['claude', 'worktree', ['Stop', 'UserPromptSubmit'], null]);
  for (const event of events)
    assert.match(commandsOf(file, event)[0]!, /^\/\S+ \/\S+job-companion\.cjs hook claude \w+ /);
  assert.deepEqual((await setup(workspace, '--hooks', 'claude', '--apply')).changes, []);
  assert.match((await run(workspace, ['setup'])).stdout, /^Hooks .*:\n {2}claude {8}on, .*settings\.local\.json$/m);
  assert.equal((await run(workspace, ['doctor'])).code, 0);
});

test('none takes away ours in every place and nothing else, with a copy of what was there', async (t) => {
  const workspace = makeWorkspace(t);
  const user = join(workspace.home, '.claude/settings.json');
  const before = `${JSON.stringify({ model: 'm', hooks: { Stop: [{ hooks: [{ type: 'command', command: 'ls' }] }] } }, null, 2)}\n`;
  mkdirSync(join(workspace.home, '.claude'));
  writeFileSync(user, before);
  await setup(workspace, '--hooks', 'claude', '--user', '--apply');
  assert.deepEqual(commandsOf(user, 'Stop').length, 2);
  // Turned on for every worktree already: twice would say everything twice.
  assert.deepEqual((await setup(workspace, '--hooks', 'claude', '--apply')).changes, []);
  await setup(workspace, '--hooks', 'codex', '--apply');
  const codex = join(workspace.home, '.codex/hooks.json');
  assert.equal(commandsOf(codex, 'UserPromptSubmit').length, 1);
  const { changes, hooks } = await setup(workspace, '--hooks', 'none', '--apply');
  assert.deepEqual([changes.length, hooks, existsSync(codex)], [2, [], false]);
  assert.equal(readFileSync(user, 'utf8'), before);
  for (const { copy } of changes) assert.match(readFileSync(copy ?? '', 'utf8'), /hook (claude|codex) Stop/);
  assert.deepEqual((await setup(workspace, '--hooks', 'none', '--apply')).changes, []);
});

test('the folders that the hosts are told to use are where their hooks go', async (t) => {
  const workspace = makeWorkspace(t);
  const env = { CLAUDE_CONFIG_DIR: join(workspace.base, 'c'), CODEX_HOME: join(workspace.base, 'x') };
  for (const [host, file] of [
    ['claude', 'c/settings.json'],
    ['codex', 'x/hooks.json'],
  ] as const) {
    const { code, stderr } = await run(workspace, ['setup', '--hooks', host, '--user', '--apply'], { env });
    assert.equal(code, 0, stderr);
    assert.equal(commandsOf(join(workspace.base, file), 'Stop').length, 1);
  }
});

test('settings that are not understood, links that a repository brings and unknown hosts are refused', async (t) => {
  const workspace = makeWorkspace(t);
  const refused = async (reason: RegExp, ...args: string[]): Promise<void> => {
    const { code, stdout, stderr } = await run(workspace, ['setup', '--apply', ...args]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, reason);
  };
  await refused(/allowed are claude, codex, none/, '--hooks', 'vim');
  const outside = join(workspace.base, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, workspace.path('.claude'));
  await refused(/\.claude is no folder of its own/, '--hooks', 'claude');
  assert.deepEqual(readdirSync(outside), []);
  mkdirSync(join(workspace.home, '.codex'));
  for (const text of ['{"hooks": 7}', '// words']) {
    writeFileSync(join(workspace.home, '.codex/hooks.json'), text);
    await refused(/cannot change the settings .*hooks\.json: its? /, '--hooks', 'codex');
    assert.equal(readFileSync(join(workspace.home, '.codex/hooks.json'), 'utf8'), text);
  }
});

test('doctor tells of hooks that cannot work, and what it names mends them', async (t) => {
  const workspace = makeWorkspace(t);
  const file = ownSettings(workspace);
  await setup(workspace, '--hooks', 'claude', '--apply');
  const good = readFileSync(file, 'utf8');
  const broken: [string, RegExp][] = [
    [good.replaceAll('job-companion.cjs', 'moved.cjs'), /names \S+moved\.cjs, which is not there/],
    [JSON.stringify({ hooks: { Stop: JSON.parse(good).hooks.Stop } }), /the hook for UserPromptSubmit is missing/],
    [good.replace('{', '{"disableAllHooks": true,'), /disableAllHooks is on/],
  ];
  for (const [text, problem] of broken) {
    assert.notEqual(text, good);
    writeFileSync(file, text);
    const { code, stdout } = await run(workspace, ['doctor']);
    assert.equal(code, 3);
    assert.match(stdout, problem);
    const next = /next: \S+ \S+ (.*)/.exec(stdout)?.[1] ?? assert.fail(stdout);
    assert.equal((await run(workspace, next.split(' '))).code, 0);
    assert.equal((await run(workspace, ['doctor'])).code, 0);
  }
});

test('its page is about hooks only: the file, the change, who is told by which event, and how to turn them off', async (t) => {
  const workspace = makeWorkspace(t);
  const page = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(workspace, ['setup', '--hooks', ...words]);
    assert.equal(code, 0, stderr);
    assert.ok(stdout.split('\n').length <= 30, stdout);
    assert.doesNotMatch(stdout, /sign-in|Without --backend/);
    return stdout.replace(/\s+/g, ' ');
  };
  const shown = await page('claude');
  for (const words of [
    `would make ${ownSettings(workspace)} `,
    /hooks\.Stop: adds .* hook claude Stop /,
    /hooks\.UserPromptSubmit: adds /,
    /Stop .* the person/,
    /UserPromptSubmit .* the model/,
    /A dry run/,
    /off: .* setup --hooks none --apply/,
  ])
    assert.ok(typeof words === 'string' ? shown.includes(words) : words.test(shown), `${words}: ${shown}`);
  const done = await page('claude', '--apply');
  assert.match(done, /made .* Tried once: the hook answers\./);
  assert.doesNotMatch(done, /dry run/);
  assert.match(await page('none', '--apply'), /removed .*settings\.local\.json/);
  assert.match(await page('none'), /Nothing to write/);
});

test('the help says where hooks are written, and what none takes away; that of hook says who is told', async (t) => {
  const workspace = makeWorkspace(t);
  const help = async (verb: string) => (await run(workspace, [verb, '--help'])).stdout.replace(/\s+/g, ' ');
  const text = await help('setup');
  assert.match(text, /\.claude\/settings\.local\.json of this worktree.*--user/);
  assert.match(text, /none .*both/);
  assert.match(await help('hook'), /Stop .* the person.*UserPromptSubmit .* the model.*setup --hooks none --apply/);
});

test('--apply runs the hook once, so that the next start of it has its code at hand', async (t) => {
  const workspace = makeWorkspace(t);
  const cache = join(workspace.base, 'cache');
  const names = (): string[] => readdirSync(join(cache, 'job-companion')).filter((one) => one.startsWith('hook-'));
  const { code, stderr } = await run(workspace, ['setup', '--hooks', 'claude'], { env: { XDG_CACHE_HOME: cache } });
  assert.equal(code, 0, stderr);
  assert.deepEqual(names(), []);
  await run(workspace, ['setup', '--hooks', 'claude', '--apply'], { env: { XDG_CACHE_HOME: cache } });
  assert.notDeepEqual(names(), []);
});

test('none --user leaves the hooks of the worktree', async (t) => {
  const workspace = makeWorkspace(t);
  await setup(workspace, '--hooks', 'claude', '--apply');
  await setup(workspace, '--hooks', 'codex', '--apply');
  const { hooks } = await setup(workspace, '--hooks', 'none', '--user', '--apply');
  assert.deepEqual(
    hooks.map(({ scope }) => scope),
    ['worktree'],
  );
});

test('a settings file that we made goes again when nothing else is in it; one that was there, or is a link, stays', async (t) => {
  const workspace = makeWorkspace(t);
  const folder = join(workspace.home, '.claude');
  const user = join(folder, 'settings.json');
  const there = (): string | null => (existsSync(user) ? readFileSync(user, 'utf8') : null);
  const onAndOff = async (between = () => {}): Promise<string | null> => {
    await setup(workspace, '--hooks', 'claude', '--user', '--apply');
    between();
    assert.equal((await setup(workspace, '--hooks', 'none', '--apply')).hooks.length, 0);
    return there();
  };
  assert.equal(await onAndOff(), null);
  // Ours left copies; they are no sign of somebody else.
  assert.equal(await onAndOff(), null);
  const reformatted = () => writeFileSync(user, JSON.stringify(JSON.parse(readFileSync(user, 'utf8'))));
  assert.equal(await onAndOff(reformatted), '{}\n');
  rmSync(user);
  writeFileSync(user, '{}');
  assert.equal(await onAndOff(), '{}\n');
  rmSync(folder, { recursive: true });
  const linked = join(workspace.base, 'dotfile.json');
  const movedAway = (): void => {
    renameSync(user, linked);
    symlinkSync(linked, user);
  };
  assert.equal(await onAndOff(movedAway), '{}\n');
  assert.ok(lstatSync(user).isSymbolicLink());
});
