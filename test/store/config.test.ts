// The user's own config: used when it is private enough and well formed, refused with the reason otherwise, never skipped.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { readUserConfig, userConfigFile } from '../../companion/src/store/config.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

/** A writer for config.json, in a config folder that counts for the time of the test. */
function useConfig(t: TestContext) {
  const { path, write } = makeWorkspace(t, { git: false });
  const before = process.env.XDG_CONFIG_HOME;
  process.env.XDG_CONFIG_HOME = path();
  t.after(() => {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before;
  });
  const file = path('job-companion', 'config.json');
  const put = (content: string, mode = 0o600) => chmodSync(write('job-companion/config.json', content), mode);
  return { file, put, path, write };
}

function refusal(): FaultError {
  try {
    readUserConfig();
  } catch (error) {
    assert.ok(error instanceof FaultError, String(error));
    return error;
  }
  return assert.fail('nothing was refused');
}

test('no config is an empty one', (t) => {
  const { file } = useConfig(t);
  assert.equal(userConfigFile(), file);
  assert.deepEqual(readUserConfig(), { backends: {} });
});

test('a sound config is read, also when others may read it', (t) => {
  const { put } = useConfig(t);
  for (const mode of [0o600, 0o644, 0o400]) {
    put('{"backends":{"mine":{"argv":["prog"]}},"default_backend":"mine"}', 0o600);
    put('{"backends":{"mine":{"argv":["prog"]}},"default_backend":"mine"}', mode);
    assert.deepEqual(readUserConfig(), {
      backends: { mine: { argv: ['prog'], prompt: 'stdin', brief: false } },
      default_backend: 'mine',
    });
  }
});

test('a config that others may write is refused', (t) => {
  const { put, file } = useConfig(t);
  for (const mode of [0o620, 0o602, 0o666]) {
    put('{}', mode);
    const { code, message, next } = refusal();
    assert.equal(code, 'preflight');
    assert.equal(message, `cannot use the config ${file}: others own it or may write it`);
    assert.match(next ?? '', /^the form is \{"backends"/);
  }
});

test('a config that is no JSON, no regular file or a link is refused', (t) => {
  const { put, file, path, write } = useConfig(t);
  for (const [content, place] of [
    ['', 'line 1, column 1'],
    ['{', 'line 1, column 2'],
    ['backends: {}', 'line 1, column 1'],
    ['{\n  "backends": {},\n}', 'line 3, column 1'],
  ] as const) {
    put(content);
    const { message } = refusal();
    assert.ok(message.startsWith(`cannot use the config ${file}: it is no JSON: `), message);
    assert.ok(message.endsWith(` (${place})`), message);
  }
  process.env.XDG_CONFIG_HOME = path('other');
  mkdirSync(path('other', 'job-companion', 'config.json'), { recursive: true });
  assert.match(refusal().message, /: it is no regular file$/);
  process.env.XDG_CONFIG_HOME = path('third');
  mkdirSync(path('third', 'job-companion'), { recursive: true });
  symlinkSync(write('target', '{}'), join(path('third', 'job-companion'), 'config.json'));
  assert.match(refusal().message, /: it is no regular file$/);
});

test('a config of the wrong form is refused with the place of the fault', (t) => {
  const { put, file } = useConfig(t);
  put('{"backends":{"mine":{"argv":["x"],"prompt":"env"}}}');
  assert.ok(refusal().message.startsWith(`cannot use the config ${file}: backends.mine.prompt: `));
  put('{"backends":{"mine":{"argv":["x"],"prompt":"argument","brief":true}}}');
  assert.match(refusal().message, /: backends\.mine\.brief: cannot go with "prompt": "argument"/);
  put('[]');
  assert.ok(refusal().message.startsWith(`cannot use the config ${file}: it: `));
});
