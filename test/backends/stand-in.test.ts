// The stand-ins for agy and cursor-agent (test/lab/agents), called with the command line that the backend plans and read by it: the
// verdict of every scenario, and that the prompt arrives byte for byte. They prove only that we read documented shapes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agy } from '../../companion/src/backends/agy.ts';
import type { Backend, StaffRequest } from '../../companion/src/backends/backend.ts';
import { cursor } from '../../companion/src/backends/cursor.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { replayLines } from './replay.ts';
import { makeRequest } from './request.ts';

interface Run {
  scenario: string;
  request?: Partial<StaffRequest>;
  earlierError?: string;
}

async function run(workspace: Workspace, backend: Backend, { scenario, request = {}, earlierError }: Run) {
  const asked = makeRequest({ cwd: workspace.dir, ...request });
  const plan = backend.plan(asked);
  const record = join(workspace.home, 'calls.ndjson');
  const script = join(import.meta.dirname, `../lab/agents/${backend.id}/${backend.id}.mjs`);
  const environment = { ...plan.environment, STAND_IN_SCENARIO: scenario, STAND_IN_RECORD: record };
  const child = spawn(process.execPath, [script, ...plan.args], {
    cwd: workspace.dir,
    env: { ...workspace.env, ...environment },
  });
  const [stdout, stderr, ending] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
      child.once('close', (exitCode, signal) => resolve({ exitCode, signal }));
      child.stdin.end(plan.stdin);
    }),
  ]);
  const options = { resume: asked.resume, earlierError: earlierError ?? null };
  const { reading, verdict } = replayLines(backend, stdout.split('\n'), { ...ending, stderrTail: stderr }, options);
  const calls = readFileSync(record, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { reading, verdict, error: verdict.error?.code ?? null, call: calls.at(-1), plan };
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

const verdicts: [backend: Backend, scenario: string, error: string | null][] = [
  [agy, 'text', null],
  [agy, 'tool', null],
  [agy, 'write', null],
  [agy, 'denied', 'permission_denied'],
  [agy, 'auth-timeout', 'auth'],
  [agy, 'e401', 'auth'],
  [agy, 'quota', 'quota'],
  [agy, 'error', 'agent_error'],
  [agy, 'cut', 'no_final_answer'],
  [agy, 'empty', 'no_final_answer'],
  [agy, 'killed', 'signal'],
  [agy, 'print-timeout', 'response_timeout'],
  [agy, 'background-killed', 'agent_error'],
  [agy, 'resumed-error', 'agent_error'],
  [cursor, 'text', null],
  [cursor, 'tool', null],
  [cursor, 'write', null],
  [cursor, 'denied', 'permission_denied'],
  [cursor, 'auth', 'auth'],
  [cursor, 'quota', 'quota'],
  [cursor, 'error', 'agent_error'],
  [cursor, 'cut', 'no_final_answer'],
  [cursor, 'empty', 'no_final_answer'],
  [cursor, 'killed', 'signal'],
];

for (const [backend, scenario, error] of verdicts) {
  test(`stand-in for ${backend.id}, ${scenario}: ${error ?? 'done'}`, async (t) => {
    const result = await run(makeWorkspace(t), backend, { scenario });
    assert.equal(result.error, error, JSON.stringify(result.verdict));
    if (error === null) assert.ok(result.verdict.answer);
    assert.equal(result.reading.unparsedLines, 0);
  });
}

const prompts = ['--help', '/usage', '-', 'a\'b"c`d$(e)\\\r\n\t\u{1f600}\u2028x\n', 'word '.repeat(60_000)];

test('agy gets every prompt as one line that holds it byte for byte', async (t) => {
  const workspace = makeWorkspace(t);
  for (const prompt of prompts) {
    const { call, error } = await run(workspace, agy, { scenario: 'text', request: { prompt } });
    assert.deepEqual(JSON.parse(Buffer.from(call.stdin, 'base64').toString('utf8')).message.content, prompt);
    assert.equal(call.cwd, workspace.dir);
    assert.equal(error, null);
  }
});

test('cursor-agent gets every prompt byte for byte', async (t) => {
  const workspace = makeWorkspace(t);
  for (const prompt of prompts) {
    const { call, plan } = await run(workspace, cursor, { scenario: 'text', request: { prompt } });
    assert.equal(Buffer.from(call.stdin, 'base64').toString('utf8'), prompt);
    assert.deepEqual(call.argv, plan.args);
  }
});

for (const backend of [agy, cursor]) {
  test(`${backend.id}: a conversation goes on under its id, an unknown one is told`, async (t) => {
    const workspace = makeWorkspace(t);
    const first = await run(workspace, backend, { scenario: 'text' });
    const resume = first.reading.conversationId ?? '';
    const second = await run(workspace, backend, { scenario: 'text', request: { resume } });
    assert.deepEqual([second.error, second.reading.conversationId], [null, resume]);
    const lost = await run(workspace, backend, { scenario: 'text', request: { resume: 'never-was' } });
    assert.equal(lost.error, backend === agy ? 'session_lost' : 'conversation_mismatch');
    const forced = await run(workspace, backend, { scenario: 'resume-unknown', request: { resume } });
    assert.equal(forced.error, backend === agy ? 'session_lost' : 'conversation_mismatch');
  });

  test(`${backend.id}: restricted runs no command`, async (t) => {
    const workspace = makeWorkspace(t);
    const { reading } = await run(workspace, backend, { scenario: 'write', request: { profile: 'restricted' } });
    assert.equal(reading.denials.length, 1);
    assert.ok(!readdirSync(workspace.dir).includes('made.txt'));
    await run(workspace, backend, { scenario: 'write' });
    assert.equal(workspace.read('made.txt'), 'hi\n');
  });
}

test('agy: usage runs on over the conversation', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await run(workspace, agy, { scenario: 'text' });
  const resume = first.reading.conversationId;
  const second = await run(workspace, agy, { scenario: 'text', request: { resume } });
  assert.deepEqual([first.reading.usage?.total_tokens, second.reading.usage?.total_tokens], [1040, 2080]);
});

test('agy: the error of an earlier turn beside a good answer is done with a warning', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await run(workspace, agy, { scenario: 'resumed-error' });
  const resume = first.reading.conversationId;
  const earlierError = first.verdict.error?.message ?? '';
  const second = await run(workspace, agy, { scenario: 'resumed-error', request: { resume }, earlierError });
  assert.deepEqual([second.error, second.verdict.answer], [null, 'Good answer.\n']);
  assert.deepEqual(second.verdict.warnings, [{ code: 'earlier_error_repeated', message: earlierError }]);
  const unknown = await run(workspace, agy, { scenario: 'resumed-error', request: { resume } });
  assert.equal(unknown.error, 'agent_error');
});
