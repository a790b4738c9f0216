// The real npm against a registry on loopback: versions that appear, tags that move, and all the ways in which a registry or npm itself
// does not answer. Nothing of the machine's own npm configuration is used.
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { npm } from '../../companion/src/watches/npm.ts';
import type { Cursor } from '../../companion/src/watches/watch.ts';
import { MARKER } from '../helpers/leaks.ts';
import { listProcesses } from '../helpers/process.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { type Registry, sendJson, startRegistry } from '../lab/http/registry.ts';
import { look, type ToolsOptions } from './tools.ts';

interface Asking extends Registry {
  options: ToolsOptions;
}

async function makeRegistry(t: TestContext): Promise<Asking> {
  const workspace = makeWorkspace(t, { git: false });
  const registry = await startRegistry(workspace);
  const environment = { ...workspace.env, ...registry.env };
  return Object.assign(registry, { options: { cwd: workspace.dir, attemptMs: 60_000, environment } });
}

async function told(registry: { options: ToolsOptions }, args: string[], cursor: Cursor | null = null) {
  const answer = await look(npm, args, { ...registry.options, cursor });
  if (answer.kind === 'look')
    return { cursor: answer.cursor, text: `${answer.verdict} ${answer.word}: ${answer.evidence}`, answer };
  return { cursor, text: `${answer.kind} ${answer.cause}: ${answer.message}`, answer };
}

test('a version is met when it is published, and pending until then', async (t) => {
  const registry = await makeRegistry(t);
  const ask = async () => (await told(registry, ['toy@1.2.3'])).text;
  assert.equal(await ask(), 'pending missing: npm toy@1.2.3: not there yet');
  registry.publish('toy', { latest: '1.2.2' });
  assert.equal(await ask(), 'pending missing: npm toy@1.2.3: not there yet');
  registry.publish('toy', { latest: '1.2.2', next: '1.2.3' });
  assert.equal(await ask(), 'met published: npm toy@1.2.3: published, latest is 1.2.2, next is 1.2.3');
});

test('a scoped package, a tag, a range', async (t) => {
  const registry = await makeRegistry(t);
  registry.publish('@scope/tool', { latest: '1.0.0', next: '2.0.0-rc.1' }, '1.1.0', '1.2.0');
  const ask = async (word: string) => (await told(registry, [word])).text;
  assert.equal(
    await ask('@scope/tool@1.0.0'),
    'met published: npm @scope/tool@1.0.0: published, latest is 1.0.0, next is 2.0.0-rc.1',
  );
  assert.equal(await ask('@scope/tool'), 'met published: npm @scope/tool: 1.0.0 is published');
  assert.equal(await ask('@scope/tool@next'), 'met published: npm @scope/tool@next: 2.0.0-rc.1 is published');
  assert.equal(await ask('@scope/tool@beta'), 'pending missing: npm @scope/tool@beta: not there yet');
  assert.equal(await ask('@scope/tool@^1'), 'met published: npm @scope/tool@^1: 1.2.0 is published');
  assert.equal(await ask('@scope/tool@1.1'), 'met published: npm @scope/tool@1.1: 1.1.0 is published');
  assert.equal(await ask('@scope/tool@^2'), 'pending missing: npm @scope/tool@^2: not there yet');
});

test('--changed: a tag that moves is told once, a package that vanishes for a moment is no change', async (t) => {
  const registry = await makeRegistry(t);
  let cursor: Cursor | null = null;
  const keys: string[] = [];
  const ask = async () => {
    const seen = await told(registry, ['toy@next', '--changed'], cursor);
    cursor = seen.cursor;
    keys.push(seen.answer.kind === 'look' ? seen.answer.key : seen.answer.kind);
    return seen.text.replace('npm toy@next: ', '');
  };
  registry.publish('toy', { latest: '1.0.0', next: '2.0.0' });
  assert.equal(await ask(), 'pending armed: 2.0.0 now');
  assert.equal(await ask(), 'pending unchanged: still 2.0.0');
  registry.publish('toy', { latest: '1.0.0' });
  assert.equal(await ask(), 'pending missing: not there yet');
  registry.publish('toy', { latest: '1.0.1', next: '2.0.0' });
  assert.equal(await ask(), 'pending unchanged: still 2.0.0');
  registry.publish('toy', { latest: '1.0.1', next: '2.0.1' });
  assert.equal(await ask(), 'met changed: 2.0.0 before, 2.0.1 now');
  assert.equal(await ask(), 'pending unchanged: still 2.0.1');
  assert.deepEqual(keys, ['2.0.0', '2.0.0', 'none', '2.0.0', '2.0.1', '2.0.1']);
});

test('--changed: a package that was not there at first is a change when it comes', async (t) => {
  const registry = await makeRegistry(t);
  const { cursor, text } = await told(registry, ['toy', '--changed']);
  assert.equal(text, 'pending missing: npm toy: not there yet');
  registry.publish('toy', { latest: '0.1.0' });
  assert.equal(
    (await told(registry, ['toy', '--changed'], cursor)).text,
    'met changed: npm toy: nothing before, 0.1.0 now',
  );
});

test('--changed: a cursor of another form counts as none', async (t) => {
  const registry = await makeRegistry(t);
  registry.publish('toy', { latest: '0.1.0' });
  for (const cursor of [{}, { version: 7 }])
    assert.equal((await told(registry, ['toy', '--changed'], cursor)).text, 'pending armed: npm toy: 0.1.0 now');
});

const refusals: [status: number, body: string, told: RegExp][] = [
  [401, '{"error":"who"}', /^fault auth: npm: E401/],
  [403, '{"error":"no"}', /^fault auth: npm: E403/],
  [429, '{}', /^trouble rate_limit: npm: E429/],
  [500, '{}', /^trouble server: npm: E500/],
  [503, '{}', /^trouble server: npm: E503/],
  [200, '<html>a login page</html>', /^trouble shape: npm: /],
  [200, '{"name":"toy"}', /^(?:trouble|pending)/],
  [
    200,
    '{"name":"toy","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"toy","version":7}}}',
    /^(?:trouble|pending)/,
  ],
  [200, '[]', /^(?:trouble|pending)/],
];
for (const [status, body, expected] of refusals) {
  test(`a registry that answers ${status} ${body}`, async (t) => {
    const registry = await makeRegistry(t);
    registry.act = (asked) => sendJson(asked, status, body);
    assert.match((await told(registry, ['toy@1.0.0'])).text, expected);
  });
}

test('a registry that resets, or is not there, is trouble of the network', async (t) => {
  const registry = await makeRegistry(t);
  registry.act = ({ socket }) => socket.resetAndDestroy();
  assert.match((await told(registry, ['toy'])).text, /^trouble (?:network|timeout|shape): npm: /);
  await registry.server.close();
  assert.match((await told(registry, ['toy'])).text, /^trouble network: npm: ECONNREFUSED: /);
});

test('npm that hangs is ended by the time of the attempt, with all it started', { timeout: 60_000 }, async (t) => {
  const registry = await makeRegistry(t);
  registry.act = () => undefined;
  const answer = await told({ options: { ...registry.options, attemptMs: 1_500 } }, ['toy']);
  assert.equal(answer.text, 'trouble timeout: npm did not answer in time and was ended');
  const marker = registry.options.environment?.[MARKER] ?? '';
  assert.deepEqual(listProcesses({ environment: `${MARKER}=${marker}`, folder: undefined }), []);
});

test('without npm the watch ends, and says where it was looked for', async (t) => {
  const registry = await makeRegistry(t);
  const answer = await look(npm, ['toy'], { ...registry.options, over: { find: () => undefined } });
  assert.equal(answer.kind === 'fault' && answer.cause, 'tool_missing');
  assert.match(answer.kind === 'fault' ? answer.message : '', /^npm is not on PATH \(.*\/bin.*\)$/);
});

/** A program in npm's place. */
async function withProgram(t: TestContext, script: string): Promise<string> {
  const workspace = makeWorkspace(t, { git: false });
  const program = workspace.write('npm', script);
  chmodSync(program, 0o755);
  const answer = await look(npm, ['toy@1.0.0'], {
    cwd: workspace.dir,
    environment: { ...workspace.env },
    over: { find: () => program },
  });
  return answer.kind === 'look'
    ? `${answer.verdict} ${answer.word}`
    : `${answer.kind} ${answer.cause}: ${answer.message}`;
}

test('an npm that prints what no npm prints, or cannot run', async (t) => {
  const sh = (text: string) => `#!/bin/sh\n${text}\n`;
  assert.match(await withProgram(t, sh('echo garbage')), /^trouble shape: npm said what is no version: garbage$/);
  assert.match(await withProgram(t, sh('echo "[1,2]"')), /^trouble shape: /);
  assert.match(await withProgram(t, sh('yes')), /^trouble shape: npm printed more than it can have to say$/);
  assert.match(await withProgram(t, sh('exit 9')), /^trouble failed: npm: exit code 9$/);
  assert.match(await withProgram(t, sh('kill -9 $$')), /^trouble failed: npm: Killed$|exit code 137$/);
  assert.match(await withProgram(t, '#!/no/such/interpreter\n'), /^fault tool_missing: npm cannot run: /);
  // Older ones: errors as lines only, one field without its name, nothing at all for a version that is not there.
  assert.equal(await withProgram(t, sh('')), 'pending missing');
  assert.equal(await withProgram(t, sh('echo \'"1.0.0"\'')), 'met published');
  assert.equal(await withProgram(t, sh('echo \'"1.0.1"\'')), 'pending missing');
  assert.equal(await withProgram(t, sh('echo "npm ERR! code E404" >&2; exit 1')), 'pending missing');
  assert.match(
    await withProgram(
      t,
      sh('printf "npm ERR! code ENEEDAUTH\\nnpm ERR! need auth This needs you to log in\\n" >&2; exit 1'),
    ),
    /^fault auth: npm: ENEEDAUTH: need auth This needs you to log in$/,
  );
});
