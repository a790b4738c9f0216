/**
 * A shim that somebody stopped: readers say so and how it goes on, the worker lets it say how its command ended, and no end that is published
 * leaves it behind. A job that was stopped as a whole is left alone.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { launchHeld } from '../helpers/jobs.ts';
import { isAlive, killByIdentity } from '../helpers/process.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('a stopped shim is told for attention, and when its command ends, the real outcome is published', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { exitCode: 7, options: ['--timeout', '1h'] });
  const shim = job.identity('shim');
  killByIdentity(shim, 'SIGSTOP');
  const seen = parseReply<{ attention_kind: string; reason: string }>(
    await run(workspace, ['observe', job.id, '--json']),
  );
  assert.equal(seen.attention_kind, 'monitor_attention');
  assert.match(seen.reason, new RegExp(`the shim is stopped .*kill -CONT ${shim.pid}$`));
  const idle = await run(workspace, ['idle-check', '--json']);
  assert.equal(idle.code, 3);
  assert.match(idle.stdout, new RegExp(`"mend":"kill -CONT ${shim.pid}"`));
  job.release();
  await eventually('its end', () => job.state().state === 'failed', { limitMs: 30_000 });
  assert.equal(job.state().exit_code, 7);
  assert.equal(isAlive(shim), false);
});

test('a job that was stopped as a whole is left alone, and cancel ends all of it', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--kill-after', '1s'] });
  const [shim, child] = [job.identity('shim'), job.identity('child')];
  for (const one of [shim, child]) killByIdentity(one, 'SIGSTOP');
  const seen = parseReply<{ reason: string }>(await run(workspace, ['observe', job.id, '--json']));
  assert.match(seen.reason, new RegExp(`kill -CONT ${shim.pid} ${child.pid}$`));
  const stoppedAt = Date.now();
  await eventually('some looks of the worker', () => Date.now() - stoppedAt > 2500);
  assert.match(
    parseReply<{ reason: string }>(await run(workspace, ['observe', job.id, '--json'])).reason,
    /the shim is stopped/,
  );
  const ended = await run(workspace, ['cancel', job.id]);
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(job.state().state, 'canceled');
  assert.deepEqual([isAlive(shim), isAlive(child)], [false, false]);
});

test('an end by its limit leaves no stopped shim behind, and the limit is its end', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--timeout', '4s', '--kill-after', '1s'] });
  const shim = job.identity('shim');
  killByIdentity(shim, 'SIGSTOP');
  const ended = await run(workspace, ['wait', job.id]);
  assert.equal(ended.code, 3, ended.stderr);
  assert.equal(job.state().state, 'timed_out');
  assert.ok(job.has('exit.json'));
  assert.equal(isAlive(shim), false);
});
