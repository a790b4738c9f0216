/**
 * S1, timers: an instant on disk that nobody has to watch.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Spec } from '../../../companion/src/core/job.ts';
import { run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { findJob, firstLine, type Job } from '../../helpers/jobs.ts';
import { listJobs, listLiving } from '../../helpers/rows.ts';
import { makeWorkspace, type Workspace } from '../../helpers/workspace.ts';

const HOUR = 3_600_000;
const iso = (aheadMs: number) => new Date(Date.now() + aheadMs).toISOString();

async function arm(workspace: Workspace, ...words: string[]): Promise<Job> {
  const { code, stdout, stderr } = await run(workspace, ['timer', ...words, '--id-only']);
  assert.equal(code, 0, stderr);
  return findJob(workspace, stdout.trim());
}

function untilDue(job: Job): Promise<unknown> {
  const due = Date.parse(job.json<Spec>('spec.json').timer?.due_at ?? '');
  return eventually('the instant', () => Date.now() > due, { limitMs: 20_000 });
}

test('S1.6 a timer comes true with no process of ours alive, and its message is printed', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, 'in', '2s', '--message', 'look at the build');
  assert.deepEqual(listLiving(workspace), []);
  const { code, stdout } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, stdout.trim()], [0, 'look at the build']);
  assert.ok(Date.now() >= Date.parse(job.json<Spec>('spec.json').timer?.due_at ?? ''));
});

test('S1.29 a timer whose setter and waiters are all gone is settled by the first one who asks', async (t) => {
  const workspace = makeWorkspace(t);
  const setter = start(workspace, ['timer', 'in', '2s', '--message', 'x', '--id-only'], { detached: true });
  const job = findJob(workspace, await firstLine(setter));
  setter.kill('SIGKILL');
  await setter.promise;
  const waiting = start(workspace, ['wait', job.id]);
  waiting.kill('SIGKILL');
  await waiting.promise;
  assert.deepEqual(listLiving(workspace), []);
  await untilDue(job);
  assert.equal(job.state().state, 'running');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.deepEqual([job.state().state, job.state().reconciled], ['done', true]);
});

test('S1.43 every usual form of an instant is understood, and what is not is refused instead of dropped', async (t) => {
  const workspace = makeWorkspace(t);
  const whole = iso(HOUR).slice(0, 19);
  const forms = [`${whole.slice(0, 16)}Z`, `${whole}Z`, `${whole}.123456789Z`, `${whole}+00:00`];
  for (const form of forms) {
    const { timer } = (await arm(workspace, 'at', form)).json<Spec>('spec.json');
    assert.ok(Math.abs(Date.parse(timer?.due_at ?? '') - Date.parse(`${whole}Z`)) < 60_000, form);
  }
  const ahead = await arm(workspace, 'at', `${iso(3 * HOUR).slice(0, 19)}+02:00`);
  const dueMs = Date.parse(ahead.json<Spec>('spec.json').timer?.due_at ?? '') - Date.now();
  assert.ok(dueMs > 0.9 * HOUR && dueMs < 1.1 * HOUR, `${dueMs}`);
  // Any number of them: the ninth is kept like the first.
  for (let index = forms.length + 1; index < 10; index += 1) await arm(workspace, 'in', '1h');
  assert.equal(listJobs(workspace).length, 10);
  for (const form of ['tomorrow', `${whole}`, '2030-13-01T00:00:00Z', '2030-02-30T00:00:00Z', `${whole}+25:00`, '']) {
    const { code, stderr } = await run(workspace, ['timer', 'at', form]);
    assert.equal(code, 1, form);
    assert.match(stderr, /cannot /);
  }
  assert.equal(listJobs(workspace).length, 10);
});

test('S1.45 an instant in the past is refused, and the answer says how far off it is', async (t) => {
  const workspace = makeWorkspace(t);
  const { code, stderr } = await run(workspace, ['timer', 'at', iso(-6 * HOUR)]);
  assert.equal(code, 1);
  assert.match(stderr, /6h.* ago/);
  assert.equal((await run(workspace, ['timer', 'in', '-5m'])).code, 1);
  assert.deepEqual(listJobs(workspace), []);
});

test('S1.46 a timer fires or is canceled, once and for ever; delays have a range, and 64 may be armed', async (t) => {
  const workspace = makeWorkspace(t);
  const [fired, canceled] = [await arm(workspace, 'in', '1s'), await arm(workspace, 'in', '30d')];
  for (const _ of [0, 1]) assert.equal((await run(workspace, ['cancel', canceled.id])).code, 0);
  assert.equal((await run(workspace, ['wait', canceled.id])).code, 4);
  await untilDue(fired);
  assert.equal((await run(workspace, ['cancel', fired.id])).code, 1);
  assert.equal((await run(workspace, ['wait', fired.id])).code, 0);
  for (const delay of ['0s', '500ms', '31d', '10'])
    assert.equal((await run(workspace, ['timer', 'in', delay])).code, 1);
  const more = async (count: number) =>
    Promise.all(Array.from({ length: count }, () => run(workspace, ['timer', 'in', '1h', '--id-only'])));
  for (let round = 0; round < 8; round += 1) for (const { code } of await more(8)) assert.equal(code, 0);
  const [refused] = await more(1);
  assert.equal(refused?.code, 1);
  assert.match(refused?.stderr ?? '', /64/);
  assert.equal(listJobs(workspace).length, 66);
});
