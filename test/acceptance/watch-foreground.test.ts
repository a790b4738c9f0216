/** `watch ... --foreground`: one JSON line for each change, one terminal line, the exit code of the job - and what becomes of the job when its
 * foreground is interrupted, killed, or not read any more. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import * as z from 'zod/mini';
import { builtFile, type Running, type RunOptions, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job } from '../helpers/jobs.ts';
import { killByIdentity } from '../helpers/process.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeOracle, untilTold } from '../helpers/watches.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const common = {
  protocol: z.literal('job-companion.watch/v1'),
  at: z.iso.datetime(),
  kind: z.string(),
  id: z.string(),
  state: z.string(),
  evidence: z.string().check(z.maxLength(200)),
  seq: z.number(),
};
const status = z.looseObject({
  ...common,
  type: z.literal('status'),
  verdict: z.enum(['pending', 'met', 'failed', 'error']),
});
const terminal = z.looseObject({
  ...common,
  type: z.literal('terminal'),
  verdict: z.enum(['met', 'failed', 'error', 'expired', 'canceled']),
  outcome: z.string(),
  exit: z.number(),
  error: z.nullable(z.looseObject({ code: z.string(), message: z.string() })),
});
type Line = z.infer<typeof status> | z.infer<typeof terminal>;

/** Every line has its form; exactly one is terminal, and it is the last. */
function linesOf(stdout: string): Line[] {
  const lines = stdout.split('\n').slice(0, -1);
  assert.ok(stdout.endsWith('\n'));
  const parsed = lines.map((line, at) => (at === lines.length - 1 ? terminal : status).parse(JSON.parse(line)));
  return parsed;
}

function foreground(workspace: Workspace, words: string[], options?: RunOptions): Running {
  const [kind = '', ...rest] = words;
  return start(workspace, ['watch', kind, '--foreground', ...rest], options);
}

function jobOf(workspace: Workspace, running: Running): Promise<Job> {
  return eventually('the id', () => {
    const [, id] = /^job (\S+)/.exec(running.stderr()) ?? [];
    return id && findJob(workspace, id);
  });
}

test('a constant condition prints one status line, the verdict one terminal line, nothing else', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'exit 1');
  const running = foreground(workspace, ['cmd', '--every', '1s', '--for', '1h', '--', oracle.program]);
  await eventually('three looks', () => oracle.calls() >= 3, { limitMs: 20_000 });
  oracle.answer('echo done now');
  const { code, stdout } = await running.promise;
  assert.equal(code, 0);
  const lines = linesOf(stdout);
  assert.deepEqual(
    lines.map(({ type, verdict, state, evidence, exit_code }) => [type, verdict, state, evidence, exit_code]),
    [
      ['status', 'pending', 'pending', 'exit code 1', 1],
      ['terminal', 'met', 'met', 'exit code 0: done now', 0],
    ],
  );
});

test('the exit code is that of the job: failed, expired', async (t) => {
  const workspace = makeWorkspace(t);
  const failed = await foreground(workspace, [
    'cmd',
    '--fail-exit',
    '2',
    '--for',
    '1h',
    '--',
    '/bin/sh',
    '-c',
    'exit 2',
  ]).promise;
  assert.equal(failed.code, 3);
  assert.deepEqual(
    linesOf(failed.stdout).map(({ type, verdict }) => [type, verdict]),
    [['terminal', 'failed']],
  );
  const expired = await foreground(workspace, ['file', 'never', '--for', '1s']).promise;
  assert.equal(expired.code, 3);
  assert.deepEqual(
    linesOf(expired.stdout).map(({ type, verdict, state }) => [type, verdict, state]),
    [
      ['status', 'pending', 'missing'],
      ['terminal', 'expired', 'expired'],
    ],
  );
});

test('with --repeat a verdict is a status line, and trouble is told', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'exit 0');
  const running = foreground(workspace, ['cmd', '--every', '1s', '--repeat', '--for', '20s', '--', oracle.program]);
  const job = await jobOf(workspace, running);
  await untilTold(job, 1);
  oracle.answer('exec yes');
  await eventually('trouble', () => job.events('trouble').length === 1, { limitMs: 15_000 });
  oracle.answer('exit 0');
  const { code, stdout } = await running.promise;
  assert.equal(code, 3);
  assert.deepEqual(
    linesOf(stdout).map(({ type, verdict, state }) => [type, verdict, state]),
    [
      ['status', 'met', 'met'],
      ['status', 'error', 'trouble'],
      ['status', 'pending', 'recovered'],
      ['terminal', 'expired', 'expired'],
    ],
  );
  const last = linesOf(stdout).at(-1);
  assert.deepEqual([last?.changes, last?.watched_to_end], [0, true]);
  assert.match(last?.evidence ?? '', /watched to its end as asked, nothing changed/);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} cancels the job, with one terminal line and exit code 4`, async (t) => {
    const workspace = makeWorkspace(t);
    const running = foreground(workspace, ['file', 'never', '--for', '1h']);
    const job = await jobOf(workspace, running);
    await eventually('a line', () => running.stdout().includes('\n'));
    running.kill(signal);
    const { code, stdout } = await running.promise;
    assert.equal(code, 4);
    assert.deepEqual(
      linesOf(stdout).map(({ type, state }) => [type, state]),
      [
        ['status', 'missing'],
        ['terminal', 'canceled'],
      ],
    );
    assert.equal(job.state().state, 'canceled');
  });
}

test('a foreground that is killed leaves the job to go on', async (t) => {
  const workspace = makeWorkspace(t);
  const running = foreground(workspace, ['file', 'out', '--for', '1h']);
  const job = await jobOf(workspace, running);
  await untilTold(job);
  killByIdentity(running.identity);
  await running.promise;
  assert.equal(job.state().state, 'running');
  workspace.write('out', 'x');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('a reader that goes away leaves the job to go on, and the foreground says so and leaves', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'exit 1');
  const words = ['watch', 'cmd', '--foreground', '--repeat', '--every', '1s', '--for', '1h', '--', oracle.program];
  const child = spawn(testNode(), [builtFile, ...words], { cwd: workspace.dir, env: workspace.env });
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve([code, signal])));
  let stderr = '';
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.stdout.destroy();
  oracle.answer('exit 0');
  assert.deepEqual(await ended, [2, null]);
  const [, id = ''] =
    /^job (\S+) .*\nthe reader is gone; job \1 runs on; collect: .* wait \1 --timeout 10m\n$/.exec(stderr) ?? [];
  const job = findJob(workspace, id);
  assert.equal(job.state().state, 'running');
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
});

test('a foreground waits: it registers as one, and survives the loss of the worker', async (t) => {
  const workspace = makeWorkspace(t);
  const running = foreground(workspace, ['file', 'out', '--for', '1h']);
  const job = await jobOf(workspace, running);
  await untilTold(job);
  assert.equal(readdirSync(job.path('waiters')).length, 1);
  killByIdentity(job.identity('worker'));
  await eventually('a replacement', () => job.launch().generation === 2, { limitMs: 20_000 });
  workspace.write('out', 'x');
  const { code, stdout } = await running.promise;
  assert.equal(code, 0);
  assert.deepEqual(
    linesOf(stdout).map(({ state }) => state),
    ['missing', 'exists'],
  );
  assert.equal(job.has('collected.json'), true);
});
