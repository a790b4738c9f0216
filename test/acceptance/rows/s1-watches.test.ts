/**
 * S1, watched conditions: the bound, the lines in the foreground, the verdicts and the refusals, shown with conditions of this
 * machine. GitHub's have a file of their own.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, renameSync, unlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import * as z from 'zod';
import { parseReply, run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { findJob, type Job } from '../../helpers/jobs.ts';
import { listJobs, untilQuiet } from '../../helpers/rows.ts';
import { makeWorkspace, type Workspace } from '../../helpers/workspace.ts';

interface Line {
  type: string;
  verdict: string;
  state: string;
  [field: string]: unknown;
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

/** A tool whose exit code stands in a file. */
function makeTool(workspace: Workspace, code: number): { path: string; set(code: number): void } {
  const set = (next: number) => renameSync(workspace.write('code.new', `${next}\n`), workspace.path('code'));
  set(code);
  const path = workspace.write('bin/tool', '#!/bin/sh\nexit "$(cat "$(dirname "$0")/../code")"\n');
  chmodSync(path, 0o755);
  return { path, set };
}

async function watch(workspace: Workspace, ...words: string[]): Promise<Job> {
  const { code, stdout, stderr } = await run(workspace, ['watch', words[0]!, '--id-only', ...words.slice(1)]);
  assert.equal(code, 0, stderr);
  return findJob(workspace, stdout.trim());
}

/** Serves what `answer` says for each path. */
async function serve(t: TestContext, answer: (path: string) => { status: number; body: string }): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const { status, body } = answer(url);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('S1.2 a watch without a bound is refused, and status tells the bound of the others', async (t) => {
  const workspace = makeWorkspace(t);
  const refused = await run(workspace, ['watch', 'file', 'x']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /--for/);
  assert.deepEqual(listJobs(workspace), []);
  const job = await watch(workspace, 'file', 'x', '--for', '37m');
  const { stdout } = await run(workspace, ['status', job.id]);
  assert.match(stdout, /37m/);
  assert.equal(parseReply(await run(workspace, ['observe', job.id])).kind, 'watch');
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
});

test('S1.5 in the foreground each change is one line of JSON, and the exit code is the verdict', async (t) => {
  const workspace = makeWorkspace(t);
  const tool = makeTool(workspace, 7);
  const watching = start(workspace, ['watch', 'cmd', '--foreground', '--for', '50s', '--every', '1s', '--', tool.path]);
  const count = () => linesOf(watching.stdout()).length;
  await eventually('a line', () => count() === 1, { limitMs: 20_000 });
  tool.set(8);
  await eventually('another', () => count() === 2, { limitMs: 20_000 });
  tool.set(0);
  const { code, stdout } = await watching.promise;
  assert.equal(code, 0);
  assert.deepEqual(
    linesOf(stdout).map(({ type, verdict }) => [type, verdict]),
    [
      ['status', 'pending'],
      ['status', 'pending'],
      ['terminal', 'met'],
    ],
  );
});

test('S1.12 a command watch takes the meaning of its codes, and no program by a relative name', async (t) => {
  const workspace = makeWorkspace(t);
  const tool = makeTool(workspace, 4);
  const meaning = ['--met-exit', '4', '--fail-exit', '2'];
  const met = await watch(workspace, 'cmd', ...meaning, '--for', '50s', '--', tool.path);
  assert.equal((await run(workspace, ['wait', met.id])).code, 0);
  tool.set(2);
  const failed = await watch(workspace, 'cmd', ...meaning, '--for', '50s', '--', tool.path);
  assert.equal((await run(workspace, ['wait', failed.id])).code, 3);
  assert.equal(failed.state().error?.code, 'watch_failed');
  for (const name of ['bin/tool', './bin/tool', 'true']) {
    const { code, stderr } = await run(workspace, ['watch', 'cmd', '--for', '50s', '--', name]);
    assert.equal(code, 1, name);
    assert.match(stderr, /path/);
  }
  assert.equal(listJobs(workspace).length, 2);
});

test('S1.13 a tool that is gone ends the watch with its path, and another of its name does not take its place', async (t) => {
  const workspace = makeWorkspace(t);
  const tool = makeTool(workspace, 7);
  const other = workspace.write('elsewhere/tool', '#!/bin/sh\nexit 0\n');
  chmodSync(other, 0o755);
  const env = { PATH: `${workspace.path('elsewhere')}:${workspace.env.PATH}` };
  const words = ['watch', 'cmd', '--id-only', '--for', '50s', '--every', '1s', '--', tool.path];
  const job = findJob(workspace, (await run(workspace, words, { env })).stdout.trim());
  await eventually('the first look', () => job.events('news').length > 0, { limitMs: 20_000 });
  unlinkSync(tool.path);
  const { code, stdout } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, job.state().error?.code], [3, 'watch_error']);
  assert.ok(job.state().error?.message.includes(tool.path), stdout);
  // At a launch that is known before anything is made.
  assert.equal((await run(workspace, words, { env })).code, 1);
});

test('S1.25 a release is proved by its page, by the digest of its file, or by the version in a registry', async (t) => {
  const workspace = makeWorkspace(t);
  const body = 'the asset\n';
  const versions = { '1.2.3': { name: 'pkg', version: '1.2.3' } };
  const page = JSON.stringify({ name: 'pkg', 'dist-tags': { latest: '1.2.3' }, versions });
  const url = await serve(t, (path) => {
    if (path.startsWith('/pkg')) return { status: 200, body: page };
    return path === '/asset' ? { status: 200, body } : { status: 404, body: '{}' };
  });
  workspace.write('../home/.npmrc', `registry=${url}/\n`);
  const once = async (...words: string[]) => (await run(workspace, ['watch', ...words, '--once'])).code;
  const digest = createHash('sha256').update(body).digest('hex');
  assert.equal(await once('http', `${url}/asset`, '--status', '200'), 0);
  assert.equal(await once('http', `${url}/none`, '--status', '200'), 2);
  assert.equal(await once('http', `${url}/asset`, '--sha256', digest), 0);
  assert.equal(await once('http', `${url}/asset`, '--sha256', digest.replace(/./g, '0')), 2);
  assert.equal(await once('npm', 'pkg@1.2.3'), 0);
  assert.equal(await once('npm', 'pkg@1.2.4'), 2);
});

test('S1.30 every line has a protocol, a type, an instant, a kind and a state', async (t) => {
  const workspace = makeWorkspace(t);
  const tool = makeTool(workspace, 7);
  const document = z.object({
    protocol: z.string().min(1),
    type: z.enum(['status', 'terminal']),
    at: z.iso.datetime(),
    kind: z.literal('cmd'),
    state: z.string().min(1),
    verdict: z.enum(['pending', 'met', 'failed', 'error', 'expired', 'canceled']),
    evidence: z.string().max(200),
  });
  const words = ['watch', 'cmd', '--foreground', '--every', '1s', '--'];
  const { code, stdout } = await run(workspace, [...words.slice(0, -1), '--for', '2s', '--', tool.path]);
  assert.equal(code, 3);
  tool.set(0);
  const met = await run(workspace, [...words.slice(0, -1), '--for', '50s', '--', tool.path]);
  const lines = [...linesOf(stdout), ...linesOf(met.stdout)];
  assert.ok(lines.length >= 3);
  for (const line of lines) document.parse(line);
});

test('S1.31 an interval below the floor is refused: five seconds for what is asked over a network, one here', async (t) => {
  const workspace = makeWorkspace(t);
  for (const words of [
    ['http', 'http://127.0.0.1:9/', '--every', '4s'],
    ['ci', '--pr', '7', '--every', '1s'],
    ['file', 'x', '--every', '500ms'],
    ['file', 'x', '--every', '60'],
  ]) {
    const { code, stderr } = await run(workspace, ['watch', ...words, '--for', '1m']);
    assert.equal(code, 1, words.join(' '));
    assert.match(stderr, words[0] === 'file' ? /\b1s/ : /\b5s/);
  }
  assert.deepEqual(listJobs(workspace), []);
});

test('S1.32 bad words of a watch give 1 on stderr and make nothing; help is plain text and 0', async (t) => {
  const workspace = makeWorkspace(t);
  for (const words of [
    [],
    ['nothing'],
    ['file', '--for', '1m'],
    ['file', 'x', '--for', '0s'],
    ['file', 'x', '--for', '366d'],
    ['file', 'x', '--for', '1m', '--tolerate', '-1'],
    ['ci', '--pr', 'seven', '--for', '1m'],
    ['ci', '--repo', 'no slash', '--pr', '7', '--for', '1m'],
    ['http', 'ftp://x/', '--for', '1m'],
    ['cmd', '--for', '1m', '--met-exit', '300', '--', '/bin/true'],
  ]) {
    const { code, stdout, stderr } = await run(workspace, ['watch', ...words]);
    assert.deepEqual([code, stdout], [1, ''], words.join(' '));
    assert.match(stderr, /^job-companion: cannot /, words.join(' '));
  }
  const help = await run(workspace, ['watch', 'ci', '--help']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /--pr/);
  assert.deepEqual(listJobs(workspace), []);
});

test('S1.33 one look at a condition that does not hold yet gives 2, and makes no job', async (t) => {
  const workspace = makeWorkspace(t);
  const look = async () => (await run(workspace, ['watch', 'file', 'out', '--once'])).code;
  assert.equal(await look(), 2);
  workspace.write('out', 'x');
  assert.equal(await look(), 0);
  assert.deepEqual(listJobs(workspace), []);
});

test('S1.34 met is 0, failed and expired are 3, and each has a code of its own', async (t) => {
  const workspace = makeWorkspace(t);
  const tool = makeTool(workspace, 0);
  const end = async (code: number, bound = '50s') => {
    tool.set(code);
    const job = await watch(workspace, 'cmd', '--fail-exit', '2', '--for', bound, '--every', '1s', '--', tool.path);
    const waited = await run(workspace, ['wait', job.id]);
    return [waited.code, job.state().state, job.state().error?.code];
  };
  assert.deepEqual(await end(0), [0, 'done', undefined]);
  assert.deepEqual(await end(2), [3, 'failed', 'watch_failed']);
  assert.deepEqual(await end(7, '1s'), [3, 'timed_out', 'watch_expired']);
});

test('S1.38 a reading that stays the same is told once', async (t) => {
  const workspace = makeWorkspace(t);
  const tool = makeTool(workspace, 7);
  const words = ['watch', 'cmd', '--foreground', '--for', '4s', '--every', '1s', '--', tool.path];
  const { stdout } = await run(workspace, words);
  const lines = linesOf(stdout);
  assert.deepEqual(
    lines.map(({ type }) => type),
    ['status', 'terminal'],
  );
  const job = findJob(workspace, listJobs(workspace)[0]!);
  assert.ok((job.state().watch?.polls ?? 0) >= 2, `${job.state().watch?.polls} looks`);
});

test('S1.40 a canceled watch gives 4, to its waiters and in the foreground', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await watch(workspace, 'file', 'never', '--for', '1h');
  const waiting = start(workspace, ['wait', job.id]);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.equal((await waiting.promise).code, 4);
  const watching = start(workspace, ['watch', 'file', 'never', '--for', '1h', '--foreground']);
  await eventually('its first line', () => linesOf(watching.stdout()).length > 0, { limitMs: 20_000 });
  watching.kill('SIGINT');
  const { code, stdout } = await watching.promise;
  assert.equal(code, 4);
  assert.equal(linesOf(stdout).at(-1)?.type, 'terminal');
  await untilQuiet(workspace);
});

test('S1.41 whatever happens, there is exactly one terminal line and one end', async (t) => {
  const workspace = makeWorkspace(t);
  const tool = makeTool(workspace, 0);
  for (const code of [0, 2, 7]) {
    tool.set(code);
    const words = ['--foreground', '--for', '2s', '--every', '1s', '--fail-exit', '2', '--', tool.path];
    const { stdout } = await run(workspace, ['watch', 'cmd', ...words]);
    assert.equal(linesOf(stdout).filter(({ type }) => type === 'terminal').length, 1);
    assert.equal(linesOf(stdout).at(-1)?.type, 'terminal');
  }
  for (const id of listJobs(workspace)) assert.equal(findJob(workspace, id).events('ended').length, 1);
});

test('S1.44 a wait for a job, a file or a process that cannot be there is refused', async (t) => {
  const workspace = makeWorkspace(t);
  for (const [words, said] of [
    [['job', 'no-such-id'], /no-such-id/],
    [['pid', '4194399'], /4194399/],
    [['file', 'x', '--matches', '('], /\(/],
  ] as const) {
    const { code, stderr } = await run(workspace, ['watch', ...words, '--for', '1m']);
    assert.equal(code, 1, stderr);
    assert.match(stderr, said);
  }
  assert.deepEqual(listJobs(workspace), []);
});
