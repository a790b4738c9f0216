/**
 * Going idle with jobs that do more than end: an agent that hands back while it works, a job that started a job of its own, a wait whose
 * starter is gone. Real jobs, real waits, the built file; and each printed command makes the answer 0.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { builtFile, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { arm, ask, holdOn, registered, rowOf, wordsOf } from '../helpers/idle.ts';
import { findJob, killNow, launch, launchHeld, makeHold, untilStarted } from '../helpers/jobs.ts';
import { makeStaff, until } from '../helpers/staff.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('an agent that hands back: a plain wait is not enough, the printed one is, also after it was woken', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const [go, dir] = [join(workspace.base, 'go'), join(workspace.base, 'hand')];
  workspace.defer(() => writeFileSync(go, ''));
  staff.act(`${until(go)}; echo answer`);
  const job = await staff.launch('staffer', ['--handback', dir, '--prompt', 'x']);
  await untilStarted(job);
  const plain = await holdOn(workspace, [job], '--timeout', '20m');
  const deaf = await ask(workspace);
  assert.deepEqual([deaf.code, rowOf(deaf.reply, job).missing], [3, ['handback']], deaf.text);
  const first = await registered(workspace, [job], wordsOf(rowOf(deaf.reply, job).next));
  assert.equal((await ask(workspace)).code, 0);

  writeFileSync(join(dir, '00-question.md'), 'Which one?');
  const woken = await first.promise;
  assert.equal(woken.code, 2, woken.stderr);
  const again = await ask(workspace);
  assert.deepEqual([again.code, rowOf(again.reply, job).missing], [3, ['handback']]);
  // What was heard does not wake this one.
  const second = await registered(workspace, [job], wordsOf(rowOf(again.reply, job).next));
  assert.equal((await ask(workspace)).code, 0);
  writeFileSync(join(dir, '01-question.md'), 'And now?');
  assert.match((await second.promise).stdout + (await second.promise).stderr, /01-question\.md/);
  writeFileSync(go, '');
  assert.equal((await plain.promise).code, 0);
  assert.equal((await ask(workspace)).code, 0);
});

test('a notifier is told of hand-backs: then a plain wait is enough', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  staff.act(`${until(go)}; echo answer`);
  const words = ['--handback', join(workspace.base, 'hand'), '--notify', '/bin/true', '--prompt', 'x'];
  const job = await staff.launch('staffer', words);
  await untilStarted(job);
  const bare = await ask(workspace);
  assert.deepEqual([bare.code, rowOf(bare.reply, job).missing], [3, ['backstop']]);
  await registered(workspace, [job], wordsOf(rowOf(bare.reply, job).next));
  assert.equal((await ask(workspace)).code, 0);
  writeFileSync(go, '');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('a job of a job: only counted while that one lives, and then the business of its owner', async (t) => {
  const workspace = makeWorkspace(t);
  const [inner, outer] = [makeHold(workspace), makeHold(workspace)];
  const quoted = (words: string[]): string => words.map((word) => `'${word}'`).join(' ');
  const said = join(workspace.base, 'inner-id');
  const start = quoted([process.execPath, builtFile, 'run', '--id-only', '--', ...inner.command]);
  const script = `${start} >'${said}'; exec ${quoted(outer.command)}`;
  const parent = await launch(workspace, ['--owner', 'me', '--', 'sh', '-c', script]);
  const id = await eventually('the job of the job', () => existsSync(said) && readFileSync(said, 'utf8').trim(), {
    limitMs: 30_000,
  });
  await holdOn(workspace, [parent], '--timeout', '10m');
  const held = await ask(workspace, '--owner', 'me');
  assert.deepEqual([held.code, held.reply.jobs.map((row) => row.id)], [0, [parent.id]]);
  assert.match(held.text, /\n1 more live job is the business of the live job that started it\n/);
  assert.equal((await ask(workspace, '--owner', parent.id)).code, 3);

  outer.release();
  assert.equal((await run(workspace, ['wait', parent.id])).code, 0);
  const left = await ask(workspace, '--owner', 'me');
  assert.deepEqual([left.code, rowOf(left.reply, { id }).missing], [3, ['delivery', 'backstop']], left.text);
  // What is the owner's, a wait without ids takes too.
  await registered(workspace, [{ id }], ['wait', '--owner', 'me', '--any', '--timeout', '10m']);
  assert.equal((await ask(workspace, '--owner', 'me')).code, 0);
  inner.release();
  assert.equal((await run(workspace, ['wait', findJob(workspace, id).id])).code, 0);
});

test('a wait whose starter is gone: 0, and the first sentence says that perhaps nobody hears it', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const words = [builtFile, 'wait', job.id, '--timeout', '10m'];
  const script = `${[process.execPath, ...words].map((word) => `'${word}'`).join(' ')} >/dev/null 2>&1 & sleep 0.1; until ls '${job.path('waiters')}' | grep -q json; do sleep 0.05; done`;
  const shell = spawn('sh', ['-c', script], { cwd: workspace.dir, env: workspace.env, stdio: 'ignore' });
  await new Promise((resolve) => shell.once('exit', resolve));
  assert.equal(readdirSync(job.path('waiters')).length, 1);
  const { code, reply, text } = await ask(workspace);
  const sentence = 'but 1 of the waits was left alone by whoever started it: perhaps nobody hears it end';
  assert.deepEqual([code, reply.safe], [0, true]);
  assert.ok(reply.reason.endsWith(sentence), reply.reason);
  assert.ok(text.replaceAll('\n', ' ').includes(sentence), text);
  assert.match(
    (await run(workspace, ['idle-check', '--help'])).stdout.replace(/\s+/g, ' '),
    /wait whose starter is gone/,
  );
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  await eventually('the wait to be over', () => readdirSync(job.path('waiters')).length === 0);
});

test('a wait whose starter was gone before it could look is told in the same way; one in a session of its own is not', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const own = await holdOn(workspace, [job], '--timeout', '10m');
  assert.doesNotMatch((await ask(workspace)).text, /, but /);
  await killNow('the wait', own.identity);
  await own.promise;
  const words = [process.execPath, builtFile, 'wait', job.id, '--timeout', '10m'].map((word) => `'${word}'`).join(' ');
  const shell = spawn('sh', ['-c', `${words} >/dev/null 2>&1 & exit`], {
    cwd: workspace.dir,
    env: workspace.env,
    stdio: 'ignore',
    detached: true,
  });
  await new Promise((resolve) => shell.once('exit', resolve));
  const seen = await eventually('the wait', async () => {
    const now = await ask(workspace);
    return now.code === 0 && now;
  });
  assert.match(seen.reply.reason, /, but 1 of the waits was left alone/);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  await eventually('the wait to be over', () => !readdirSync(job.path('waiters')).some((one) => /^\d/.test(one)));
});

test('a canceled job is not named as one to collect, and a run past its --expect is told', async (t) => {
  const workspace = makeWorkspace(t);
  const gone = await launchHeld(workspace);
  assert.equal((await run(workspace, ['cancel', gone.id])).code, 0);
  const timer = await arm(workspace, 'in', '20m');
  assert.equal((await run(workspace, ['cancel', timer.id])).code, 0);
  const late = await launchHeld(workspace, { options: ['--expect', '1s'] });
  await holdOn(workspace, [late], '--timeout', '10m');
  const seen = await eventually('it to be late', async () => {
    const now = await ask(workspace);
    return now.text.includes('late:') && now;
  });
  assert.deepEqual([seen.code, seen.reply.uncollected], [0, []], seen.text);
  assert.match(seen.text, /late: {5}expected to take 1s, runs for /);
  late.release();
  assert.equal((await run(workspace, ['wait', late.id])).code, 0);
});
