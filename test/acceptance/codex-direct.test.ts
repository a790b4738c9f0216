/**
 * The pinned codex itself, called as codex.ts plans it and without a job around it: its words still mean what the backend
 * takes them for. When codex changes, this file says so; what jobs make of it is in codex.test.ts.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { StaffRequest } from '../../companion/src/backends/backend.ts';
import { codex } from '../../companion/src/backends/codex.ts';
import { replayLines } from '../backends/replay.ts';
import { makeRequest } from '../backends/request.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { type CodexLab, makeCodexLab } from '../lab/codex-lab.ts';
import { plainText, toolCommand, toolText } from '../lab/model-server/scenarios.mjs';

test('codex, run: the text is the answer, and a clean success has no warning', async (t) => {
  const { reading, verdict } = await call(await makeLab(t, 'text'), { profile: 'restricted' });
  assert.deepEqual(verdict, { answer: plainText, error: null, warnings: [] });
  assert.match(reading.conversationId ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(reading.usage?.total_tokens, 120);
});

for (const profile of ['restricted', 'standard', 'unrestricted'] as const) {
  test(`codex, run: a tool call is noted from start to end (${profile})`, async (t) => {
    const { reading, verdict } = await call(await makeLab(t, 'tool'), { profile });
    assert.deepEqual([verdict.answer, verdict.error], [toolText, null]);
    const [shell] = reading.tools;
    assert.equal(reading.toolCount, 1);
    assert.equal(shell?.status, 'completed');
    assert.ok(shell?.input.includes(toolCommand), shell?.input);
    assert.equal(shell?.output, 'from-the-lab-tool\n');
  });
}

const failures: [scenario: string, code: string, words: RegExp][] = [
  ['e401', 'auth', /401 Unauthorized: Incorrect API key/],
  ['e429', 'quota', /429 Too Many Requests/],
  ['e500', 'agent_error', /high demand/],
  ['cut', 'agent_error', /stream disconnected/],
  ['empty', 'no_final_answer', /empty/],
];

for (const [scenario, code, words] of failures) {
  test(`codex, run: ${scenario} is ${code}`, async (t) => {
    const { verdict } = await call(await makeLab(t, scenario), { profile: 'restricted' });
    assert.equal(verdict.error?.code, code);
    assert.match(verdict.error?.message ?? '', words);
    assert.equal(verdict.answer, null);
  });
}

test('codex, run: a used-up allowance is quota with its reset time', async (t) => {
  const inTwoHours = Math.floor(Date.now() / 1000) + 7200;
  const prompt = `Hello.\nresets: ${inTwoHours}`;
  const { verdict } = await call(await makeLab(t, 'quota'), { profile: 'restricted', prompt });
  assert.equal(verdict.error?.code, 'quota');
  assert.match(verdict.error?.resets ?? '', /\d:\d\d [AP]M$/);
});

test('codex, run: a missing key is auth', async (t) => {
  const lab = await makeLab(t, 'text');
  const { verdict } = await call(lab, { profile: 'restricted' }, { LAB_KEY: undefined });
  assert.equal(verdict.error?.code, 'auth');
});

test('codex, run: an unknown conversation is session_lost, a known one goes on under the same id', async (t) => {
  const lab = await makeLab(t, 'count');
  const unknown = await call(lab, { profile: 'restricted', resume: '00000000-0000-4000-8000-000000000000' });
  assert.equal(unknown.verdict.error?.code, 'session_lost');

  const first = await call(lab, { profile: 'standard' });
  assert.equal(first.verdict.answer, 'user turns: 1');
  const resume = first.reading.conversationId;
  for (const [n, profile] of (['standard', 'restricted', 'unrestricted'] as const).entries()) {
    const next = await call(lab, { profile, resume });
    assert.deepEqual([next.verdict.error, next.verdict.answer], [null, `user turns: ${n + 2}`]);
    assert.equal(next.reading.conversationId, resume);
  }
});

test('codex, run: a refused option is agent_error in the words of codex', async (t) => {
  const { verdict } = await call(await makeLab(t, 'text'), { profile: 'restricted' }, {}, ['--no-such-flag']);
  assert.deepEqual(verdict.error, {
    code: 'agent_error',
    message: "unexpected argument '--no-such-flag' found",
  });
});

const writes = 'for f in made.txt .job-state/made.txt; do echo x > $f && echo "wrote $f"; done; true';

for (const [profile, resumed, wide] of [
  ['restricted', false, false],
  ['standard', false, false],
  ['standard', false, true],
  ['standard', true, true],
] as const) {
  const what = `${profile}${resumed ? ', resumed' : ''}${wide ? ', with a user config that allows everything' : ''}`;
  test(`codex, run: the state folder is out of its reach (${what})`, async (t) => {
    const lab = await makeLab(t, 'text');
    const extra = wide ? { userConfig: 'sandbox_mode = "danger-full-access"' } : {};
    lab.codex.use('text', extra);
    const resume = resumed ? (await call(lab, { profile: 'unrestricted' })).reading.conversationId : null;
    lab.codex.use('shell', extra);
    const { verdict } = await call(lab, { profile, resume, prompt: `Write.\ncommand: ${writes}` });
    assert.equal(verdict.error, null);
    assert.match(verdict.answer ?? '', /Read-only file system/);
    assert.equal(existsSync(lab.workspace.path('made.txt')), profile !== 'restricted');
    assert.equal(existsSync(lab.workspace.path('.job-state/made.txt')), false);
  });
}

interface Lab {
  workspace: Workspace;
  codex: CodexLab;
}

async function makeLab(t: test.TestContext, scenario: string): Promise<Lab> {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('.job-state'));
  return { workspace, codex: await makeCodexLab(workspace, scenario) };
}

/** One run of codex, folded and judged. `extra` goes between `exec` and the planned options. */
async function call(
  { workspace, codex: lab }: Lab,
  request: Partial<StaffRequest>,
  env: Record<string, string | undefined> = {},
  extra: string[] = [],
) {
  const whole = makeRequest({
    prompt: 'Say hello.',
    cwd: workspace.dir,
    deadlineMs: 60_000,
    stateRoot: workspace.path('.job-state'),
    promptFile: join(workspace.base, 'unused'),
    settingsFile: join(workspace.base, 'unused'),
    ...request,
  });
  const plan = codex.plan(whole);
  const child = spawn(lab.program, [...plan.args.slice(0, 1), ...extra, ...plan.args.slice(1)], {
    cwd: workspace.dir,
    env: { ...lab.env, ...env },
    stdio: 'pipe',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  child.stdin.on('error', () => {}).end(plan.stdin);
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const [exitCode, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, name) => resolve([code, name]));
  });
  return replayLines(
    codex,
    texts.stdout.split('\n'),
    { exitCode, signal, stderrTail: texts.stderr },
    { resume: whole.resume },
  );
}
