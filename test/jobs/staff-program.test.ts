// What is checked of an agent CLI before anything is started: its age and its own settings. Both refuse with what was found and where.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Backend } from '../../companion/src/backends/backend.ts';
import { codex } from '../../companion/src/backends/codex.ts';
import { custom } from '../../companion/src/backends/custom.ts';
import { pi } from '../../companion/src/backends/pi.ts';
import { FaultError } from '../../companion/src/core/errors.ts';
import type { StaffPart } from '../../companion/src/core/job.ts';
import { checkProgram, policyFault, requirePolicy, versionWarnings } from '../../companion/src/jobs/staff-program.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const cli: Backend = { ...codex, id: 'cli', title: 'The CLI', oldest: '1.2.0', packages: ['cli'], install: 'get cli' };

/** A home that counts for the time of the test, and programs that print a version. */
function makePlace(t: TestContext) {
  const workspace = makeWorkspace(t, { git: false });
  const before = { XDG_CACHE_HOME: process.env.XDG_CACHE_HOME, HOME: process.env.HOME };
  delete process.env.XDG_CACHE_HOME;
  process.env.HOME = workspace.home;
  t.after(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  const program = (...lines: string[]) => {
    const file = workspace.write('cli', ['#!/bin/sh', ...lines, ''].join('\n'));
    chmodSync(file, 0o755);
    return file;
  };
  return { ...workspace, program };
}

function refusalOf(call: () => unknown): FaultError {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof FaultError, String(error));
    assert.equal(error.code, 'preflight');
    return error;
  }
  return assert.fail('nothing was refused');
}

test('a CLI that is new enough is told with its version', (t) => {
  const { program } = makePlace(t);
  for (const version of ['1.2.0', '1.10.0', '2.0.0-beta.1']) {
    assert.deepEqual(checkProgram(cli, program(`echo ${version}`)), { version });
  }
});

test('a CLI that is too old is refused: what was found, where, what is needed, how to get it', (t) => {
  const { program } = makePlace(t);
  const file = program('echo cli 1.1.9');
  const { message, next } = refusalOf(() => checkProgram(cli, file));
  assert.equal(message, `cannot use The CLI 1.1.9 (${file}): it is too old; needed: 1.2.0 or newer`);
  assert.equal(next, 'update it: get cli');
});

test('a wrapper around an updated CLI is asked again before it is called too old', (t) => {
  const { program, write } = makePlace(t);
  const told = write('version', '1.0.0');
  const file = program(`cat '${told}'`);
  assert.match(refusalOf(() => checkProgram(cli, file)).message, /1\.0\.0/);
  writeFileSync(told, '1.3.0');
  assert.deepEqual(checkProgram(cli, file), { version: '1.3.0' });
});

test('a CLI whose version cannot be told is not refused, and it is said; not where every version will do', (t) => {
  const { program } = makePlace(t);
  const file = program('exit 1');
  assert.deepEqual(checkProgram(cli, file), { version: null });
  const part = (backend: string, version: string | null) => ({ backend, version, program: file }) as StaffPart;
  const message = `cannot tell the version of Codex (${file}); needed: ${codex.oldest} or newer`;
  assert.deepEqual(versionWarnings(part('codex', null)), [{ code: 'version_unknown', message }]);
  assert.deepEqual(versionWarnings(part('codex', '0.171.0')), []);
  for (const any of ['cursor', 'custom', 'gone']) assert.deepEqual(versionWarnings(part(any, null)), []);
});

test("a user's own program is never started to be asked", (t) => {
  const { program, path, write } = makePlace(t);
  write('ran', '');
  assert.deepEqual(checkProgram(custom, program(`echo x > '${path('ran')}'`)), { version: null });
  assert.equal(readFileSync(path('ran'), 'utf8'), '');
});

/** Settings with `wide` in them spoil the restricted profile. */
const strict: Backend = {
  ...cli,
  policy: {
    file: '.cli/settings.json',
    findFault(text, profile) {
      const { wide } = JSON.parse(text) as { wide?: unknown };
      return wide && profile === 'restricted' ? 'its settings allow writes' : null;
    },
  },
};

test('settings that are missing or harmless are fine, and so is a backend without any', (t) => {
  const { home } = makePlace(t);
  requirePolicy(strict, 'restricted', '/nowhere');
  requirePolicy(cli, 'restricted', '/nowhere');
  mkdirSync(join(home, '.cli'));
  requirePolicy(strict, 'restricted', '/nowhere');
  writeFileSync(join(home, '.cli/settings.json'), '{}');
  requirePolicy(strict, 'restricted', '/nowhere');
});

test('every file of settings counts: more of the user, each in a folder, and those of the project', (t) => {
  const workspace = makePlace(t);
  const { home } = workspace;
  const [policy] = [strict.policy];
  assert.ok(policy);
  const wide: Backend = {
    ...strict,
    morePolicies: [
      { ...policy, file: '.cli/projects/' },
      { ...policy, file: '.cli/project.json', inWorkspace: true },
    ],
  };
  const below = workspace.path('below');
  workspace.write('below/x', '');
  // As in a git worktree: its root is where a CLI looks.
  mkdirSync(workspace.path('.git'));
  requirePolicy(wide, 'restricted', below);
  for (const file of [workspace.path('.cli/project.json'), join(home, '.cli/projects/two.json')]) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '{"wide":true}');
    assert.match(refusalOf(() => requirePolicy(wide, 'restricted', below)).message, new RegExp(`\\(${file}\\)$`));
    requirePolicy(wide, 'standard', below);
    writeFileSync(file, '{}');
    requirePolicy(wide, 'restricted', below);
  }
});

test('settings that widen the profile are refused for that profile only, also behind a link', (t) => {
  const { home, write } = makePlace(t);
  mkdirSync(join(home, '.cli'));
  const file = join(home, '.cli/settings.json');
  symlinkSync(write('dotfiles.json', '{"wide":true}'), file);
  const { message, next } = refusalOf(() => requirePolicy(strict, 'restricted', '/nowhere'));
  assert.equal(message, `cannot use profile restricted with The CLI: its settings allow writes (${file})`);
  assert.match(next ?? '', /change its settings/);
  requirePolicy(strict, 'standard', '/nowhere');
});

const unreadable: [what: string, make: (file: string) => void, reason: RegExp][] = [
  ['no JSON', (file) => writeFileSync(file, '{'), /are not understood/],
  ['a folder', (file) => mkdirSync(file), /are no regular file/],
  ['a link to nothing', (file) => symlinkSync('nowhere', file), /cannot be read \(ENOENT\)/],
  ['a link to itself', (file) => symlinkSync('settings.json', file), /cannot be read \(ELOOP\)/],
  ['a device', (file) => symlinkSync('/dev/zero', file), /are no regular file/],
  ['a giant', (file) => writeFileSync(file, ' '.repeat(1024 * 1024 + 1)), /are too large/],
];
for (const [what, make, reason] of unreadable) {
  test(`settings that are ${what} are refused`, (t) => {
    const { home } = makePlace(t);
    mkdirSync(join(home, '.cli'));
    make(join(home, '.cli/settings.json'));
    for (const profile of ['restricted', 'standard'] as const) {
      assert.match(refusalOf(() => requirePolicy(strict, profile, '/nowhere')).message, reason);
    }
  });
}

test('settings that cannot be read are refused, whoever we are', (t) => {
  const { home } = makePlace(t);
  mkdirSync(join(home, '.cli'));
  // A link to itself: not even root can read it.
  symlinkSync('settings.json', join(home, '.cli/settings.json'));
  assert.match(
    refusalOf(() => requirePolicy(strict, 'standard', '/nowhere', null)).message,
    /cannot be read \(ELOOP\)/,
  );
});

test('without HOME the settings cannot be looked at, so nothing is promised', (t) => {
  makePlace(t);
  delete process.env.HOME;
  assert.match(policyFault(strict, 'restricted', '/nowhere') ?? '', /HOME is not set/);
});

test('settings are judged with the version of the CLI, at the root of the project and where the job runs', (t) => {
  const workspace = makeWorkspace(t);
  const below = workspace.path('a/b');
  mkdirSync(below, { recursive: true });
  requirePolicy(pi, 'restricted', below, '0.73.1');
  for (const folder of ['.', 'a/b']) {
    const file = workspace.write(join(folder, '.pi/settings.json'), '{"sessionDir":"/tmp/x"}');
    const { message } = refusalOf(() => requirePolicy(pi, 'restricted', below, '0.73.1'));
    assert.ok(message.includes('pi 0.73.1 ') && message.endsWith(`(${file})`), message);
    assert.match(refusalOf(() => requirePolicy(pi, 'restricted', below, null)).message, /unknown version/);
    requirePolicy(pi, 'restricted', below, '1.6.0');
    requirePolicy(pi, 'standard', below, '0.73.1');
    rmSync(file);
  }
});
