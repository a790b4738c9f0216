// The MAC of a spec: the same whatever the order of fields, another one for every change; the key it is made with, and which
// keys are refused.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import type { Spec } from '../../companion/src/core/job.ts';
import {
  canonical,
  ensureKey,
  environmentDigest,
  hashOf,
  isGenuine,
  macOf,
  readKey,
} from '../../companion/src/store/mac.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { makeProgram, startProgram } from '../platform/child-program.ts';
import { makeSpec, staffChange } from './job-record.ts';

const key = 'a'.repeat(64);

/** The config folder of the workspace counts for the time of the test. */
function useConfig(t: TestContext): Workspace & { keyFile: string } {
  const workspace = makeWorkspace(t, { git: false });
  const before = process.env.XDG_CONFIG_HOME;
  process.env.XDG_CONFIG_HOME = workspace.env.XDG_CONFIG_HOME;
  t.after(() => {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before;
  });
  return { ...workspace, keyFile: join(workspace.home, '.config', 'job-companion', 'key') };
}

async function sign(spec: Spec): Promise<Spec> {
  const { mac: _mac, ...rest } = spec;
  return { ...rest, mac: await macOf(rest, key) };
}

test('the canonical form has its keys in order at every depth, and its lists as they are', () => {
  const text = canonical({ b: [{ d: 1, c: 2 }, 3], a: { z: null, y: '\u00e9"', x: { w: false, v: 1.5 } } });
  assert.equal(text, '{"a":{"x":{"v":1.5,"w":false},"y":"\u00e9\\"","z":null},"b":[{"c":2,"d":1},3]}');
  assert.notEqual(canonical([1, 2]), canonical([2, 1]));
});

test('the canonical form is the same after a way over the disk', () => {
  for (const spec of [makeSpec(), makeSpec(staffChange), makeSpec({ label: '\ud800 \u2028 \u0000 "\\' })]) {
    assert.equal(canonical(JSON.parse(JSON.stringify(spec))), canonical(spec));
  }
});

test('texts that look like structure do not stand for it', () => {
  assert.notEqual(canonical({ a: '1' }), canonical({ a: 1 }));
  assert.notEqual(canonical({ a: 'null' }), canonical({ a: null }));
  assert.notEqual(canonical({ 'a":1,"b': 2 }), canonical({ a: 1, b: 2 }));
  assert.notEqual(canonical([]), canonical({}));
  assert.notEqual(canonical([['a'], 'b']), canonical(['a', ['b']]));
});

test('a spec that this key signed is genuine, in any order of its fields', async () => {
  const spec = await sign(makeSpec());
  assert.equal(await isGenuine(spec, key), true);
  const turned = Object.fromEntries(Object.entries(spec).reverse()) as unknown as Spec;
  assert.equal(await isGenuine(turned, key), true);
});

test('a change of any field, a new one or a missing one is not genuine', async () => {
  const spec = await sign(makeSpec(staffChange));
  for (const name of Object.keys(spec).filter((one) => one !== 'mac')) {
    const { [name]: _old, ...without } = spec as unknown as Record<string, unknown>;
    assert.equal(await isGenuine(without as unknown as Spec, key), false, `without ${name}`);
    assert.equal(await isGenuine({ ...spec, [name]: 'changed' } as unknown as Spec, key), false, `changed ${name}`);
  }
  assert.equal(await isGenuine({ ...spec, later: null } as Spec, key), false);
  assert.equal(await isGenuine({ ...spec, staff: { ...spec.staff!, prompt: 'the task ' } }, key), false);
});

test('another key, no key, and any other MAC are not genuine', async () => {
  const spec = await sign(makeSpec());
  assert.equal(await isGenuine(spec, 'b'.repeat(64)), false);
  assert.equal(await isGenuine(spec, undefined), false);
  for (const mac of [
    '',
    spec.mac.slice(1),
    `${spec.mac}0`,
    spec.mac.toUpperCase(),
    '0'.repeat(64),
    `${spec.mac.slice(0, -1)}x`,
  ]) {
    assert.equal(await isGenuine({ ...spec, mac }, key), false, mac);
  }
});

test('the MAC is HMAC-SHA256 of the canonical form, for short and for very long specs', async () => {
  for (const length of [0, 1000, 64 * 1024 - 700, 64 * 1024, 1024 * 1024]) {
    const { mac: _mac, ...spec } = makeSpec({ label: '\u00e9'.repeat(length / 2) });
    assert.equal(await macOf(spec, key), createHmac('sha256', key).update(canonical(spec)).digest('hex'));
  }
  assert.equal(hashOf('a key \u00e9'), createHash('sha256').update('a key \u00e9').digest('hex'));
});

test('the key is made once, private, and is the same for everybody who asks', (t) => {
  const { keyFile } = useConfig(t);
  assert.equal(readKey(), undefined);
  const made = ensureKey();
  assert.match(made, /^[0-9a-f]{64}$/);
  assert.equal(readFileSync(keyFile, 'utf8'), `${made}\n`);
  assert.equal(statSync(keyFile).mode & 0o777, 0o600);
  assert.equal(statSync(join(keyFile, '..')).mode & 0o777, 0o700);
  assert.equal(ensureKey(), made);
  assert.equal(readKey(), made);
});

test('launchers that make the key at the same time get the same one', async (t) => {
  const workspace = useConfig(t);
  const code = `import { ensureKey } from './store/mac.ts';
    import { readFileSync } from 'node:fs';
    readFileSync(0);
    console.log(ensureKey());`;
  const program = makeProgram(workspace, 'key', code);
  const makers = Array.from({ length: 8 }, () => startProgram(workspace, [program]));
  for (const maker of makers) maker.begin();
  const told = await Promise.all(makers.map(async ({ ended }) => (await ended).stdout.trim()));
  assert.deepEqual(new Set(told), new Set([readKey()]));
  assert.deepEqual(readdirSync(join(workspace.keyFile, '..')), ['key']);
});

const spoiled: [what: string, spoil: (file: string, workspace: Workspace) => void][] = [
  ['that its group may read', (file) => chmodSync(file, 0o640)],
  ['that others may write', (file) => chmodSync(file, 0o602)],
  ['of the wrong length', (file) => writeFileSync(file, 'abc\n')],
  ['in capitals', (file) => writeFileSync(file, 'A'.repeat(64))],
  ['that is empty', (file) => writeFileSync(file, '')],
  [
    'that is a link',
    (file, { path }) => {
      execFileSync('mv', [file, path('key')]);
      symlinkSync(path('key'), file);
    },
  ],
  [
    'that is a folder',
    (file) => {
      execFileSync('rm', [file]);
      mkdirSync(file, { mode: 0o700 });
    },
  ],
];
for (const [what, spoil] of spoiled) {
  test(`a key ${what} is refused, never replaced`, (t) => {
    const workspace = useConfig(t);
    ensureKey();
    spoil(workspace.keyFile, workspace);
    for (const use of [readKey, ensureKey]) {
      assert.throws(use, (error) => {
        assert.ok(error instanceof FaultError);
        assert.equal(error.code, 'preflight');
        assert.equal(
          error.message,
          `cannot use the key ${workspace.keyFile}: it must be a file of yours with mode 600 and 64 hex digits`,
        );
        return true;
      });
    }
  });
}

test('a key cannot be made where nothing can be made', (t) => {
  useConfig(t);
  process.env.XDG_CONFIG_HOME = '/proc/none';
  assert.throws(
    ensureKey,
    (error) =>
      error instanceof FaultError && error.code === 'preflight' && /cannot make the key in/.test(error.message),
  );
});

test('the digest of an environment tells two apart and hangs on the key', (t) => {
  const name = 'JOB_TEST_DIGEST';
  t.after(() => delete process.env[name]);
  const seen = new Set<string>();
  for (const value of ['', 'a', 'b', 'ab', 'secret']) {
    process.env[name] = value;
    seen.add(environmentDigest(key));
    assert.equal(environmentDigest(key), environmentDigest(key));
  }
  seen.add(environmentDigest('b'.repeat(64)));
  assert.equal(seen.size, 6);
  for (const digest of seen) assert.match(digest, /^[0-9a-f]{1,14}$/);
});
