/**
 * A release: watched by the thing that proves it, not by the process that was to make it.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job } from '../helpers/jobs.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { sendPlain } from '../lab/http/acts.ts';
import { startBadServer } from '../lab/http/bad-server.ts';
import { startRegistry } from '../lab/http/registry.ts';

test('a version in the registry, the status of an address, the digest of a file', {
  timeout: 180_000,
}, async (t) => {
  const workspace = makeWorkspace(t);
  let isReleased = false;
  const server = await startBadServer({
    act: ({ socket, url }) => {
      if (url.pathname === '/health') sendPlain(socket, isReleased ? 200 : 404, 'x');
      else sendPlain(socket, 200, isReleased ? 'release' : 'an older one');
    },
  });
  workspace.defer(() => server.close());
  const registry = await startRegistry(workspace);
  registry.publish('pkg', { latest: '1.2.2' });
  const digest = createHash('sha256').update('release').digest('hex');
  const watches = [
    ['npm', 'pkg@1.2.3'],
    ['http', `${server.origin}/health`, '--status', '200'],
    ['http', `${server.origin}/pkg.tgz`, '--sha256', digest],
  ];
  const jobs: Job[] = [];
  for (const words of watches) {
    const args = ['watch', ...words, '--for', '3m', '--every', '5s', '--id-only'];
    const { stdout } = await run(workspace, args, { env: registry.env });
    jobs.push(findJob(workspace, stdout.trim()));
  }
  for (const job of jobs) {
    const look = () => job.has('events.ndjson') && job.events('news')[0];
    const first = await eventually('the first look', look, { limitMs: 60_000 });
    assert.equal(first.verdict, 'pending');
    assert.equal((await run(workspace, ['wait', job.id, '--timeout', '10ms'])).code, 2);
  }
  isReleased = true;
  registry.publish('pkg', { latest: '1.2.3' });
  const args = ['wait', '--all', ...jobs.map(({ id }) => id), '--timeout', '150s'];
  const waited = await run(workspace, args, { limitMs: 160_000 });
  assert.equal(waited.code, 0, waited.stderr);
  for (const job of jobs) assert.equal(job.state().watch?.verdict, 'met');
});
