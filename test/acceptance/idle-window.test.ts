/**
 * What counts as delivery and backstop besides a plain wait - timers, notifiers, a foreground watch -, whose window it is, who looks after the
 * jobs meanwhile, and what no file can pretend.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { arm, ask, holdOn, registered, rowOf, wordsOf } from '../helpers/idle.ts';
import { findJob, killNow, launch, launchHeld, makeHold, untilGone } from '../helpers/jobs.ts';
import { killByIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

type Held = Awaited<ReturnType<typeof launchHeld>>;

/** The jobs end by themselves, and with them whoever waits for them. */
async function finish(workspace: Workspace, ...jobs: Held[]): Promise<void> {
  for (const job of jobs) job.release();
  for (const job of jobs) assert.equal((await run(workspace, ['wait', job.id])).code, 0);
}

const cancel = async (workspace: Workspace, id: string): Promise<void> =>
  assert.equal((await run(workspace, ['cancel', id])).code, 0);

test('a wait without an end needs a timer behind it that somebody waits for; a second timer is one too many', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  await holdOn(workspace, [job], '--timeout', '1000d');
  const bare = await ask(workspace);
  assert.deepEqual([bare.code, rowOf(bare.reply, job).missing], [3, ['backstop']]);
  assert.match(bare.text, /1 of 1 live job with no backstop/);
  assert.deepEqual(wordsOf(rowOf(bare.reply, job).next), ['wait', job.id, '--timeout', '30m']);

  const timer = await arm(workspace, 'in', '20m');
  const unheard = await ask(workspace);
  assert.deepEqual([unheard.code, rowOf(unheard.reply, job).missing], [3, ['backstop']]);
  const words = wordsOf(unheard.reply.timers[0]?.next ?? null);
  assert.deepEqual(words, ['wait', timer.id, '--timeout', '21m']);
  await registered(workspace, [timer], words);
  const heard = await ask(workspace);
  assert.deepEqual([heard.code, rowOf(heard.reply, job).backstop?.id], [0, timer.id], heard.text);

  // The one that is heard stays, although the other is due before it.
  const early = await arm(workspace, 'in', '10m');
  const both = await ask(workspace);
  assert.equal(both.code, 3);
  assert.match(both.text, /more than one armed timer in a window/);
  assert.deepEqual(
    both.reply.timers.map(({ id, extra, fault }) => [id, extra, fault]),
    [
      [early.id, true, true],
      [timer.id, false, false],
    ],
  );
  const { next = null } = both.reply.timers[0] ?? {};
  assert.deepEqual(wordsOf(next), ['cancel', early.id]);
  assert.ok(both.text.includes(`  cancel:   ${next}\n`), both.text);
  assert.equal((await run(workspace, wordsOf(next))).code, 0);
  const single = await ask(workspace);
  assert.deepEqual([single.code, single.reply.uncollected], [0, []]);
  await cancel(workspace, timer.id);
  await finish(workspace, job);
});

test('timers alone need somebody too: a wait, or a notifier whose worker lives', async (t) => {
  const workspace = makeWorkspace(t);
  const plain = await arm(workspace, 'in', '20m');
  const unheard = await ask(workspace);
  assert.deepEqual([unheard.code, unheard.reply.timers[0]?.fault], [3, true]);
  assert.match(unheard.text, /^NOT safe to go idle: a timer that would wake nobody\n/);
  await registered(workspace, [plain], wordsOf(unheard.reply.timers[0]?.next ?? null));
  assert.equal((await ask(workspace)).code, 0);
  await cancel(workspace, plain.id);

  const told = await arm(workspace, 'in', '20m', '--notify', '/bin/true');
  assert.equal((await ask(workspace)).code, 0);
  await killNow('the worker', told.identity('launched'));
  const lost = await ask(workspace);
  assert.equal(lost.code, 3);
  assert.match(lost.text, /notifier: its worker is gone: it wakes nobody/);
  await cancel(workspace, told.id);
});

test('two armed timers, nobody at either: the one that is due later is the extra', async (t) => {
  const workspace = makeWorkspace(t);
  const late = await arm(workspace, 'in', '30m');
  const soon = await arm(workspace, 'in', '10m');
  const other = await arm(workspace, 'in', '10m', '--owner', 'somebody');
  const { code, reply } = await ask(workspace);
  assert.deepEqual(
    [code, reply.timers.filter(({ extra }) => extra).map(({ id }) => id)],
    [3, [late.id]],
    'another owner has a window of its own',
  );
  for (const { id } of [late, soon, other]) await cancel(workspace, id);
});

test('a notifier delivers while its worker lives and runs; stopped or dead it does not, and says how to mend it', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--notify', '/bin/true'] });
  const timer = await arm(workspace, 'in', '20m');
  await holdOn(workspace, [timer], '--timeout', '21m');
  const told = await ask(workspace);
  const worker = job.identity('worker');
  assert.deepEqual([told.code, rowOf(told.reply, job).delivery], [0, [{ by: 'notifier', pid: worker.pid }]], told.text);

  killByIdentity(worker, 'SIGSTOP');
  const stopped = await eventually('it to be stopped', async () => {
    const now = await ask(workspace);
    return now.code === 3 && now;
  });
  const row = rowOf(stopped.reply, job);
  assert.deepEqual(row.missing, ['delivery', 'attention']);
  assert.deepEqual([row.attention?.cause, row.mend], ['worker_stopped', `kill -CONT ${worker.pid}`]);
  assert.match(stopped.text, /notifier: its worker is stopped/);
  killByIdentity(worker, 'SIGCONT');
  await eventually('it to go on', async () => (await ask(workspace)).code === 0);

  await killNow('the worker', worker);
  const lost = await ask(workspace);
  const gone = rowOf(lost.reply, job);
  assert.deepEqual([lost.code, gone.missing, gone.attention?.cause], [3, ['delivery', 'attention'], 'worker_gone']);
  // The wait that it names starts a new worker: all is well again, and it was one command.
  assert.equal(gone.mend, null);
  await registered(workspace, [job], wordsOf(gone.next));
  await eventually('all to be well', async () => (await ask(workspace)).code === 0, { limitMs: 20_000 });
  await cancel(workspace, timer.id);
  await finish(workspace, job);
});

test('a stopped worker is told although a wait is there: its end would come late', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  await holdOn(workspace, [job], '--timeout', '10m');
  const worker = job.identity('worker');
  assert.equal((await ask(workspace)).code, 0);
  killByIdentity(worker, 'SIGSTOP');
  const now = await eventually('it to be told', async () => {
    const { code, reply } = await ask(workspace);
    return code === 3 && rowOf(reply, job);
  });
  assert.deepEqual([now.missing, now.next, now.mend], [['attention'], null, `kill -CONT ${worker.pid}`]);
  killByIdentity(worker, 'SIGCONT');
  await eventually('it to go on', async () => (await ask(workspace)).code === 0);
  await finish(workspace, job);
});

test('a watch in the foreground delivers and has no end of its own', async (t) => {
  const workspace = makeWorkspace(t);
  const target = await launchHeld(workspace);
  await holdOn(workspace, [target], '--timeout', '10m');
  const before = readdirSync(workspace.path('.job-state/jobs'));
  const words = ['watch', 'job', target.id, '--foreground', '--for', '20m'];
  const { start } = await import('../helpers/companion.ts');
  const foreground = start(workspace, words, { limitMs: 120_000 });
  workspace.defer(() => killByIdentity(foreground.identity));
  const id = await eventually('its job', () =>
    readdirSync(workspace.path('.job-state/jobs')).find((one) => one.startsWith('watch-') && !before.includes(one)),
  );
  const job = findJob(workspace, id);
  await eventually('its waiter', () => readdirSync(job.path('waiters')).length === 1, { limitMs: 20_000 });
  const { code, reply } = await ask(workspace);
  assert.deepEqual([code, rowOf(reply, job).missing], [3, ['backstop']]);
  assert.deepEqual(
    rowOf(reply, job).delivery.map(({ by, pid }) => [by, pid]),
    [['foreground', foreground.pid]],
  );
  await registered(workspace, [job], wordsOf(rowOf(reply, job).next));
  assert.equal((await ask(workspace)).code, 0);
  await finish(workspace, target);
  await foreground.promise;
});

test('whose jobs: of the owner that is named, of JOB_OWNER, else everybody', async (t) => {
  const workspace = makeWorkspace(t);
  const mine = await launchHeld(workspace, { options: ['--owner', 'me'] });
  const other = await launchHeld(workspace, { options: ['--owner', 'other'] });
  await holdOn(workspace, [mine], '--timeout', '10m');
  assert.equal((await ask(workspace, '--owner', 'me')).code, 0);
  assert.equal((await ask(workspace, '--owner', 'nobody')).code, 0);
  assert.equal((await run(workspace, ['idle-check'], { env: { JOB_OWNER: 'me' } })).code, 0);
  assert.equal((await run(workspace, ['idle-check'], { env: { JOB_OWNER: 'other' } })).code, 3);
  const everybody = await ask(workspace);
  assert.deepEqual([everybody.code, rowOf(everybody.reply, mine).missing], [3, []]);
  assert.deepEqual(rowOf(everybody.reply, other).missing, ['delivery', 'backstop']);
  await finish(workspace, mine, other);
});

test('no file makes a delivery: not one that names another process, not one behind a link', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const note = { waiter: ownIdentity(), ids: [job.id], since: new Date().toISOString(), timeout_ms: 600_000 };
  writeFileSync(job.path('waiters', '5-5.json'), JSON.stringify(note));
  const forged = await ask(workspace);
  assert.deepEqual([forged.code, rowOf(forged.reply, job).not_counted[0]?.why], [3, 'stranger']);
  const wait = await holdOn(workspace, [job], '--timeout', '10m');
  assert.equal((await ask(workspace)).code, 0);
  const elsewhere = join(workspace.base, 'elsewhere');
  execFileSync('cp', ['-r', job.path('waiters'), elsewhere]);
  rmSync(job.path('waiters'), { recursive: true });
  symlinkSync(elsewhere, job.path('waiters'));
  assert.equal((await ask(workspace)).code, 3);
  await killNow('the wait', wait.identity);
  await wait.promise;
  rmSync(job.path('waiters'));
  mkdirSync(job.path('waiters'));
  await finish(workspace, job);
});

test('what cannot be read is never called safe', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--owner', 'me'] });
  await holdOn(workspace, [job], '--timeout', '10m');
  const text = job.text('spec.json');
  for (const changed of ['{', text.replace('"owner":"me"', '"owner":"you"')]) {
    writeFileSync(job.path('spec.json'), changed);
    const { code, reply, text: page } = await ask(workspace, '--owner', 'me');
    const names = [...reply.unreadable, ...reply.jobs.filter(({ missing }) => missing.length > 0)].map(({ id }) => id);
    assert.deepEqual([code, names], [3, [job.id]], page);
  }
  writeFileSync(job.path('spec.json'), text);
  // Its marker alone does not make it live.
  rmSync(workspace.path('.job-state/active', job.id));
  assert.equal((await ask(workspace, '--owner', 'me')).code, 0);
  const without = await launchHeld(workspace, { options: ['--owner', 'me'] });
  rmSync(workspace.path('.job-state/active', without.id));
  assert.equal((await ask(workspace, '--owner', 'me')).code, 3);
  await finish(workspace, job, without);
});

test('a job whose supervision was killed at its end is not over for its caller', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const [worker, shim] = [job.identity('worker'), job.identity('shim')];
  killByIdentity(worker, 'SIGSTOP');
  job.release();
  await untilGone('the shim', shim);
  await killNow('the worker', worker);
  const { code, reply } = await ask(workspace);
  const row = rowOf(reply, job);
  assert.deepEqual(
    [code, row.attention?.cause, row.missing],
    [3, 'end_unstored', ['delivery', 'backstop', 'attention']],
  );
  assert.deepEqual([wordsOf(row.next).slice(0, 2), row.mend], [['wait', job.id], null]);
  assert.equal((await run(workspace, wordsOf(row.next))).code, 0);
  const after = await ask(workspace);
  assert.deepEqual([after.code, after.reply.jobs, after.reply.uncollected], [0, [], []]);
});

test('a finished job that nobody has collected is named, with the command, and changes no code', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launch(workspace, ['--', 'true']);
  await eventually('its end', () => job.has('state.json') && job.state().state === 'done', { limitMs: 20_000 });
  const { code, reply, text } = await ask(workspace);
  assert.deepEqual([code, reply.uncollected.map(({ id }) => id)], [0, [job.id]]);
  assert.match(text, new RegExp(`finished, and collected by nobody: 1\\n  ${job.id}  done\\n`));
  assert.equal((await run(workspace, wordsOf(reply.uncollected[0]?.next ?? null))).code, 0);
  assert.deepEqual((await ask(workspace)).reply.uncollected, []);
});

test('a queued job is live', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await launchHeld(workspace, { options: ['--max-live', '1'] });
  const hold = makeHold(workspace);
  const second = await launch(workspace, ['--max-live', '1', '--', ...hold.command]);
  await eventually('it to be queued', () => second.has('state.json') && second.state().state === 'queued', {
    limitMs: 20_000,
  });
  await holdOn(workspace, [first], '--timeout', '10m');
  const { code, reply, text } = await ask(workspace);
  assert.deepEqual([code, rowOf(reply, second).missing], [3, ['delivery', 'backstop']]);
  assert.match(text, new RegExp(`${second.id}  queued, place 1  `));
  assert.deepEqual(wordsOf(rowOf(reply, second).next), ['wait', second.id, '--timeout', '30m']);
  await cancel(workspace, second.id);
  await finish(workspace, first);
});

test('it looks and changes nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  await killNow('the worker', job.identity('worker'));
  const look = (): string =>
    execFileSync('sh', ['-c', 'find . -type f ! -name lease.json | sort | xargs sha256sum'], {
      cwd: workspace.path('.job-state'),
      encoding: 'utf8',
    });
  const before = look();
  assert.equal((await ask(workspace)).code, 3);
  assert.equal(look(), before);
  assert.match(readFileSync(job.path('spec.json'), 'utf8'), /"mac"/);
  await finish(workspace, job);
});
