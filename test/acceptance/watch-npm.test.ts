/**
 * `watch npm` on the built file: the real npm, asked in the job's folder and in the caller's environment, against a registry on loopback.
 */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob } from '../helpers/jobs.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { startRegistry } from '../lab/http/registry.ts';

test('npm of the job folder: its own configuration says which registry is asked', { timeout: 120_000 }, async (t) => {
  const workspace = makeWorkspace(t);
  const registry = await startRegistry(workspace);
  registry.publish('toy', { latest: '1.0.0' });
  workspace.write('package.json', '{"name":"user","version":"1.0.0"}');
  workspace.write('.npmrc', `registry=${registry.server.origin}/\n`);
  const env = { npm_config_cache: registry.env.npm_config_cache };
  const met = await run(workspace, ['watch', 'npm', 'toy@1.0.0', '--once'], { env });
  assert.deepEqual([met.code, met.stdout], [0, 'npm toy@1.0.0: published, latest is 1.0.0\n'], met.stderr);
  const pending = await run(workspace, ['watch', 'npm', 'toy@1.0.1', '--once', '--json'], { env });
  assert.equal(pending.code, 2);
  assert.equal(JSON.parse(pending.stdout).state, 'missing');
});

test('npm that hangs is given up at the bound, and leaves no process', { timeout: 120_000 }, async (t) => {
  const workspace = makeWorkspace(t);
  const registry = await startRegistry(workspace);
  registry.act = () => undefined;
  const words = ['watch', 'npm', 'toy', '--for', '6s', '--attempt-timeout', '3s', '--id-only'];
  const launched = await run(workspace, words, { env: registry.env });
  const job = findJob(workspace, launched.stdout.trim());
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '100s'], { limitMs: 110_000 })).code, 3);
  assert.equal(job.state().error?.code, 'watch_expired');
  await eventually('npm to have let go of the registry', () => registry.server.open() === 0);
});

test('without npm it ends at once, with the PATH that was searched and nothing in its place', async (t) => {
  const workspace = makeWorkspace(t);
  const bin = join(workspace.base, 'bin');
  mkdirSync(bin);
  symlinkSync(testNode(), join(bin, 'node'));
  const PATH = `${bin}:/no/such/folder`;
  const once = await run(workspace, ['watch', 'npm', 'toy', '--once'], { env: { PATH } });
  assert.deepEqual([once.code, once.stdout], [3, `npm is not on PATH (${PATH})\n`]);
});
