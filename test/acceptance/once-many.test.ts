/**
 * Many launches at once (c1): 200 of them, 16 at a time, in a worktree without a state folder: 200 records, 200 results, each
 * its own, and every live one is in `status`.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const COUNT = 200;
const HELD = 30;

test('200 launches, 16 at a time: 200 records, 200 results, and status lists all that live', async (t) => {
  const workspace = makeWorkspace(t);
  const release = workspace.path('release');
  workspace.defer(() => writeFileSync(release, ''));
  const ids: string[] = [];
  let next = 0;
  const launcher = async () => {
    for (let at = next++; at < COUNT; at = next++) {
      const hold = at < HELD ? 'until [ -e release ]; do sleep 0.2; done;' : '';
      const args = [
        'run',
        '--id-only',
        '--',
        'sh',
        '-c',
        `echo run ${at} >>runs; ${hold} echo result ${at}; exit ${at % 2}`,
      ];
      const { code, stdout, stderr } = await run(workspace, args);
      assert.equal(code, 0, stderr);
      ids[at] = stdout.trim();
    }
  };
  await Promise.all(Array.from({ length: 16 }, launcher));
  assert.equal(new Set(ids).size, COUNT);

  const held = ids.slice(0, HELD).sort();
  const live = await eventually(
    'the others to end',
    async () => {
      const { jobs } = parseReply<{ jobs: { id: string; state: string }[] }>(
        await run(workspace, ['status', '--json']),
      );
      const running = jobs.filter(({ state }) => !['done', 'failed'].includes(state)).map(({ id }) => id);
      return running.length <= HELD && running.sort();
    },
    { limitMs: 60_000, everyMs: 250 },
  );
  assert.deepEqual(live, held);
  assert.deepEqual(readdirSync(workspace.path('.job-state/active')).sort(), held);

  writeFileSync(release, '');
  const all = await run(workspace, ['wait', '--all', '--json', '--timeout', '50s', ...ids]);
  assert.equal(all.code, 3, all.stderr);
  const { jobs } = parseReply<{ jobs: { id: string; state: string; exit_code: number }[] }>(all);
  const outcomes = jobs.map(({ id, state, exit_code }) => [id, state, exit_code]);
  assert.deepEqual(
    outcomes,
    ids.map((id, at) => [id, at % 2 ? 'failed' : 'done', at % 2]),
  );
  for (const [at, id] of ids.entries()) {
    const result = readFileSync(workspace.path('.job-state/jobs', id, 'result.md'), 'utf8');
    assert.match(result, new RegExp(`(^|\n)result ${at}\n`));
  }
  const runs = workspace.read('runs').trimEnd().split('\n');
  assert.deepEqual([runs.length, new Set(runs).size], [COUNT, COUNT]);
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')).sort(), [...ids].sort());
  assert.deepEqual(readdirSync(workspace.path('.job-state/active')), []);
  assert.deepEqual(readdirSync(workspace.path('.job-state')).sort(), [
    '.gitignore',
    'active',
    'jobs',
    'meta.json',
    'once',
    'slots',
  ]);
  const inWorktree = ['.git', '.job-state', 'README.md', 'release', 'runs'];
  assert.deepEqual(readdirSync(workspace.dir).sort(), inWorktree);
  assert.equal((await run(workspace, ['doctor'])).code, 0);
});
