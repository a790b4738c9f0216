// Small programs of a job's own: whatever one does, the answer comes within its bounds, and nothing of its group is left.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { runTool, type ToolAnswer, type ToolCall } from '../../companion/src/platform/tool.ts';
import { eventually } from '../helpers/eventually.ts';
import { isAlive, killByIdentity, readIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const limit = 1024;

function tool(workspace: Workspace, script: string, change: Partial<ToolCall> = {}): Promise<ToolAnswer> {
  return runTool({
    program: '/bin/sh',
    args: ['-c', script],
    cwd: workspace.dir,
    environment: workspace.env,
    timeoutMs: 30_000,
    limit,
    ...change,
  });
}

const make = (t: TestContext) => makeWorkspace(t, { git: false });

const pidIn = (file: string) => Number(readFileSync(file, 'utf8'));

test('output, code and arguments arrive as they are', async (t) => {
  const answer = await runTool({
    program: '/bin/sh',
    args: ['-c', 'printf "%s|" "$@"; echo err >&2; exit 7', 'x', 'a b', "'", '$HOME', ''],
    cwd: '/',
    environment: make(t).env,
    timeoutMs: 30_000,
    limit,
  });
  assert.deepEqual([answer.how, answer.code, answer.reason], ['exited', 7, null]);
  assert.deepEqual([answer.stdout.toString(), answer.stderr.toString()], ["a b|'|$HOME||", 'err\n']);
});

test('it runs in its folder, with its environment and nothing else, and without input unless it is given some', async (t) => {
  const workspace = make(t);
  const bare = await tool(workspace, 'pwd; echo "${HOME-none}"; cat', { environment: { PATH: '/usr/bin:/bin' } });
  assert.equal(bare.stdout.toString(), `${workspace.dir}\nnone\n`);
  const given = await tool(workspace, 'cat', { input: 'a line\n' });
  assert.equal(given.stdout.toString(), 'a line\n');
});

test('input that nobody reads is no trouble, however much it is', async (t) => {
  const answer = await tool(make(t), 'exit 0', { input: 'x'.repeat(1024 * 1024) });
  assert.deepEqual([answer.how, answer.code], ['exited', 0]);
});

test('one that ignores TERM is killed a second after its time, with its children', async (t) => {
  const workspace = make(t);
  const script =
    'trap "" TERM; echo begun; sh -c \'trap "" TERM; echo $$ >child; while :; do sleep 1; done\' & while :; do sleep 1; done';
  const answer = await tool(workspace, script, { timeoutMs: 1000 });
  assert.deepEqual([answer.how, answer.code, answer.stdout.toString()], ['timeout', null, 'begun\n']);
  assert.equal(readIdentity(pidIn(workspace.path('child'))), undefined);
});

test('one that obeys TERM ends at once', async (t) => {
  const begun = performance.now();
  const answer = await tool(make(t), 'exec sleep 600', { timeoutMs: 200 });
  assert.equal(answer.how, 'timeout');
  assert.ok(performance.now() - begun < 30_000);
});

test('a flood is ended and its beginning kept', async (t) => {
  const out = await tool(make(t), 'yes');
  assert.deepEqual([out.how, out.code, out.stdout.length], ['flooded', null, limit]);
  const err = await tool(make(t), 'yes >&2');
  assert.deepEqual([err.how, err.stderr.length], ['flooded', limit]);
  const exact = await tool(make(t), `head -c ${limit} /dev/zero`);
  assert.deepEqual([exact.how, exact.code, exact.stdout.length], ['exited', 0, limit]);
});

test('what it left behind in its group is ended with the answer', async (t) => {
  const workspace = make(t);
  const answer = await tool(workspace, 'sleep 600 & echo $! >left; exit 4');
  assert.deepEqual([answer.how, answer.code], ['exited', 4]);
  // KILL was sent before the answer came; the kernel may take a moment to carry it out, and pid 1 to reap it.
  const left = readIdentity(pidIn(workspace.path('left')));
  await eventually('what it left to be gone', () => left === undefined || !isAlive(left));
});

test('what it left in a session of its own keeps nobody waiting', async (t) => {
  const workspace = make(t);
  const program = workspace.write(
    'leave.sh',
    "setsid sh -c 'echo $$ >left; exec sleep 600' &\nwhile [ ! -s left ]; do sleep 0.05; done\necho out\n",
  );
  const answer = await tool(workspace, `sh ${program}`);
  const left = readIdentity(pidIn(workspace.path('left')));
  assert.ok(left && isAlive(left), 'it should have escaped, or this test shows nothing');
  killByIdentity(left);
  assert.deepEqual([answer.how, answer.code, answer.stdout.toString()], ['exited', 0, 'out\n']);
});

test('one that cannot be executed says so by the code of the shell, and its own 127 looks the same', async (t) => {
  const workspace = make(t);
  const missing = await tool(workspace, '', { program: workspace.path('nothing') });
  assert.deepEqual([missing.how, missing.code], ['exited', 127]);
  assert.match(missing.stderr.toString(), /nothing/);
  const plain = workspace.write('plain', '#!/bin/sh\n');
  chmodSync(plain, 0o644);
  const refused = await tool(workspace, '', { program: plain });
  assert.deepEqual([refused.how, refused.code], ['exited', 126]);
  const own = await tool(workspace, 'exit 127');
  assert.deepEqual([own.how, own.code, own.stderr.length], ['exited', 127, 0]);
});

test('a folder that is not there is told, not thrown', async (t) => {
  const answer = await tool(make(t), 'exit 0', { cwd: '/no/such/folder' });
  assert.deepEqual([answer.how, answer.code], ['failed', null]);
  assert.match(answer.reason ?? '', /ENOENT/);
});

test('a death by signal is 128 and the signal', async (t) => {
  const answer = await tool(make(t), 'kill -s KILL $$');
  assert.deepEqual([answer.how, answer.code], ['exited', 137]);
});

test('one that ends its own group has no code', async (t) => {
  const answer = await tool(make(t), 'kill -s KILL 0');
  assert.deepEqual([answer.how, answer.code], ['exited', null]);
});

test('aborted: while it runs, and before it began', async (t) => {
  const workspace = make(t);
  const stop = new AbortController();
  const running = tool(workspace, 'echo $$ >pid; exec sleep 600', { signal: stop.signal });
  await eventually('it to run', () => existsSync(workspace.path('pid')) && pidIn(workspace.path('pid')) > 1);
  const pid = pidIn(workspace.path('pid'));
  stop.abort();
  assert.deepEqual([(await running).how, readIdentity(pid)], ['aborted', undefined]);
  const before = await tool(workspace, 'exec sleep 600', { signal: AbortSignal.abort() });
  assert.equal(before.how, 'aborted');
});
