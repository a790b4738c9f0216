/**
 * `cancel`: 0 only when the whole tree is gone and the report is stored; the same answer when asked again; nothing for a
 * job that had ended; and it works without a worker. Against a normal end there is one winner, for ever.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  type Job,
  killNow,
  launch,
  launchHeld,
  launchUnstarted,
  program,
  untilPid,
  untilStarted,
} from '../helpers/jobs.ts';
import { type Identity, isAlive } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const members = ['child', 'stubborn', 'session', 'bare', 'daemon'] as const;

test('cancel ends a TERM-proof grandchild, children in sessions of their own and a daemon, and stores a report', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, tree } = await launchTree(workspace);
  const waiting = start(workspace, ['wait', job.id]);
  const { code, stdout } = await run(workspace, ['cancel', job.id, '--why', 'wrong branch', '--owner', 'tester']);
  // Told means gone: no waiting here.
  for (const [name, identity] of tree) assert.equal(isAlive(identity), false, name);
  assert.equal(code, 0);
  assert.ok(stdout.includes(job.path('result.md')), stdout);
  const state = job.state();
  assert.deepEqual([state.state, state.error, job.has('reserve')], ['canceled', null, false]);
  const report = job.text('result.md');
  assert.match(report, /^Canceled by tester at \S+: wrong branch\. \d+ process\(es\) ended; SIGKILL was needed\.$/m);
  const record = job.json<{ ended_by: string; ended_processes: { pid: number }[]; survivors: unknown[] }>(
    'result.json',
  );
  const named = record.ended_processes.map(({ pid }) => pid);
  for (const [name, { pid }] of tree) assert.ok(named.includes(pid), `${name} is named`);
  assert.deepEqual([record.ended_by, record.survivors], ['kill', []]);
  const waited = await waiting.promise;
  assert.deepEqual([waited.code, waited.stdout], [4, report]);
  assert.equal((await run(workspace, ['result', job.id])).code, 4);
});

test('cancel of a tree that obeys says that TERM was enough', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launch(workspace, ['--', 'sleep', '100']);
  await untilStarted(job);
  const reply = await run(workspace, ['cancel', job.id, '--json']);
  const expected = {
    id: job.id,
    result: 'canceled',
    state: 'canceled',
    error: null,
    result_path: job.path('result.md'),
  };
  assert.deepEqual([reply.code, parseReply(reply)], [0, expected]);
  assert.match(job.text('result.md'), /1 process\(es\) ended; the tree ended on SIGTERM/);
  assert.deepEqual([job.state().signal, job.state().signal_certain], ['SIGTERM', true]);
});

test('a second cancel gives 0 again and changes nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  const before = ['state.json', 'result.md', 'cancel.json', 'events.ndjson'].map(job.text);
  assert.equal((await run(workspace, ['cancel', job.id, '--why', 'later'])).code, 0);
  assert.deepEqual(['state.json', 'result.md', 'cancel.json', 'events.ndjson'].map(job.text), before);
});

test('five cancels at once all give 0 and leave one request and one end', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const replies = await Promise.all(Array.from({ length: 5 }, () => run(workspace, ['cancel', job.id])));
  assert.deepEqual(
    replies.map(({ code }) => code),
    [0, 0, 0, 0, 0],
    replies.map(({ stderr }) => stderr).join(''),
  );
  assert.deepEqual([job.events('ended').length, job.events('cancel_requested').length], [1, 1]);
});

test('cancel of a job that has ended gives 1, names its end, and changes nothing', async (t) => {
  const workspace = makeWorkspace(t);
  for (const [command, end] of [
    ['true', 'done'],
    ['false', 'failed (exit_nonzero'],
  ] as const) {
    const job = await launch(workspace, ['--', command]);
    await run(workspace, ['wait', job.id]);
    const before = job.text('state.json');
    const { code, stdout, stderr } = await run(workspace, ['cancel', job.id]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.ok(stderr.includes(`cannot cancel job ${job.id}: it ended as ${end}`), stderr);
    assert.deepEqual([job.text('state.json'), job.has('cancel.json')], [before, false]);
  }
});

test('cancel takes whole ids only', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  for (const id of [job.id.slice(0, -2), 'run-nothing-here00', `../jobs/${job.id}`, '']) {
    const { code, stdout } = await run(workspace, ['cancel', id]);
    assert.deepEqual([code, stdout], [1, ''], id);
  }
  assert.deepEqual([job.state().state, job.has('cancel.json')], ['running', false]);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
});

test('cancel works when the worker was killed before', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, tree } = await launchTree(workspace);
  await killNow('the worker', job.identity('worker'));
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  for (const [name, identity] of tree) assert.equal(isAlive(identity), false, name);
  assert.deepEqual([job.state().state, job.launch().generation], ['canceled', 2]);
  assert.match(job.text('result.md'), /SIGKILL was needed/);
});

test('cancel works when the worker is killed in the middle of it', async (t) => {
  const workspace = makeWorkspace(t);
  const { job, tree } = await launchTree(workspace, '2s');
  const canceling = start(workspace, ['cancel', job.id]);
  await eventually('the tree to be told', () => job.has('started/reason'));
  await killNow('the worker', job.identity('worker'));
  assert.equal((await canceling.promise).code, 0);
  for (const [name, identity] of tree) assert.equal(isAlive(identity), false, name);
  assert.deepEqual([job.state().state, job.events('ended').length], ['canceled', 1]);
});

test('cancel of a job whose worker was killed before the child started gives 0, and nothing is ever executed', async (t) => {
  const workspace = makeWorkspace(t);
  const executions = join(workspace.base, 'executions');
  const command = ['sh', '-c', 'echo "$JOB_ID" >>"$1"; exec sleep 100', 'sh', executions];
  const job = await launchUnstarted(workspace, ['--', ...command]);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.deepEqual([job.state().state, job.has('started'), hasExecuted(executions, job)], ['canceled', false, false]);
  assert.equal((await run(workspace, ['wait', job.id])).code, 4);
});

test('cancel right after the launch gives 0', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launch(workspace, ['--', 'sleep', '100']);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.equal(job.state().state, 'canceled');
});

function hasExecuted(executions: string, job: Job): boolean {
  return existsSync(executions) && readFileSync(executions, 'utf8').includes(job.id);
}

async function launchTree(workspace: Workspace, grace = '500ms'): Promise<{ job: Job; tree: [string, Identity][] }> {
  const folder = join(workspace.base, 'tree');
  mkdirSync(folder);
  const job = await launch(workspace, ['--kill-after', grace, '--', 'sh', program('grow-tree.sh'), folder]);
  const tree: [string, Identity][] = [];
  for (const name of members) tree.push([name, await untilPid(join(folder, name))]);
  await untilStarted(job);
  return { job, tree };
}
