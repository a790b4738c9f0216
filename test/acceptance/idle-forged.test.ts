/**
 * What must not make `idle-check` say 0: a registration copied to another job, a wait of another owner, a notifier whose program is gone, an
 * owner that is empty. Real jobs and waits, the built file.
 */
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { ask, holdOn, registered, rowOf, wordsOf } from '../helpers/idle.ts';
import { launchHeld } from '../helpers/jobs.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('a registration that was copied to another job, with its id written in, is no delivery', async (t) => {
  const workspace = makeWorkspace(t);
  const [a, b] = [await launchHeld(workspace), await launchHeld(workspace)];
  await holdOn(workspace, [a], '--timeout', '20m');
  const [file = ''] = readdirSync(a.path('waiters'));
  const note = JSON.parse(readFileSync(join(a.path('waiters'), file), 'utf8'));
  writeFileSync(join(b.path('waiters'), file), JSON.stringify({ ...note, ids: [a.id, b.id] }));
  const seen = await ask(workspace);
  assert.deepEqual([seen.code, rowOf(seen.reply, b).not_counted[0]?.why], [3, 'stranger'], seen.text);
  assert.deepEqual(rowOf(seen.reply, a).missing, []);
  for (const job of [a, b]) job.release();
  for (const job of [a, b]) assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test("a wait of another owner is no delivery; the owner's own is, and an empty --owner is refused", async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--owner', 'o1'] });
  const foreign = await holdOn(workspace, [job], '--owner', 'o2', '--timeout', '20m');
  const seen = await ask(workspace, '--owner', 'o1');
  assert.deepEqual([seen.code, rowOf(seen.reply, job).not_counted[0]?.why], [3, 'other_owner'], seen.text);
  assert.match(seen.text.replace(/\s+/g, ' '), new RegExp(`wait ${foreign.pid}: of owner o2`));
  await registered(workspace, [job], wordsOf(rowOf(seen.reply, job).next));
  assert.equal((await ask(workspace, '--owner', 'o1')).code, 0);
  for (const words of [['idle-check'], ['status'], ['reconcile'], ['wait', job.id]]) {
    const empty = await run(workspace, [...words, '--owner', '']);
    assert.deepEqual([empty.code, empty.stdout], [1, '']);
    assert.match(empty.stderr, /cannot take an empty --owner/);
  }
  const typo = await ask(workspace, '--owner', 'o11');
  assert.match(typo.text.replace(/\s+/g, ' '), /1 live job belongs to others: o1/);
  assert.equal(typo.code, 0);
  for (const verb of ['status', 'reconcile']) {
    const other = await run(workspace, [verb, '--owner', 'o11']);
    assert.match(other.stdout.replace(/\s+/g, ' '), /1 live job belongs to others: o1/);
  }
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('a notifier whose program cannot be started any more is no delivery', async (t) => {
  const workspace = makeWorkspace(t);
  const program = workspace.path('tell');
  copyFileSync('/bin/true', program);
  chmodSync(program, 0o755);
  const job = await launchHeld(workspace, { options: ['--notify', program] });
  assert.deepEqual(rowOf((await ask(workspace)).reply, job).missing, ['backstop']);
  chmodSync(program, 0o644);
  const seen = await ask(workspace);
  assert.deepEqual([seen.code, rowOf(seen.reply, job).missing], [3, ['delivery', 'backstop']]);
  assert.match(seen.text.replace(/\s+/g, ' '), /its program cannot be started any more/);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});
