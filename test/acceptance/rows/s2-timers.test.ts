/**
 * S2, timers as backstops: durable, free, one-way, and each under its own name.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import type { Spec } from '../../../companion/src/core/job.ts';
import { parseReply, run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { findJob, type Job, killNow, launchHeld } from '../../helpers/jobs.ts';
import { canRestart, runAfterRestart } from '../../helpers/restarted.ts';
import { listLiving, untilPassed } from '../../helpers/rows.ts';
import { makeWorkspace, type Workspace } from '../../helpers/workspace.ts';

async function arm(workspace: Workspace, ...words: string[]): Promise<Job> {
  const { code, stdout, stderr } = await run(workspace, ['timer', ...words, '--id-only']);
  assert.equal(code, 0, stderr);
  return findJob(workspace, stdout.trim());
}

function untilDue(job: Job): Promise<unknown> {
  const due = Date.parse(job.json<Spec>('spec.json').timer?.due_at ?? '');
  return eventually('the instant', () => Date.now() > due, { limitMs: 20_000 });
}

test('S2.15 a backstop is told with its id, its instant and its state, and status reads all three back', async (t) => {
  const workspace = makeWorkspace(t);
  const told = parseReply(await run(workspace, ['timer', 'in', '25m', '--message', 'look', '--json']));
  assert.deepEqual([told.state, told.durable], ['running', true]);
  const dueMs = Date.parse(String(told.due_at)) - Date.now();
  assert.ok(dueMs > 20 * 60_000 && dueMs <= 25 * 60_000, `${dueMs}`);
  const { code, stdout } = await run(workspace, ['status', String(told.id)]);
  assert.equal(code, 2);
  for (const words of [String(told.id), String(told.due_at), 'running']) assert.ok(stdout.includes(words), stdout);
  assert.equal((await run(workspace, ['cancel', String(told.id)])).code, 0);
});

test('S2.21 a timer of 1500 seconds keeps its delay, its message and its label', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, 'in', '1500s', '--message', 'check the build', '--label', 'window 3');
  const spec = job.json<Spec>('spec.json');
  assert.deepEqual([spec.timer?.delay_ms, spec.timer?.message, spec.label], [1_500_000, 'check the build', 'window 3']);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
});

test('S2.22 the id of the timer that was replaced cancels nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const old = await arm(workspace, 'in', '1h', '--slot', 'backstop');
  const fresh = await arm(workspace, 'in', '2h', '--slot', 'backstop');
  await run(workspace, ['cancel', old.id]);
  assert.equal(old.state().state, 'canceled');
  assert.equal((await run(workspace, ['cancel', fresh.id.slice(0, -2)])).code, 1);
  assert.equal((await run(workspace, ['status', fresh.id])).code, 2);
  assert.equal((await run(workspace, ['cancel', fresh.id])).code, 0);
});

test('S2.23 an armed timer has no process, and one that is to tell somebody has one that sleeps', async (t) => {
  const workspace = makeWorkspace(t);
  await arm(workspace, 'in', '1h');
  assert.deepEqual(listLiving(workspace), []);
  const telling = await arm(workspace, 'in', '1h', '--notify', '/bin/true');
  await eventually('its worker', () => telling.has('worker.json'), { limitMs: 20_000 });
  await untilPassed(1_000);
  const ticks = () => {
    const text = readFileSync(`/proc/${telling.identity('worker').pid}/stat`, 'utf8').replace(/^.*\) /s, '');
    return text
      .split(' ')
      .slice(11, 13)
      .map(Number)
      .reduce((a, b) => a + b);
  };
  const before = ticks();
  await untilPassed(3_000);
  assert.ok(ticks() - before <= 2, `${(ticks() - before) * 10} ms of CPU in 3 s`);
  assert.equal((await run(workspace, ['cancel', telling.id])).code, 0);
});

test('S2.24 a timer whose worker was killed is settled by the next reader, and says so', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, 'in', '2s', '--message', 'x', '--notify', '/bin/true');
  await killNow('the worker', job.identity('launched'));
  await untilDue(job);
  const { code, stdout } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, stdout], [0, 'x']);
  assert.deepEqual([job.state().state, job.state().reconciled], ['done', true]);
});

test('S2.27 a timer that came due before the machine was up again is settled as reconciled, and stands behind any watcher', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const behind = await arm(workspace, 'in', '1s', '--message', 'second clock');
  const both = await run(workspace, ['wait', '--any', job.id, behind.id, '--timeout', '50s']);
  assert.equal(both.code, 0);
  assert.match(both.stdout, /second clock/);
  assert.equal((await run(workspace, ['status', job.id])).code, 2);
  const away = await arm(workspace, 'in', '1s', '--message', 'x');
  await untilDue(away);
  const back = canRestart() ? runAfterRestart : run;
  assert.equal((await back(workspace, ['wait', away.id])).code, 0);
  assert.deepEqual([away.state().state, away.state().reconciled], ['done', true]);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S2.29 timers stand beside each other, and a slot holds one: the new one says what it replaced', async (t) => {
  const workspace = makeWorkspace(t);
  const free = [await arm(workspace, 'in', '12h'), await arm(workspace, 'in', '1h')];
  const slotted = await arm(workspace, 'in', '1h', '--slot', 'a');
  const other = await arm(workspace, 'in', '1h', '--slot', 'b');
  const told = parseReply(await run(workspace, ['timer', 'in', '2h', '--slot', 'a', '--json']));
  assert.deepEqual([told.slot, told.replaced], ['a', [slotted.id]]);
  assert.equal((await run(workspace, ['wait', slotted.id])).code, 4);
  for (const { id } of [...free, other]) assert.equal((await run(workspace, ['status', id])).code, 2);
});

test('S2.30 a message that is a recipe arrives as it was written', async (t) => {
  const workspace = makeWorkspace(t);
  const message = 'what: the "nightly"\nwhere: $HOME/x\nbaseline: 3 of 7 \u00e9\n';
  const job = await arm(workspace, 'in', '1s', '--message', message);
  assert.equal((await run(workspace, ['wait', job.id])).stdout, message);
});

test('S2.37 a watch of a job is over when the job is, long before its own bound', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { exitCode: 1 });
  const watching = start(workspace, ['watch', 'job', job.id, '--for', '30m', '--foreground']);
  await eventually('the first line', () => watching.stdout() !== '', { limitMs: 20_000 });
  job.release();
  const { code, stdout } = await watching.promise;
  assert.notEqual(code, 2);
  assert.ok(stdout.includes(job.id));
});

test('S2.110 a timer says that it is durable, a damaged one is an error for every reader, and cancel takes the exact id', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, 'in', '1h', '--message', 'x');
  const seen = parseReply<{ timer: Record<string, unknown>; state: string }>(await run(workspace, ['observe', job.id]));
  assert.deepEqual([seen.state, seen.timer.durable], ['running', true]);
  assert.equal(seen.timer.due_at, job.json<Spec>('spec.json').timer?.due_at);
  assert.equal((await run(workspace, ['cancel', job.id.slice(0, -1)])).code, 1);
  const text = job.text('spec.json');
  writeFileSync(job.path('spec.json'), text.slice(0, 100));
  for (const verb of ['wait', 'observe', 'status']) {
    const { code, stdout, stderr } = await run(workspace, [verb, job.id]);
    assert.equal(code, 3, verb);
    assert.match(stdout + stderr, /damaged/);
  }
  writeFileSync(job.path('spec.json'), text);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
});
