/**
 * S1, jobs and their waits beside a host: what outlives a session, what is found of jobs that slipped away, and what a wait says
 * to a caller who may only wait for minutes.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { builtFile, parseReply, run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { builtFiles, compareWithBuild } from '../../helpers/identity.ts';
import { findJob, launch, launchHeld, makeHold, untilGone, untilHeld, untilPid } from '../../helpers/jobs.ts';
import { makeLoop } from '../../helpers/loop.ts';
import { isAlive, killByIdentity, readIdentity } from '../../helpers/process.ts';
import { untilQuiet } from '../../helpers/rows.ts';
import { testNode } from '../../helpers/test-node.ts';
import { makeWorkspace } from '../../helpers/workspace.ts';

const root = join(import.meta.dirname, '../../..');
const sleeper = (file: string) => `sh -c 'echo $$ >${file}.new && mv ${file}.new ${file}; exec sleep 300'`;

test('S1.8 a process that a command left in the background is ended and told', async (t) => {
  const workspace = makeWorkspace(t);
  const [pid, end] = [join(workspace.base, 'pid'), join(workspace.base, 'end')];
  const line = `nohup ${sleeper(pid)} >/dev/null 2>&1 & while [ ! -e ${end} ]; do sleep 0.1; done`;
  const job = await launch(workspace, ['--', 'sh', '-c', line]);
  const left = await untilPid(pid);
  workspace.write('../end', '');
  const waited = await run(workspace, ['wait', job.id]);
  const { state, warnings } = job.state();
  assert.deepEqual([waited.code, state, isAlive(left)], [0, 'done', false]);
  assert.equal(warnings.length, 1);
  assert.match(`${warnings[0]?.code} ${warnings[0]?.message}`, /left|orphan/);
  assert.match(waited.stderr, /left/);
});

test('S1.52 a job slipped into the background three shells deep is found after the fact', async (t) => {
  const workspace = makeWorkspace(t);
  const [pid, end] = [join(workspace.base, 'pid'), join(workspace.base, 'end')];
  const inner = workspace.write('inner.sh', `setsid ${sleeper(pid)} >/dev/null 2>&1 & disown 2>/dev/null; true\n`);
  const line = `bash -c "bash -c 'bash ${inner}'"; while [ ! -e ${end} ]; do sleep 0.1; done`;
  const job = await launch(workspace, ['--', 'bash', '-c', line]);
  const left = await untilPid(pid);
  workspace.write('../end', '');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.equal(isAlive(left), false);
  assert.equal(job.state().warnings.length, 1);
  await untilQuiet(workspace);
});

test('S1.19 a wait with a host-sized patience gives 2 when it expires, and prints the command that waits on', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const expired = await run(workspace, ['wait', job.id, '--timeout', '300ms']);
  assert.equal(expired.code, 2);
  const again = expired.stdout.trim().split('\n').at(-1) ?? '';
  assert.match(again, new RegExp(` wait .*${job.id}`));
  const long = start(workspace, ['wait', job.id, '--timeout', '9m']);
  const next = spawn('sh', ['-c', again], { cwd: workspace.dir, env: workspace.env, stdio: 'ignore' });
  const over = new Promise((resolve) => next.once('exit', resolve));
  await eventually('both waits', () => readdirSync(job.path('waiters')).length >= 1, { limitMs: 20_000 });
  job.release();
  // The one that was printed has the patience of the first: it may be over before the job is.
  assert.ok([0, 2].includes((await over) as number));
  assert.equal((await long.promise).code, 0);
});

test('S1.26 status of a job names its log', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const { code, stdout } = await run(workspace, ['status', job.id]);
  assert.equal(code, 2);
  assert.ok(stdout.includes(job.path('output.log')), stdout);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S1.28 a job runs on when the whole group of the session that started it is killed', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const id = join(workspace.base, 'id');
  // A session that waits for its job, with a shell around it.
  const line = `"$0" "$1" run --id-only -- ${hold.command.join(' ')} >${id}; "$0" "$1" wait`;
  const options = { cwd: workspace.dir, env: workspace.env, detached: true, stdio: 'ignore' } as const;
  const session = spawn('sh', ['-c', line, testNode(), builtFile], options);
  const leader = readIdentity(session.pid!)!;
  workspace.defer(() => killByIdentity(leader));
  await untilHeld(hold);
  await eventually('the id', () => existsSync(id) && readFileSync(id, 'utf8').includes('\n'));
  const job = findJob(workspace, readFileSync(id, 'utf8').trim());
  await eventually('its wait', () => readdirSync(job.path('waiters')).length === 1, { limitMs: 20_000 });
  process.kill(-leader.pid, 'SIGKILL');
  await untilGone('the session', leader);
  await eventually('the job to run', () => job.state().state === 'running');
  assert.ok(isAlive(job.identity('child')));
  hold.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.equal(job.launch().generation, 1);
});

test('S1.42 there is one companion, it is what its sources make, and a copy of it alone runs', async (t) => {
  assert.deepEqual(await compareWithBuild(root), []);
  assert.ok(existsSync(join(root, 'companion', builtFiles[0])));
  const workspace = makeWorkspace(t);
  workspace.write('plugin/job-companion.cjs', readFileSync(builtFile));
  const copy = spawn(testNode(), [workspace.path('plugin/job-companion.cjs'), 'run', '--wait', '--', 'echo', 'x'], {
    cwd: workspace.dir,
    env: workspace.env,
    stdio: 'ignore',
  });
  assert.equal(await new Promise((resolve) => copy.once('exit', resolve)), 0);
});

test('S1.51 what a job tells stays on disk, and each reader gets it from where it left off', async (t) => {
  const workspace = makeWorkspace(t);
  const options = ['--checkpoint-every', '300ms', '--sample-every', '300ms'];
  const job = await launchHeld(workspace, { options });
  const from = async (seq: number) => {
    const words = ['wait', job.id, '--json', '--until', 'checkpoint', '--after-seq', String(seq), '--timeout', '50s'];
    const result = await run(workspace, words);
    assert.equal(result.code, 2);
    return parseReply<{ next_seq: number }>(result).next_seq;
  };
  const first = await from(0);
  const second = await from(first);
  assert.ok(second > first);
  // Another reader, from the start: nothing was taken away by the first.
  const observed = parseReply<{ events: { seq: number; type: string }[] }>(
    await run(workspace, ['observe', job.id, '--after-seq', '0']),
  );
  assert.deepEqual(
    observed.events.slice(0, 2).map(({ seq }) => seq),
    [1, 2],
  );
  const numbers = job.events().map(({ seq }) => seq);
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  );
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S1.53 the gate does not say finished while a job of the loop lives, and names it with the command', async (t) => {
  const at = await makeLoop(t);
  for (let count = 0; count < 3; count += 1) await at.iterate();
  const held = await launchHeld(at, { options: ['--milestone', 'm3'] });
  const report = await at.gate();
  assert.deepEqual([report.code, report.verdict, report.failed_checks], [3, 'NO-GO', ['E2b']]);
  assert.match(report.fixes[0]?.what ?? '', new RegExp(`job ${held.id} of milestone m3 is still live`));
  assert.match(report.fixes[0]?.command ?? '', new RegExp(` wait ${held.id}`));
  held.release();
  assert.equal((await run(at, ['wait', held.id])).code, 0);
  assert.equal((await at.gate()).code, 0);
});
