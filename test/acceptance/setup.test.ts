/**
 * `setup` (features J.23): what is installed and permitted, without a model call and without a value of a credential; choices that are
 * written only with --apply, exactly as shown, with a copy of what they change; and what the state folder's choices may do.
 */
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
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { parseReply, type RunResult, run } from '../helpers/companion.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Survey {
  backend: string;
  program: string | null;
  not_executable: string | null;
  version: string | null;
  too_old: boolean;
  usable: boolean;
  sign_in: { state: string; files: string[]; variables: string[] };
  profiles: Record<string, { adds: string } | null>;
  faults: Record<string, string>;
}

interface Document {
  applied: boolean;
  backends: Survey[];
  modes: {
    mode: string;
    backend: string | null;
    backend_from: string | null;
    profile: string;
    usable: boolean | null;
  }[];
  changes: { file: string; changes: string[]; copy: string | null }[];
}

interface Place extends Workspace {
  config: string;
  state: string;
  /** A shell program on PATH, ahead of the machine's. */
  program(name: string, ...lines: string[]): string;
  call(...args: string[]): Promise<RunResult>;
  ask(...args: string[]): Promise<Document>;
}

function makePlace(t: TestContext): Place {
  const workspace = makeWorkspace(t);
  const bin = join(workspace.base, 'bin');
  mkdirSync(bin);
  // Nothing of the machine but what scripts need: an agent CLI that is installed here must not count.
  const env = { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`, SECRET_LOOKING_TOKEN: 'xyzzy-token' };
  const call: Place['call'] = (...args) => run(workspace, args, { env });
  return {
    ...workspace,
    config: join(workspace.home, '.config/job-companion/config.json'),
    state: workspace.path('.job-state/config.json'),
    program(name, ...lines) {
      const file = join(bin, name);
      writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'));
      chmodSync(file, 0o755);
      return file;
    },
    call,
    async ask(...args) {
      const result = await call('setup', '--json', ...args);
      assert.equal(result.code, 0, result.stderr);
      return parseReply<Document>(result);
    },
  };
}

function only(document: Document): Survey {
  assert.equal(document.backends.length, 1);
  return document.backends[0]!;
}

test('an installed CLI is told with its path, version, profiles and signs of a sign-in, never with a value', async (t) => {
  const place = makePlace(t);
  const file = place.program('codex', 'echo codex-cli 0.171.0');
  mkdirSync(join(place.home, '.codex'));
  writeFileSync(join(place.home, '.codex/auth.json'), '{"token":"xyzzy-file"}');
  const env = { PATH: `${dirname(file)}:/usr/bin:/bin`, OPENAI_API_KEY: 'xyzzy-key' };
  const result = await run(place, ['setup', '--backend', 'codex', '--json'], { env });
  const survey = only(parseReply<Document>(result));
  assert.deepEqual(
    [survey.program, survey.version, survey.too_old, survey.usable, survey.faults],
    [file, '0.171.0', false, true, {}],
  );
  assert.deepEqual(survey.sign_in, { state: 'signs', files: ['.codex/auth.json'], variables: ['OPENAI_API_KEY'] });
  assert.equal(survey.profiles.restricted?.adds, '-s read-only');
  const text = await run(place, ['setup'], { env });
  assert.equal(text.code, 0);
  assert.match(text.stdout, /^codex {2}0\.171\.0 {2}found$/m);
  assert.match(text.stdout, /^ {2}sign-in {7}~\/\.codex\/auth\.json, OPENAI_API_KEY$/m);
  assert.doesNotMatch(result.stdout + text.stdout + text.stderr, /xyzzy/);
});

test('a CLI that is too old, and one without the right to be executed, are told as that', async (t) => {
  const place = makePlace(t);
  const file = place.program('codex', 'echo codex-cli 0.1.0');
  const old = only(await place.ask('--backend', 'codex'));
  assert.deepEqual([old.version, old.too_old, old.usable], ['0.1.0', true, false]);
  const page = await place.call('setup', '--backend', 'codex');
  assert.match(page.stdout, /^codex {2}0\.1\.0 {2}too old: 0\.171\.0 or newer is needed$/m);
  assert.match(page.stdout, /^ {2}update {8}npm install -g @openai\/codex$/m);

  chmodSync(file, 0o644);
  const blocked = only(await place.ask('--backend', 'codex'));
  assert.deepEqual([blocked.program, blocked.not_executable, blocked.usable], [null, file, false]);
  assert.match((await place.call('setup')).stdout, /^codex {2}not found on PATH\n {2}blocked {7}.*chmod \+x it$/ms);
});

test('a CLI that hangs on --version is told without its version, and is ended', async (t) => {
  const place = makePlace(t);
  place.program('codex', 'sleep 300 & wait');
  // The workspace fails the test when a process is left behind.
  const survey = only(await place.ask('--backend', 'codex'));
  assert.deepEqual([survey.version, survey.too_old, survey.usable], [null, false, true]);
});

test('where nothing is installed setup still shows how to get it, in lines for a narrow terminal', async (t) => {
  const place = makePlace(t);
  const { code, stdout } = await place.call('setup');
  assert.equal(code, 0);
  assert.match(stdout, /^codex {2}not found on PATH\n {2}install {7}npm install -g @openai\/codex$/m);
  assert.match(stdout, /^ {2}staffer +to be named: --backend +standard$/m);
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80 || line.includes('/'), line);
  assert.equal(existsSync(place.path('.job-state')), false);
});

test("a program of the user's own config is told, and never started", async (t) => {
  const place = makePlace(t);
  place.program('mine', `echo x >> '${place.path('ran')}'`);
  mkdirSync(dirname(place.config), { recursive: true });
  writeFileSync(place.config, '{"backends":{"own":{"argv":["mine","--go"]}}}');
  const survey = only(await place.ask('--backend', 'own'));
  assert.deepEqual([survey.version, survey.usable, survey.profiles.restricted], [null, true, null]);
  assert.equal(existsSync(place.path('ran')), false);
});

test('without --apply it says exactly what it would write, and writes nothing', async (t) => {
  const place = makePlace(t);
  const { code, stdout } = await place.call('setup', '--restrict', 'review,ask', '--default-backend', 'review=codex');
  assert.equal(code, 0);
  assert.ok(stdout.includes(`would make ${place.state}\n`), stdout);
  assert.match(stdout, /^ +restrict: \[\] -> \["review","ask"\]$/m);
  assert.match(stdout, /^ +default_backend\.review: null -> "codex"$/m);
  assert.match(stdout, /A dry run: nothing was written\. Write it with --apply\.\n$/);
  assert.equal(existsSync(place.path('.job-state')), false);
  const document = await place.ask('--user', '--restrict', 'review');
  assert.deepEqual([document.applied, document.changes[0]?.file], [false, place.config]);
  assert.equal(existsSync(place.config), false);
});

test('the state folder keeps choices: made, changed with a copy, taken away', async (t) => {
  const place = makePlace(t);
  const made = await place.ask('--restrict', 'review,review', '--default-backend', 'codex,ask=none', '--apply');
  assert.equal(made.applied, true);
  assert.deepEqual(JSON.parse(readFileSync(place.state, 'utf8')), {
    restrict: ['review'],
    default_backend: { staffer: 'codex', research: 'codex', review: 'codex', implement: 'codex' },
  });
  assert.equal(statSync(place.state).mode & 0o777, 0o600);
  const [staffer] = made.modes;
  assert.deepEqual([staffer?.backend, staffer?.backend_from, staffer?.usable], ['codex', 'state', false]);

  const before = readFileSync(place.state, 'utf8');
  const changed = await place.ask('--default-backend', 'none', '--apply');
  assert.deepEqual(JSON.parse(readFileSync(place.state, 'utf8')), { restrict: ['review'], default_backend: {} });
  const copy = changed.changes[0]?.copy ?? '';
  assert.match(copy, /config\.json\.job-companion-\d{8}T\d{6}Z(-\d+)?\.bak$/);
  assert.equal(readFileSync(copy, 'utf8'), before);

  const again = await place.call('setup', '--default-backend', 'none', '--apply');
  assert.match(again.stdout, /Nothing to write: all of it is so already\.\n$/);
  await place.ask('--restrict', 'none', '--apply');
  assert.equal(existsSync(place.state), false);
});

test("the user's config keeps choices and everything else in it", async (t) => {
  const place = makePlace(t);
  mkdirSync(dirname(place.config), { recursive: true });
  const old = { later: { a: 1 }, backends: { own: { argv: ['mine'], later: true } }, restrict: ['ask'] };
  writeFileSync(place.config, JSON.stringify(old), { mode: 0o640 });
  const words = ['--user', '--restrict', 'none', '--default-backend', 'own,review=codex', '--apply'];
  const { changes } = await place.ask(...words);
  const { restrict: _, ...kept } = old;
  assert.deepEqual(JSON.parse(readFileSync(place.config, 'utf8')), {
    ...kept,
    default_backend: 'own',
    default_backends: { review: 'codex' },
  });
  assert.equal(statSync(place.config).mode & 0o777, 0o640);
  assert.equal(readFileSync(changes[0]?.copy ?? '', 'utf8'), JSON.stringify(old));
  const rows = (await place.ask()).modes.map(({ mode, backend, backend_from }) => [mode, backend, backend_from]);
  assert.deepEqual(rows[0], ['staffer', 'own', 'user']);
  assert.deepEqual(rows[2], ['review', 'codex', 'user']);
});

const refused: [args: string[], reason: RegExp][] = [
  [['--backend', 'evil'], /cannot take --backend "evil": the backends are .*codex/],
  [['--restrict', 'deploy'], /cannot take --restrict "deploy": the modes are staffer, research/],
  [['--restrict', ''], /cannot take --restrict ""/],
  [['--default-backend', 'evil'], /cannot take --default-backend "evil"/],
  [['--default-backend', 'review=evil'], /cannot take --default-backend "review=evil"/],
  [['--default-backend', 'deploy=codex'], /cannot take --default-backend "deploy"/],
  [['--default-backend', 'review=codex=x'], /cannot take --default-backend "review=codex=x"/],
  [['--user', '--apply'], /cannot take --user without/],
  [['--allow-reads'], /cannot take --allow-reads without --backend agy/],
];
for (const [args, reason] of refused) {
  test(`setup ${args.join(' ')} is refused and writes nothing`, async (t) => {
    const place = makePlace(t);
    const { code, stdout, stderr } = await place.call('setup', '--apply', ...args.filter((arg) => arg !== '--apply'));
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, reason);
    assert.equal(existsSync(place.path('.job-state')), false);
  });
}

test('choices of the state folder that are not understood refuse every launch, and nothing is started', async (t) => {
  const place = makePlace(t);
  place.program('codex', `case "$1" in --version) echo 0.171.0;; *) echo x > '${place.path('ran')}';; esac`);
  await place.ask('--restrict', 'review', '--apply');
  for (const text of [
    '{',
    '{"restrict":["deploy"]}',
    '{"backends":{"x":{"argv":["sh"]}}}',
    '{"profile":"unrestricted"}',
  ]) {
    writeFileSync(place.state, text);
    for (const args of [['staffer', '--prompt', 'x'], ['setup']]) {
      const { code, stderr } = await place.call(...args);
      assert.equal(code, 1, text);
      assert.match(stderr, /cannot use the config of the state folder/);
    }
  }
  assert.equal(existsSync(place.path('ran')), false);
  assert.deepEqual(readdirSync(place.path('.job-state/jobs')), []);
});

test('a restricted mode refuses a wider profile by name', async (t) => {
  const place = makePlace(t);
  place.program('codex', 'echo 0.171.0');
  await place.ask('--restrict', 'staffer', '--apply');
  const { code, stderr } = await place.call('staffer', '--prompt', 'x', '--profile', 'standard');
  assert.equal(code, 1);
  assert.ok(stderr.includes(`cannot use --profile standard for staffer: ${place.state} restricts this mode`), stderr);
});

test('a CLI that is too old is refused before anything is made', async (t) => {
  const place = makePlace(t);
  const file = place.program('codex', 'echo codex-cli 0.1.0');
  const { code, stderr } = await place.call('staffer', '--backend', 'codex', '--prompt', 'x');
  assert.equal(code, 1);
  assert.ok(stderr.includes(`cannot use Codex 0.1.0 (${file}): it is too old; needed: 0.171.0 or newer`), stderr);
  assert.match(stderr, /try: update it: npm install -g @openai\/codex/);
  assert.equal(existsSync(place.path('.job-state')), false);
});

const agyRules = (folder: string) => [
  `read_file(${folder})`,
  'command(ls)',
  'command(cat)',
  'command(grep)',
  'command(git status)',
  'command(git ls-files)',
];

test('read rules for agy are added with --apply only, behind a link too, keeping all else; a restricted run stays possible', async (t) => {
  const place = makePlace(t);
  place.program('agy', 'echo 1.3.1');
  const file = join(place.home, '.gemini/antigravity-cli/settings.json');
  mkdirSync(dirname(file), { recursive: true });
  const real = join(place.home, 'dotfiles.json');
  const old = { theme: 'dark', permissions: { deny: ['command(rm)'], allow: ['command(ls)'] } };
  writeFileSync(real, JSON.stringify(old, null, 4), { mode: 0o644 });
  chmodSync(real, 0o644);
  symlinkSync(real, file);

  const shown = await place.ask('--backend', 'agy', '--allow-reads');
  const added = agyRules(place.dir).filter((rule) => rule !== 'command(ls)');
  assert.deepEqual(
    shown.changes[0]?.changes,
    added.map((rule) => `permissions.allow: adds ${JSON.stringify(rule)}`),
  );
  assert.equal(readFileSync(real, 'utf8'), JSON.stringify(old, null, 4));

  const { changes, backends } = await place.ask('--backend', 'agy', '--allow-reads', '--apply');
  const allow = ['command(ls)', ...added];
  const wanted = `${JSON.stringify({ theme: 'dark', permissions: { deny: ['command(rm)'], allow } }, null, 4)}\n`;
  assert.equal(readFileSync(real, 'utf8'), wanted);
  assert.equal(statSync(real).mode & 0o777, 0o644);
  assert.match(changes[0]?.copy ?? '', /antigravity-cli\/settings\.json\.job-companion-\d{8}T\d{6}Z\.bak$/);
  assert.equal(readFileSync(changes[0]?.copy ?? '', 'utf8'), JSON.stringify(old, null, 4));
  assert.deepEqual([backends[0]?.usable, backends[0]?.faults], [true, {}]);
  assert.match((await place.call('setup', '--backend', 'agy', '--allow-reads', '--apply')).stdout, /Nothing to write/);
});

test('settings of agy that do not parse are refused and stay; without any the rules are all there is', async (t) => {
  const place = makePlace(t);
  const file = join(place.home, '.gemini/antigravity-cli/settings.json');
  const add = () => place.call('setup', '--backend', 'agy', '--allow-reads', '--apply');
  assert.match((await add()).stderr, /agy was never started here/);
  mkdirSync(dirname(file), { recursive: true });
  for (const text of ['{', '[]', '{"permissions":[]}', '{"permissions":{"allow":"all"}}']) {
    writeFileSync(file, text);
    const { code, stderr } = await add();
    assert.equal(code, 1, text);
    assert.ok(stderr.includes(`cannot change the settings ${file}: `), stderr);
    assert.equal(readFileSync(file, 'utf8'), text);
  }
  assert.deepEqual(readdirSync(dirname(file)), ['settings.json']);
  writeFileSync(file, '{}');
  assert.equal((await add()).code, 0);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { permissions: { allow: agyRules(place.dir) } });
});

test('when one file cannot be written nothing is: neither choices nor copies, and the file is named', async (t) => {
  const place = makePlace(t);
  const file = join(place.home, '.gemini/antigravity-cli/settings.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{}');
  try {
    execFileSync('chattr', ['+i', file], { stdio: 'ignore' });
  } catch {
    return t.skip('chattr +i does not work here');
  }
  try {
    const words = ['--backend', 'agy', '--allow-reads', '--restrict', 'review', '--apply'];
    const { code, stdout, stderr } = await place.call('setup', ...words);
    assert.deepEqual([code, stdout], [1, '']);
    assert.ok(stderr.includes(`cannot change ${file}: EPERM`), stderr);
    assert.doesNotMatch(stderr, /--state-dir/);
    assert.deepEqual(readdirSync(dirname(file)), ['settings.json']);
    assert.equal(existsSync(place.state), false);
  } finally {
    execFileSync('chattr', ['-i', file]);
  }
});

test('every profile of an installed CLI says whether it has a sandbox', async (t) => {
  const place = makePlace(t);
  place.program('codex', 'echo codex-cli 0.171.0');
  place.program('pi', 'echo 1.6.0');
  const codex = (await place.call('setup', '--backend', 'codex')).stdout;
  assert.match(codex, /^ {2}restricted {4}-s read-only; its own sandbox$/m);
  assert.match(
    codex.replaceAll(/\s+/g, ' '),
    / standard sandbox_mode [^;]*; its own sandbox unrestricted [^;]*; no sandbox of its own /,
  );
  const pi = (await place.call('setup', '--backend', 'pi')).stdout.replaceAll(/\s+/g, ' ');
  assert.equal(pi.match(/; no sandbox of its own/g)?.length, 3, pi);
});

test('a file that a CLI writes at its first start is no sign of a sign-in while nothing is in it', async (t) => {
  const place = makePlace(t);
  place.program('pi', 'echo 1.6.0');
  const file = join(place.home, '.pi/agent/auth.json');
  mkdirSync(dirname(file), { recursive: true });
  for (const [text, files] of [
    ['', []],
    ['{}', []],
    ['{\n}\n', []],
    ['[]', []],
    ['null', []],
    ['{"anthropic":{}}', ['.pi/agent/auth.json']],
    ['a token that is no JSON', ['.pi/agent/auth.json']],
  ] as const) {
    writeFileSync(file, text);
    const { sign_in } = only(await place.ask('--backend', 'pi'));
    assert.deepEqual([sign_in.files, sign_in.state], [files, files.length > 0 ? 'signs' : 'no_signs'], text);
  }
});

test('a default of the state folder that the own config overrules is said to have no effect', async (t) => {
  const place = makePlace(t);
  mkdirSync(dirname(place.config), { recursive: true });
  writeFileSync(place.config, '{"default_backends":{"implement":"codex"}}');
  for (const more of [[], ['--apply']]) {
    const { stdout } = await place.call('setup', '--default-backend', 'implement=pi,ask=pi', ...more);
    const words = 'default_backend.implement: null -> "pi" (has no effect here: your config says codex)';
    assert.ok(stdout.replaceAll(/\s+/g, ' ').includes(words), stdout);
    assert.match(stdout, /^ +default_backend\.ask: null -> "pi"$/m);
  }
});

test('a dry run says that the table shows what holds now', async (t) => {
  const place = makePlace(t);
  const dry = await place.call('setup', '--restrict', 'review');
  assert.match(dry.stdout, /^Without --backend and --profile, as it is now:$/m);
  const done = await place.call('setup', '--restrict', 'review', '--apply');
  assert.match(done.stdout, /^Without --backend and --profile:$/m);
});
