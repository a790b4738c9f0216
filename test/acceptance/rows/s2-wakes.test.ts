/**
 * S2, wakes: the exit of a wait is the wake, its timeout the backstop, and neither depends on who else looks.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, utimesSync } from 'node:fs';
import test from 'node:test';
import { builtFile, parseReply, run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { type Job, launch, launchHeld, launchUnstarted, makeHold, untilHeld } from '../../helpers/jobs.ts';
import { runToEnd } from '../../helpers/rows.ts';
import { makeStaff, until } from '../../helpers/staff.ts';
import { testNode } from '../../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../../helpers/workspace.ts';

const often = ['--checkpoint-every', '300ms', '--sample-every', '300ms'];
const untilAwaited = (job: Job, count = 1) =>
  eventually(`${count} waits`, () => readdirSync(job.path('waiters')).length >= count, { limitMs: 20_000 });
const digestOf = (job: Job) => {
  const files = ['spec.json', 'launch.json', 'worker.json', 'state.json', 'events.ndjson'];
  return files.map((file) => createHash('sha256').update(job.text(file)).digest('hex'));
};

/** A printed command, as whoever copies it runs it. */
function paste({ dir, env }: Workspace, command: string): Promise<{ code: number | null; stdout: string }> {
  const shell = spawn('sh', ['-c', command], { cwd: dir, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let stdout = '';
  shell.stdout.on('data', (text) => {
    stdout += text;
  });
  return new Promise((resolve) => shell.once('close', (code) => resolve({ code, stdout })));
}

test('S2.4 a wait in the background is woken by the end of its job, and by its own timeout when no end comes', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const words = `'${testNode()}' '${builtFile}' wait ${job.id} --timeout`;
  assert.equal((await paste(workspace, `${words} 300ms & wait $!`)).code, 2);
  const woken = paste(workspace, `${words} 25m & wait $!`);
  await untilAwaited(job);
  job.release();
  assert.equal((await woken).code, 0);
});

test('S2.13 the call that a launch prints for collecting is the one that delivers the result', async (t) => {
  const workspace = makeWorkspace(t);
  const told = await run(workspace, ['run', '--', 'echo', 'the result']);
  const command = /^collect: (.*)$/m.exec(told.stdout)?.[1] ?? assert.fail(told.stdout);
  assert.deepEqual(await paste(workspace, command), { code: 0, stdout: 'the result\n' });
});

test('S2.17 what happened is kept whether or not anybody waits, and observe says up to where somebody was told', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: often });
  await eventually('three checkpoints', () => job.events('checkpoint').length >= 3, { limitMs: 20_000 });
  const seen = async () =>
    parseReply<{ last_collected_seq: number | null; collected: object | null }>(
      await run(workspace, ['observe', job.id]),
    );
  assert.deepEqual([(await seen()).last_collected_seq, (await seen()).collected], [null, null]);
  const wait = await run(workspace, ['wait', job.id, '--json', '--until', 'checkpoint', '--timeout', '50s']);
  assert.equal((await seen()).last_collected_seq, parseReply<{ next_seq: number }>(wait).next_seq);
  job.release();
  await eventually('its end', async () => (await run(workspace, ['status', job.id])).code === 0, { limitMs: 20_000 });
  assert.equal((await seen()).collected, null);
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.notEqual((await seen()).collected, null);
});

test('S2.25 a result that was collected is collected again, byte by byte', async (t) => {
  const workspace = makeWorkspace(t);
  const { wait, job } = await runToEnd(workspace, ['--', 'printf', 'a\\nb']);
  for (const verb of ['wait', 'result', 'wait']) {
    const again = await run(workspace, [verb, job.id]);
    assert.deepEqual([again.code, again.stdout], [wait.code, wait.stdout], verb);
  }
});

test('S2.34 a wait of 25 minutes is over when its job is', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const wait = start(workspace, ['wait', job.id, '--timeout', '25m']);
  await untilAwaited(job);
  job.release();
  assert.equal((await wait.promise).code, 0);
});

test('S2.43 a wait from another folder reads and is woken, and leaves the record of the job as it is', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const before = digestOf(job);
  const words = ['--state-dir', workspace.path('.job-state')];
  const observer = start(workspace, ['wait', job.id, ...words], { cwd: workspace.base });
  await untilAwaited(job);
  assert.deepEqual(digestOf(job), before);
  job.release();
  assert.equal((await observer.promise).code, 0);
});

test('S2.44 five waits share one job: killing, stopping and timing out some disturbs neither the others nor the job', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const before = digestOf(job);
  const waits = [0, 1, 2, 3].map(() => start(workspace, ['wait', job.id]));
  await untilAwaited(job, 4);
  waits[0]!.kill('SIGKILL');
  waits[1]!.kill('SIGSTOP');
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '200ms'])).code, 2);
  assert.deepEqual(digestOf(job), before);
  job.release();
  for (const wait of waits.slice(2)) assert.equal((await wait.promise).code, 0);
  waits[1]!.kill('SIGCONT');
  assert.equal((await waits[1]!.promise).code, 0);
});

test('S2.45 a command that runs on is handed over by its id, and the wait for it ends with its code and its tail', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace, 7);
  const script = 'seq 1 80; exec "$@"';
  const job = await launch(workspace, ['--', 'sh', '-c', script, 'sh', ...hold.command]);
  await untilHeld(hold);
  hold.release();
  const { code, stdout } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, job.state().exit_code], [3, 7]);
  assert.match(stdout, /^79\n80$/m);
  assert.doesNotMatch(stdout, /^30$/m);
});

test('S2.47 every launch returns while its job has all its work before it', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(`${until(workspace.path('go'))}; echo answer`);
  const hold = makeHold(workspace);
  const verbs = [
    ['run', '--id-only', '--', ...hold.command],
    ['watch', 'file', workspace.path('go'), '--for', '1h', '--id-only'],
    ['timer', 'in', '1h', '--id-only'],
    ['staffer', '--profile', 'standard', '--prompt', 'x', '--id-only'],
  ];
  const ids: string[] = [];
  for (const [verb = '', ...words] of verbs) {
    const { code, stdout, stderr } = await run(workspace, [verb, ...words]);
    assert.equal(code, 0, stderr);
    ids.push(stdout.trim());
  }
  for (const id of ids) assert.equal((await run(workspace, ['status', id])).code, 2, id);
  await untilHeld(hold);
  hold.release();
  workspace.write('go', '');
  assert.equal((await run(workspace, ['cancel', ids[2]!])).code, 0);
  assert.equal((await run(workspace, ['wait', '--all', ids[0]!, ids[1]!, ids[3]!])).code, 0);
});

test('S2.48 an expired wait gives 2 and the command that waits on; a job that could not start gives 3', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const expired = await run(workspace, ['wait', job.id, '--timeout', '100ms']);
  assert.equal(expired.code, 2);
  const again = paste(workspace, expired.stdout.trim().split('\n').at(-1) ?? '');
  await untilAwaited(job);
  job.release();
  assert.equal((await again).code, 0);
  // As if its launcher had died before there was a worker.
  const lost = await launchUnstarted(workspace, ['--', 'true']);
  for (const name of ['launch.json', 'worker.json', 'lease.json']) rmSync(lost.path(name), { force: true });
  // Ten seconds later, as the file says.
  utimesSync(lost.path('spec.json'), 1, 1);
  assert.equal((await run(workspace, ['wait', lost.id, '--timeout', '50s'])).code, 3);
  assert.deepEqual([lost.state().state, lost.state().error?.code], ['failed', 'never_started']);
});

test('S2.50 a wait that expired names the record on disk, what is known and the next command', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--label', 'the nightly build'] });
  const { code, stdout } = await run(workspace, ['wait', job.id, '--timeout', '100ms']);
  assert.equal(code, 2);
  for (const words of [job.path('output.log'), job.path('result.md'), 'the nightly build', '"state": "running"'])
    assert.ok(stdout.includes(words), `${words} is not in ${stdout}`);
  assert.match(stdout.trim().split('\n').at(-1) ?? '', new RegExp(`wait ${job.id} --timeout `));
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S2.54 a wake says whether it is the end, the timeout, a checkpoint or attention', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--expect', '1ms', ...often] });
  const wake = async (...words: string[]) =>
    parseReply<{ wake: string }>(await run(workspace, ['wait', job.id, '--json', ...words])).wake;
  assert.equal(await wake('--timeout', '100ms'), 'soft_timeout');
  assert.equal(await wake('--until', 'attention', '--timeout', '50s'), 'attention');
  const { seq } = job.events().at(-1)!;
  assert.match(await wake('--until', 'checkpoint', '--after-seq', `${seq}`, '--timeout', '50s'), /^checkpoint$/);
  job.release();
  assert.equal(await wake(), 'terminal');
});

test('S2.63 twenty wakes of one wait need no registration and use nothing up', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--checkpoint-every', '100ms', '--sample-every', '100ms'] });
  let seq = 0;
  for (let wakes = 0; wakes < 20; wakes += 1) {
    const words = ['wait', job.id, '--json', '--until', 'checkpoint', '--after-seq', `${seq}`, '--timeout', '50s'];
    const result = await run(workspace, words);
    assert.equal(result.code, 2);
    const { next_seq } = parseReply<{ next_seq: number }>(result);
    assert.ok(next_seq > seq);
    seq = next_seq;
  }
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S2.65 a wait that comes after the end returns at once, with the result', async (t) => {
  const workspace = makeWorkspace(t);
  const { job } = await runToEnd(workspace, ['--', 'echo', 'x']);
  const late = await run(workspace, ['wait', job.id, '--timeout', '0s']);
  assert.deepEqual([late.code, late.stdout], [0, 'x\n']);
});

test('S2.71 checkpoints and attention pass a plain wait by, and end one that asked for them', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--expect', '1ms', ...often] });
  const plain = start(workspace, ['wait', job.id]);
  const gates = ['--until', 'attention,handback', '--timeout', '50s'];
  assert.equal((await run(workspace, ['wait', job.id, ...gates])).code, 2);
  const count = job.events('checkpoint').length;
  await eventually('more checkpoints', () => job.events('checkpoint').length > count, { limitMs: 20_000 });
  assert.deepEqual([plain.child.exitCode, plain.stdout()], [null, '']);
  job.release();
  assert.equal((await plain.promise).code, 0);
});

test('S2.86 the end of another job, however fresh, is not the end that a wait was asked for', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const wait = start(workspace, ['wait', job.id]);
  await untilAwaited(job);
  for (const command of ['true', 'false']) await runToEnd(workspace, ['--owner', 'mate', '--', command]);
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '100ms'])).code, 2);
  assert.equal(wait.child.exitCode, null);
  job.release();
  assert.equal((await wait.promise).code, 0);
});

test('S2.99 without a cursor a wait is woken by the oldest event again, with one only by a newer event', async (t) => {
  const workspace = makeWorkspace(t);
  // It advances at each look, so that being late is its only cause.
  const probe = 'n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n; echo "{\\"completed\\":$n}"';
  const job = await launchHeld(workspace, { options: ['--expect', '1ms', '--probe', probe, ...often] });
  const ask = async (...words: string[]) =>
    parseReply<{ next_seq: number }>(
      await run(workspace, ['wait', job.id, '--json', '--until', 'attention', '--timeout', '50s', ...words]),
    ).next_seq;
  const first = await ask();
  assert.equal(await ask(), first);
  const newer = await run(workspace, [
    'wait',
    job.id,
    '--until',
    'attention',
    '--after-seq',
    `${first}`,
    '--timeout',
    '1s',
  ]);
  assert.equal(newer.code, 2);
  assert.match(newer.stderr, /not ended yet/);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});
