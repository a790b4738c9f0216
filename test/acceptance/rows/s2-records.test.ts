/**
 * S2, what is true after a wake: clocks, causes, losses and ends, read from what is on disk.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import test from 'node:test';
import * as z from 'zod';
import type { Identity, LaunchRecord, WorkerRecord } from '../../../companion/src/core/job.ts';
import { parseReply, run } from '../../helpers/companion.ts';
import { type Job, killNow, killSupervision, launch, launchHeld } from '../../helpers/jobs.ts';
import { runToEnd } from '../../helpers/rows.ts';
import { makeStaff } from '../../helpers/staff.ts';
import { launchWatch, makeOracle } from '../../helpers/watches.ts';
import { makeWorkspace, type Workspace } from '../../helpers/workspace.ts';

/** Everything of the job is gone, and the machine was booted again since. */
async function loseByRestart(workspace: Workspace): Promise<Job> {
  const job = await launchHeld(workspace);
  const child = job.identity('child');
  await killSupervision(job);
  await killNow('the child', child);
  const old = (identity: Identity) => ({ ...identity, boot_id: 'another-boot' });
  const launched = job.launch();
  const { worker, shim, child: started } = job.json<WorkerRecord>('worker.json');
  const records: [string, LaunchRecord | object][] = [
    ['launch.json', { ...launched, worker: old(launched.worker) }],
    ['worker.json', { worker: old(worker), shim: shim && old(shim), child: started && old(started) }],
  ];
  for (const [name, record] of records) writeFileSync(job.path(name), JSON.stringify(record));
  return job;
}

test('S2.53 every document that tells of a job tells the clock and its age', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const clock = z.object({ now: z.iso.datetime() });
  const aged = clock.extend({ age_ms: z.number().nonnegative() });
  const ask = async (...words: string[]) => parseReply(await run(workspace, words));
  aged.parse(await ask('observe', job.id));
  aged.parse(await ask('wait', job.id, '--timeout', '10ms', '--json'));
  clock.extend({ jobs: z.array(z.object({ age_ms: z.number() })).min(1) }).parse(await ask('status', '--json'));
  for (const verb of ['reconcile', 'idle-check']) clock.parse(await ask(verb, '--json'));
  const page = await run(workspace, ['reconcile']);
  assert.match(page.stdout, /^now \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/);
  job.release();
  aged.parse(await ask('wait', job.id, '--json'));
  aged.parse(await ask('result', job.id, '--json'));
});

test('S2.55 status and reconcile of an owner hold its jobs, each as it is on disk, and nobody else’s', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace, { options: ['--owner', 'lead'] });
  const failed = await runToEnd(workspace, ['--owner', 'lead', '--', 'false']);
  const other = await runToEnd(workspace, ['--owner', 'mate', '--', 'true']);
  const { jobs } = parseReply<{ jobs: { id: string; state: string }[] }>(
    await run(workspace, ['status', '--owner', 'lead', '--json']),
  );
  const expected = [
    [held.id, 'running'],
    [failed.job.id, 'failed'],
  ];
  assert.deepEqual(
    jobs.map(({ id, state }) => [id, state]),
    expected,
  );
  const page = await run(workspace, ['reconcile', '--owner', 'lead']);
  assert.equal(page.code, 0);
  for (const [id = ''] of expected) assert.ok(page.stdout.includes(id), page.stdout);
  assert.ok(!page.stdout.includes(other.job.id));
  held.release();
  assert.equal((await run(workspace, ['wait', held.id])).code, 0);
});

test('S2.56 a job of an earlier boot of the machine is crashed with that as its cause', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await loseByRestart(workspace);
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  assert.deepEqual([job.state().state, job.state().error?.code], ['crashed', 'host_restarted']);
  assert.match((await run(workspace, ['reconcile'])).stdout, new RegExp(`${job.id}[^]*(restart|boot)`));
});

test('S2.59 a job that runs longer than was expected asks for attention with that cause', async (t) => {
  const workspace = makeWorkspace(t);
  const probe = 'n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n; echo "{\\"completed\\":$n}"';
  const options = ['--expect', '1ms', '--probe', probe, '--checkpoint-every', '300ms', '--sample-every', '300ms'];
  const job = await launchHeld(workspace, { options });
  const woken = await run(workspace, ['wait', job.id, '--json', '--until', 'attention', '--timeout', '50s']);
  const { event } = parseReply<{ event: { attention_kind: string; reason: string } }>(woken);
  assert.deepEqual([woken.code, event.attention_kind], [2, 'task_attention']);
  assert.match(event.reason, /expected duration of 1ms/);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S2.88 a limit that is used up is an end with its own code, whatever the job was doing', async (t) => {
  const workspace = makeWorkspace(t);
  const words = ['--timeout', '1s', '--kill-after', '100ms', '--', 'sh', '-c', 'echo half; exec sleep 300'];
  const { wait, state } = await runToEnd(workspace, words);
  assert.deepEqual([wait.code, state.state, state.error?.code], [3, 'timed_out', 'hard_timeout']);
  assert.match(wait.stdout, /half/);
  assert.match(wait.stdout, /restart /);
});

test('S2.90 whichever reader comes first after a restart finds the loss', async (t) => {
  const workspace = makeWorkspace(t);
  for (const words of [['status'], ['observe'], ['reconcile']]) {
    const job = await loseByRestart(workspace);
    const { stdout } = await run(workspace, words[0] === 'reconcile' ? words : [...words, job.id]);
    assert.match(stdout, /host_restarted/, words[0]);
    assert.equal(job.state().error?.code, 'host_restarted');
  }
});

test('S2.93 a time in a record that cannot be read is damage, never a great age', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, state } = await runToEnd(workspace, ['--', 'true']);
  for (const field of ['created_at', 'started_at', 'ended_at']) {
    for (const value of ['yesterday', 17, '2026-13-45T00:00:00Z']) {
      writeFileSync(job.path('state.json'), JSON.stringify({ ...state, [field]: value }));
      const { code, stdout, stderr } = await run(workspace, ['status', job.id]);
      assert.equal(code, 3, `${field} ${value}`);
      assert.match(stdout + stderr, /damaged|state_damaged/);
    }
  }
  assert.equal((await run(workspace, ['clean', '--older-than', '0s', '--yes'])).code, 0);
  assert.ok(job.has('result.md'));
});

test('S2.100 an end stays what it was, whoever asks for another and however late something arrives', async (t) => {
  const workspace = makeWorkspace(t);
  const { job } = await runToEnd(workspace, ['--', 'false']);
  const before = job.text('state.json');
  assert.equal((await run(workspace, ['cancel', job.id])).code, 1);
  // Evidence of another end, after the fact.
  writeFileSync(job.path('exit.json'), JSON.stringify({ exit_code: 0, signaled: false }));
  writeFileSync(
    job.path('cancel.json'),
    JSON.stringify({ by: null, owner: null, at: new Date().toISOString(), why: 'x' }),
  );
  for (const verb of ['wait', 'status', 'observe', 'result'])
    assert.equal((await run(workspace, [verb, job.id])).code, 3);
  await run(workspace, ['reconcile']);
  assert.equal(job.text('state.json'), before);
  assert.equal(job.events('ended').length, 1);
});

test('S2.103 each way to end has one of the five codes, and the cause is data', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act('true');
  const oracle = makeOracle(workspace, 'exit 9');
  const canceled = await launchHeld(workspace);
  assert.equal((await run(workspace, ['cancel', canceled.id])).code, 0);
  const ways: [Job, number, string | undefined][] = [
    [await launch(workspace, ['--', 'true']), 0, undefined],
    [await launch(workspace, ['--', 'sh', '-c', 'exit 25']), 3, 'exit_nonzero'],
    [await launch(workspace, ['--', 'sh', '-c', 'kill -9 $$']), 3, 'signal'],
    [await launch(workspace, ['--timeout', '500ms', '--', 'sleep', '300']), 3, 'hard_timeout'],
    [await launch(workspace, ['--success-file', 'none', '--', 'true']), 3, 'artifact_missing'],
    [await staff.launch('staffer'), 3, 'no_final_answer'],
    [await launchWatch(workspace, ['cmd', '--fail-exit', '9', '--for', '1h', '--', oracle.program]), 3, 'watch_failed'],
    [canceled, 4, undefined],
  ];
  for (const [job, code, cause] of ways) {
    assert.equal((await run(workspace, ['wait', job.id])).code, code, job.id);
    assert.equal(job.state().error?.code, cause);
  }
  assert.equal((await run(workspace, ['wait', 'run-00000000-000000'])).code, 1);
  const held = await launchHeld(workspace);
  assert.equal((await run(workspace, ['wait', held.id, '--timeout', '10ms'])).code, 2);
  held.release();
  assert.equal((await run(workspace, ['wait', held.id])).code, 0);
});

test('S2.104 of many jobs with one bound no more than that are at work, and all come to their end in order', async (t) => {
  const workspace = makeWorkspace(t);
  const log = workspace.path('log');
  const script = 'echo "+ $0" >>"$1"; sleep 0.5; echo "- $0" >>"$1"';
  const ids: string[] = [];
  for (let at = 0; at < 8; at += 1)
    ids.push((await launch(workspace, ['--max-live', '2', '--', 'sh', '-c', script, `${at}`, log])).id);
  assert.equal((await run(workspace, ['wait', '--all', ...ids, '--timeout', '55s'])).code, 0);
  let live = 0;
  const started: number[] = [];
  for (const line of workspace.read('log').trim().split('\n')) {
    live += line.startsWith('+') ? 1 : -1;
    assert.ok(live <= 2, line);
    if (line.startsWith('+')) started.push(Number(line.slice(2)));
  }
  assert.equal(started.length, 8);
  // Two that are let in one after the other may write in either order.
  for (const [at, number] of started.entries()) assert.ok(Math.abs(number - at) <= 1, `${started}`);
});

test('S2.105 the lanes of an owner are one table for a file, whatever a label says', async (t) => {
  const workspace = makeWorkspace(t);
  const label = 'lane | `x`\n| --- | [y](z)';
  const job = await launchHeld(workspace, { options: ['--owner', 'lead', '--label', label] });
  const { code, stdout } = await run(workspace, ['status', '--owner', 'lead', '--markdown']);
  assert.equal(code, 0);
  const rows = stdout.split('\n').filter((line) => line.startsWith('|'));
  const cells = rows.map((row) => row.split(/(?<!\\)\|/).length);
  assert.deepEqual([rows.length, new Set(cells).size], [3, 1], stdout);
  for (const words of [job.id, 'lead', 'running', `wait ${job.id}`]) assert.ok(rows[2]?.includes(words), stdout);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});
