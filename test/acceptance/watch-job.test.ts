/** `watch job`: a backstop with a bound of its own, woken by the end of the other job, and looking after one that lost its worker. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { killNow, killSupervision, launchHeld, untilGone } from '../helpers/jobs.ts';
import { launchWatch, newsOf, untilTold } from '../helpers/watches.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('the end of the job wakes its watch long before the interval is over', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace);
  const short = held.id.slice(0, -2);
  const words = ['job', short, '--every', '1h', '--for', '1d'];
  const [watch, any] = [await launchWatch(workspace, words), await launchWatch(workspace, [...words, '--any-end'])];
  for (const one of [watch, any]) await untilTold(one);
  const waits = [watch, any].map(({ id }) => start(workspace, ['wait', id, '--timeout', '10m']));
  held.release();
  for (const { promise } of waits) assert.equal((await promise).code, 0);
  assert.deepEqual(
    [newsOf(watch), newsOf(any)],
    [
      ['running', 'done'],
      ['running', 'done'],
    ],
  );
});

test('a job that ended otherwise fails its watch, unless every end counts', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace, { exitCode: 7 });
  const strict = await launchWatch(workspace, ['job', held.id, '--for', '1d']);
  await untilTold(strict);
  held.release();
  const { code, stdout } = await run(workspace, ['wait', strict.id]);
  assert.equal(code, 3);
  assert.match(stdout, /watch_failed[\s\S]*is failed \(exit_nonzero/);
  const lenient = await run(workspace, ['watch', 'job', held.id, '--any-end', '--for', '1d', '--wait']);
  assert.equal(lenient.code, 0);
  assert.equal((await run(workspace, ['watch', 'job', held.id, '--once'])).code, 3);
});

test('a lost completion still surfaces: a job that nobody waits for and that lost all its processes', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace);
  const child = held.identity('child');
  const watch = await launchWatch(workspace, ['job', held.id, '--any-end', '--every', '1s', '--for', '30m']);
  await untilTold(watch);
  await killSupervision(held);
  await killNow('the child', child);
  const { code, stdout } = await run(workspace, ['wait', watch.id]);
  assert.deepEqual([code, /is crashed \(worker_lost/.test(stdout)], [0, true], stdout);
  assert.equal(held.state().state, 'crashed');
});

test('a job that lost only its worker gets a new one from its watch, and is not ended with it', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace);
  const watch = await launchWatch(workspace, ['job', held.id, '--every', '1s', '--for', '30m']);
  await untilTold(watch);
  const worker = held.identity('worker');
  await killNow('the worker', worker);
  await eventually('a new worker', () => held.launch().generation === 2 && held.identity('worker').pid !== worker.pid, {
    limitMs: 20_000,
  });
  assert.equal((await run(workspace, ['cancel', watch.id])).code, 0);
  assert.equal(held.state().state, 'running');
  const second = held.identity('worker');
  held.release();
  assert.equal((await run(workspace, ['wait', held.id])).code, 0);
  await untilGone('the second worker', second);
});
