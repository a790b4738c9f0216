// Which version a program is: from its package without starting it, else in its own words, kept until the file changes; and which is older.
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { isOlder, versionOf } from '../../companion/src/platform/program-version.ts';
import { eventually } from '../helpers/eventually.ts';
import { isAlive, killByIdentity, readIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Place extends Workspace {
  cache: string;
  /** How often the programs were started. */
  starts(): number;
  /** A shell program that counts its starts. */
  program(name: string, ...lines: string[]): string;
}

function makePlace(t: TestContext): Place {
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
  const count = join(workspace.base, 'starts');
  writeFileSync(count, '');
  return {
    ...workspace,
    cache: join(workspace.home, '.cache/job-companion/versions.json'),
    starts: () => readFileSync(count, 'utf8').length,
    program(name, ...lines) {
      const file = workspace.write(name, ['#!/bin/sh', `printf x >> '${count}'`, ...lines, ''].join('\n'));
      chmodSync(file, 0o755);
      return file;
    },
  };
}

test('a link into a package has the version of the package, and nothing is started', (t) => {
  const place = makePlace(t);
  place.write('lib/node_modules/@x/cli/package.json', '{"name":"@x/cli","version":"1.2.3-beta.1"}');
  place.write('lib/node_modules/@x/cli/dist/package.json', '{"type":"module"}');
  const real = place.program('lib/node_modules/@x/cli/dist/main.js', 'echo 9.9.9');
  mkdirSync(place.path('bin'));
  symlinkSync('../lib/node_modules/@x/cli/dist/main.js', place.path('bin/cli'));
  assert.equal(versionOf(place.path('bin/cli'), ['y', '@x/cli']), '1.2.3-beta.1');
  assert.equal(versionOf(real, ['@x/cli']), '1.2.3-beta.1');
  assert.equal(place.starts(), 0);
  assert.equal(existsSync(place.cache), false);
  // Of another package it is a program like any other.
  assert.equal(versionOf(real, ['other']), '9.9.9');
  assert.equal(place.starts(), 1);
});

test('a wrapper script in a .bin folder has the version of the package beside it', (t) => {
  const place = makePlace(t);
  place.write('node_modules/cli/package.json', '{"name":"cli","version":"4.5.6"}');
  const wrapper = place.program('node_modules/.bin/cli', 'echo 9.9.9');
  assert.equal(versionOf(wrapper, ['none', 'cli']), '4.5.6');
  assert.equal(place.starts(), 0);
  assert.equal(versionOf(wrapper, ['none']), '9.9.9');
});

test('a package.json without a version, damaged or of a strange kind is passed over', (t) => {
  const place = makePlace(t);
  const program = place.program('a/b/c/cli', 'echo 9.9.9');
  place.write('a/package.json', '{"name":"cli","version":"1.0.0"}');
  for (const text of [
    '',
    '{',
    'null',
    '[]',
    '{"name":"cli"}',
    '{"name":"cli","version":"latest"}',
    '{"name":1,"version":"2.0.0"}',
  ]) {
    place.write('a/b/package.json', text);
    assert.equal(versionOf(program, ['cli']), '1.0.0', text);
  }
  mkdirSync(place.path('a/b/c/package.json'));
  assert.equal(versionOf(program, ['cli']), '1.0.0');
});

const prints: [what: string, lines: string[], version: string | null][] = [
  ['the bare number', ['echo 1.3.1'], '1.3.1'],
  ['a name before it', ['echo codex-cli 0.171.0'], '0.171.0'],
  ['a sentence around it', ['echo "GitHub Copilot CLI 1.0.102."'], '1.0.102'],
  ['a name behind it', ['echo "2.1.332 (Claude Code)"'], '2.1.332'],
  ['a v and a pre-release tag', ['echo v2.0.0-rc.1+build'], '2.0.0-rc.1'],
  ['a date and a hash', ['echo 2026.11.30-7ae6800'], '2026.11.30-7ae6800'],
  ['two numbers', ['echo 1.4'], '1.4'],
  ['colours around it', ["printf '\\033[1;32m1.2.3\\033[0m\\n'"], '1.2.3'],
  ['a later line', ['echo loading', 'echo cli 3.2.1'], '3.2.1'],
  ['stderr only', ['echo cli 3.2.1 >&2'], '3.2.1'],
  ['both: stdout counts', ['echo warning 9.9.9 >&2', 'echo 3.2.1'], '3.2.1'],
  ['no version', ['echo 7 cats'], null],
  ['nothing', [], null],
  ['a refusal that names another program', ['echo needs node 22.19.0 >&2', 'exit 1'], null],
];
for (const [what, lines, version] of prints) {
  test(`a program that prints ${what} is ${version ?? 'of no known version'}`, (t) => {
    const { program } = makePlace(t);
    assert.equal(versionOf(program('cli', ...lines), []), version);
  });
}

test('the question is --version alone, without input, in a folder of nobody', (t) => {
  const { program, path } = makePlace(t);
  const told = path('told');
  versionOf(program('cli', `{ echo "$#" "$@"; pwd; cat; } > '${told}'`, 'echo 1.0.0'), []);
  assert.equal(readFileSync(told, 'utf8'), '1 --version\n/\n');
});

test('a program that hangs is ended at the limit with what it started, and asked again the next time', async (t) => {
  const place = makePlace(t);
  const pid = place.path('pid');
  const cli = place.program('cli', `sleep 300 & echo $! > '${pid}'`, 'echo 1.0.0', 'wait');
  assert.equal(versionOf(cli, [], { limitMs: 500 }), null);
  const inner = Number(readFileSync(pid, 'utf8'));
  await eventually('what it started to be gone', () => {
    const identity = readIdentity(inner);
    return !identity || !isAlive(identity);
  });
  assert.equal(existsSync(place.cache), false);
  versionOf(cli, [], { limitMs: 500 });
  assert.equal(place.starts(), 2);
});

test('a program that leaves something on its output has told its version all the same, and what it left is ended', async (t) => {
  const place = makePlace(t);
  const pid = place.path('pid');
  const cli = place.program('cli', `sleep 300 & echo $! > '${pid}'`, 'echo 1.0.0');
  const started = performance.now();
  assert.equal(versionOf(cli, [], { limitMs: 60_000 }), '1.0.0');
  assert.ok(performance.now() - started < 30_000, 'it was waited for');
  const inner = Number(readFileSync(pid, 'utf8'));
  await eventually('what it started to be gone', () => {
    const identity = readIdentity(inner);
    return !identity || !isAlive(identity);
  });
  assert.equal(versionOf(cli, []), '1.0.0');
  assert.equal(place.starts(), 1);
});

test('what left its group and holds the output costs the limit, not the version', (t) => {
  const place = makePlace(t);
  const pid = place.path('pid');
  const leave = `setsid sh -c 'echo $$ > "${pid}"; exec sleep 300' &`;
  const cli = place.program('cli', leave, `until [ -s '${pid}' ]; do sleep 0.05; done`, 'echo 1.0.0');
  place.defer(() => {
    const identity = readIdentity(Number(readFileSync(pid, 'utf8')));
    if (identity) killByIdentity(identity);
  });
  assert.equal(versionOf(cli, [], { limitMs: 2_000 }), '1.0.0');
});

test('a program that prints without end is stopped', (t) => {
  const { program } = makePlace(t);
  const started = performance.now();
  assert.equal(versionOf(program('cli', 'yes 1.2.3'), [], { limitMs: 8_000 }), null);
  // By its output, long before the limit.
  assert.ok(performance.now() - started < 4_000);
});

test('what cannot be started has no version', (t) => {
  const { path, write } = makePlace(t);
  assert.equal(versionOf(path('none'), []), null);
  assert.equal(versionOf(write('text', 'hello'), ['x']), null);
  symlinkSync('nowhere', path('dangling'));
  assert.equal(versionOf(path('dangling'), ['x']), null);
});

test('what a program said is kept in the cache until its file changes', (t) => {
  const place = makePlace(t);
  const cli = place.program('cli', 'echo 1.0.0');
  assert.equal(versionOf(cli, []), '1.0.0');
  assert.equal(versionOf(cli, []), '1.0.0');
  assert.equal(place.starts(), 1);
  assert.equal(statSync(place.cache).mode & 0o777, 0o600);
  assert.equal(versionOf(cli, [], { isFresh: true }), '1.0.0');
  assert.equal(place.starts(), 2);
  appendFileSync(cli, 'echo 2.0.0\n');
  assert.equal(versionOf(cli, []), '1.0.0');
  assert.equal(place.starts(), 3);
  assert.equal(JSON.parse(readFileSync(place.cache, 'utf8')).versions.length, 1);
});

test('two links to one program have a version each', (t) => {
  const place = makePlace(t);
  place.program('shim', 'case "$0" in */one) echo 1.1.1;; *) echo 2.2.2;; esac');
  for (const name of ['one', 'two']) symlinkSync('shim', place.path(name));
  for (const _ of [1, 2]) {
    assert.equal(versionOf(place.path('one'), []), '1.1.1');
    assert.equal(versionOf(place.path('two'), []), '2.2.2');
  }
  assert.equal(place.starts(), 2);
});

test('an old entry, one of the future and one of a strange form are not believed', (t) => {
  const place = makePlace(t);
  const cli = place.program('cli', 'echo 1.0.0');
  versionOf(cli, []);
  const { versions } = JSON.parse(readFileSync(place.cache, 'utf8'));
  const day = 24 * 60 * 60 * 1000;
  const changes = [
    { at: versions[0].at - day },
    { at: versions[0].at + day },
    { version: 7 },
    { version: 'x' },
    { print: null },
  ];
  for (const change of changes) {
    writeFileSync(
      place.cache,
      JSON.stringify({ schema: 1, versions: [{ ...versions[0], version: '0.0.1', ...change }, null, 3] }),
    );
    assert.equal(versionOf(cli, []), '1.0.0', JSON.stringify(change));
  }
  // The same with nothing changed is believed, so the cases above are not refused for another reason.
  writeFileSync(place.cache, JSON.stringify({ schema: 1, versions: [{ ...versions[0], version: '0.0.1' }] }));
  assert.equal(versionOf(cli, []), '0.0.1');
});

test('a damaged or foreign cache is no cache, and is replaced', (t) => {
  const place = makePlace(t);
  const cli = place.program('cli', 'echo 1.0.0');
  versionOf(cli, []);
  const sound = readFileSync(place.cache, 'utf8');
  const lie = sound.replace('"1.0.0"', '"0.0.1"');
  const cases: [text: string, mode: number][] = [
    ['', 0o600],
    ['{', 0o600],
    ['[]', 0o600],
    [lie.replace('"schema":1', '"schema":2'), 0o600],
  ];
  // One that others may write may be a lie.
  cases.push([lie, 0o622]);
  for (const [text, mode] of cases) {
    writeFileSync(place.cache, text);
    chmodSync(place.cache, mode);
    assert.equal(versionOf(cli, []), '1.0.0');
    assert.equal(JSON.parse(readFileSync(place.cache, 'utf8')).versions[0].version, '1.0.0');
    assert.equal(statSync(place.cache).mode & 0o777, 0o600);
  }
});

test('a cache that cannot be written is no error', (t) => {
  const place = makePlace(t);
  const cli = place.program('cli', 'echo 1.0.0');
  writeFileSync(join(place.home, '.cache'), 'in the way');
  assert.equal(versionOf(cli, []), '1.0.0');
  delete process.env.HOME;
  assert.equal(versionOf(cli, []), '1.0.0');
});

test('versions are compared number by number, and pre-release tags do not count', () => {
  const older: [string, string][] = [
    ['1.2.3', '1.2.4'],
    ['1.9.0', '1.10.0'],
    ['0.171.0', '1.0'],
    ['1.2', '1.2.1'],
    ['2025.12.31-abc', '2026.1.1'],
    ['v1.0.101', '1.0.102'],
  ];
  for (const [a, b] of older) {
    assert.equal(isOlder(a, b), true, `${a} < ${b}`);
    assert.equal(isOlder(b, a), false, `${b} < ${a}`);
  }
  for (const [a, b] of [
    ['1.2.0', '1.2'],
    ['1.2.3-rc.1', '1.2.3'],
    ['1.2.3', '1.2.3'],
  ] as const) {
    assert.equal(isOlder(a, b), false, `${a} = ${b}`);
    assert.equal(isOlder(b, a), false, `${b} = ${a}`);
  }
});
