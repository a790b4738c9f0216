/**
 * "May I go idle now?" as an orchestrator asks it: real jobs, real waits in processes of their own, real signals. A wait that was killed or
 * stopped is no delivery, whatever it left on disk, and the command that is printed arms what is missing.
 */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { arm, ask, holdOn, registered, rowOf, wordsOf } from '../helpers/idle.ts';
import { killNow, launchHeld } from '../helpers/jobs.ts';
import { isAlive } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

/** The held commands end, and with them the waits. */
async function release(workspace: Workspace, jobs: Awaited<ReturnType<typeof launchHeld>>[]): Promise<void> {
  for (const job of jobs) job.release();
  for (const job of jobs) assert.equal((await run(workspace, ['wait', job.id])).code, 0);
}

test('nothing is live: 0, also where there is no state folder yet, and nothing is made', async (t) => {
  const workspace = makeWorkspace(t);
  const { code, reply, text } = await ask(workspace);
  assert.deepEqual([code, reply.safe, reply.jobs], [0, true, []]);
  assert.match(text, /^safe to go idle: nothing is live\n/);
  assert.throws(() => statSync(workspace.path('.job-state')), { code: 'ENOENT' });
});

test('three jobs, two waits and a timer: 0; a wait is killed, stopped: 3; the printed command makes it 0 again', async (t) => {
  const workspace = makeWorkspace(t);
  const options = ['--owner', 'boss'];
  const [a, b, c] = [
    await launchHeld(workspace, { options }),
    await launchHeld(workspace, { options }),
    await launchHeld(workspace, { options }),
  ];
  const alone = await ask(workspace, '--owner', 'boss');
  assert.deepEqual([alone.code, alone.reply.jobs.map(({ missing }) => missing.length)], [3, [2, 2, 2]]);

  const two = await holdOn(workspace, [a, b], '--any', '--timeout', '20m');
  const one = await holdOn(workspace, [c], '--timeout', '20m');
  const timer = await arm(workspace, 'in', '25m', '--owner', 'boss');
  const safe = await ask(workspace, '--owner', 'boss');
  assert.deepEqual([safe.code, safe.reply.safe, safe.reply.next], [0, true, null], safe.text);
  assert.deepEqual(
    [a, b, c].map((job) => rowOf(safe.reply, job).delivery.map(({ pid }) => pid)),
    [[two.pid], [two.pid], [one.pid]],
  );
  assert.deepEqual(rowOf(safe.reply, a).backstop?.pid, two.pid);
  // A timer that nobody waits for wakes nobody: it is told, and no danger while each job has its own backstop.
  assert.deepEqual(
    safe.reply.timers.map(({ id, delivered, fault }) => [id, delivered, fault]),
    [[timer.id, false, false]],
  );
  assert.match(safe.text, /it wakes nobody, and is no backstop/);

  await killNow('the wait', two.identity);
  const killed = await ask(workspace, '--owner', 'boss');
  assert.equal(killed.code, 3);
  assert.match(killed.text, /^NOT safe to go idle: 2 of 3 live jobs with neither delivery nor backstop/);
  for (const job of [a, b]) {
    const row = rowOf(killed.reply, job);
    assert.deepEqual([row.missing, row.delivery, row.backstop], [['delivery', 'backstop'], [], null]);
    assert.deepEqual(row.not_counted, [{ by: 'wait', pid: two.pid, why: 'dead', reason: 'it was killed' }]);
    assert.deepEqual(wordsOf(row.next), ['wait', job.id, '--timeout', '30m']);
    assert.ok(killed.text.includes(`  arm it:   ${row.next}\n`), killed.text);
  }
  assert.deepEqual(rowOf(killed.reply, c).missing, []);
  assert.deepEqual(wordsOf(killed.reply.next), ['wait', a.id, b.id, '--any', '--timeout', '30m']);

  const again = await registered(workspace, [a, b], wordsOf(killed.reply.next));
  assert.equal((await ask(workspace, '--owner', 'boss')).code, 0);

  // Its whole group, as a shell's job control does.
  process.kill(-one.pid, 'SIGSTOP');
  const stopped = await eventually('it to be stopped', async () => {
    const now = await ask(workspace, '--owner', 'boss');
    return now.code === 3 && now;
  });
  assert.deepEqual(
    [rowOf(stopped.reply, c).missing, rowOf(stopped.reply, c).not_counted[0]?.why],
    [['delivery', 'backstop'], 'stopped'],
  );
  assert.ok(isAlive(one.identity));
  const fresh = await registered(workspace, [c], wordsOf(rowOf(stopped.reply, c).next));
  assert.equal((await ask(workspace, '--owner', 'boss')).code, 0);
  process.kill(-one.pid, 'SIGCONT');
  assert.equal((await run(workspace, ['cancel', timer.id])).code, 0);
  await release(workspace, [a, b, c]);
  for (const wait of [again, fresh, one]) await wait.promise;
  const after = await ask(workspace, '--owner', 'boss');
  assert.deepEqual([after.code, after.reply.jobs], [0, []]);
});

test('a state folder that was named and is not there is never called quiet', async (t) => {
  const workspace = makeWorkspace(t);
  const seen = await run(workspace, ['idle-check', '--state-dir', workspace.path('nowhere')]);
  assert.deepEqual([seen.code, seen.stdout], [1, '']);
  assert.match(seen.stderr, /there is no state folder .*nowhere/);
  const here = await run(workspace, ['idle-check']);
  assert.equal(here.code, 0, here.stderr);
  assert.match(here.stdout, /nothing is live/);
});
