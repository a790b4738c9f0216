// pi.ts: the command line of each profile and version, and what events and endings mean that no recording holds.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Backend } from '../../companion/src/backends/backend.ts';
import { pi } from '../../companion/src/backends/pi.ts';
import { replay, replayLines } from './replay.ts';
import { freshId, makeRequest } from './request.ts';

const head = ['--mode', 'json', '-p'];
const reading = ['--tools', 'read,grep,find,ls', '--no-extensions'];
const session = '01a22c01-c303-73d3-b5ff-ba5f1f1a94e2';

test('plan: the exact arguments of each profile; a new conversation gets its id from us', () => {
  const standard = pi.plan(makeRequest());
  assert.deepEqual(standard.args, [...head, '--session-id', freshId]);
  assert.equal(standard.conversationId, freshId);
  assert.deepEqual(pi.plan(makeRequest({ profile: 'unrestricted' })).args, standard.args);
  const restricted = pi.plan(makeRequest({ profile: 'restricted', version: '1.6.0' }));
  assert.deepEqual(restricted.args, [...head, ...reading, '--no-mcp', '--no-approve', '--session-id', freshId]);
});

test('plan: 0.x takes no id, and refuses the options that came with 1.x', () => {
  const plan = pi.plan(makeRequest({ profile: 'restricted', version: '0.73.1' }));
  assert.deepEqual(plan.args, [...head, ...reading]);
  assert.equal(plan.conversationId, null);
});

test('before 1.0 the settings of a project cannot be left aside: restricted is refused where there are some', () => {
  const policy = (pi as Backend).morePolicies?.find((one) => one.inWorkspace && one.file === '.pi/settings.json');
  const faultOf = (text: string, version: string | null) => policy?.findFault(text, 'restricted', version);
  const places = '{"sessionDir":"/somewhere","defaultModel":"m"}';
  assert.match(faultOf(places, '0.73.1') ?? '', /^pi 0\.73\.1 takes the project's own settings .*; 1\.0 or newer/);
  assert.match(faultOf(places, null) ?? '', /^pi of an unknown version takes/);
  for (const version of ['1.0.0', '1.6.0']) assert.equal(faultOf(places, version), null);
  assert.equal(faultOf('{}', '0.73.1'), null);
  for (const text of ['', '{', '[]', '// {}']) assert.throws(() => faultOf(text, '0.73.1'));
  for (const profile of ['standard', 'unrestricted'] as const)
    assert.equal(policy?.findFault(places, profile, '0.73.1'), null);
});

test('plan: model and conversation; the prompt is stdin as it is and never an argument', () => {
  for (const prompt of ['--help', '/exit', '@file', '!ls', 'a\'b"c`d$e\\\r\n\t😀']) {
    const plan = pi.plan(makeRequest({ prompt, model: 'p/m', resume: session }));
    assert.deepEqual(plan.args, [...head, '--model', 'p/m', '--session', session]);
    assert.equal(plan.promptBy, 'stdin');
    assert.equal(plan.stdin, prompt);
    assert.equal(plan.conversationId, null);
    assert.equal(plan.environment.PI_OFFLINE, '1');
  }
});

test('the text grows with its deltas and begins anew with each message', () => {
  const lines = [
    delta('text_start'),
    delta('text_delta', 'One'),
    delta('text_delta', ' two'),
    delta('thinking_delta', 'hm'),
  ];
  assert.equal(replayLines(pi, lines, clean).reading.text, 'One two');
  const next = [...lines, delta('text_start'), delta('text_delta', 'Three')];
  assert.equal(replayLines(pi, next, clean).reading.text, 'Three');
});

test('messages of other roles are neither text nor usage', () => {
  for (const role of ['system', 'user', 'toolResult']) {
    const message = { role, model: 'other', ...words('Not mine.'), usage: { input: 7, output: 7 } };
    const read = replayLines(pi, [opened, event('message_end', { message })], clean).reading;
    assert.deepEqual([read.text, read.usage, read.model], ['', null, null], role);
  }
});

test('the answer is the last message only; usage and cost are summed over all of them', () => {
  const first = assistant('toolUse', 'I look first.', { cost: { total: 0.25 }, input: 10, output: 2, cacheRead: 5 });
  const last = assistant('stop', 'It says one.', { cost: { total: 0.5 }, input: 20, output: 4, cacheWrite: 1 });
  const lines = [first, last].map((message) => event('message_end', { message }));
  const { reading: read, verdict } = replayLines(pi, [opened, ...lines, ended([first, last])], clean);
  assert.equal(verdict.error, null);
  assert.equal(verdict.answer, 'It says one.');
  assert.deepEqual(read.usage, { input_tokens: 36, output_tokens: 6, total_tokens: 42, cost_usd: 0.75 });
  assert.equal(read.model, 'm');
});

test('an end that a retry follows is none, told (1.x) or not (0.73)', () => {
  const failed = assistant('error', '', {}, '500: overloaded');
  const fine = assistant('stop', 'Fine.');
  const retry = event('auto_retry_start', { attempt: 1, errorMessage: '500: overloaded' });
  for (const willRetry of [{ willRetry: true }, {}]) {
    const lines = [opened, ended([failed], willRetry), retry];
    if ('willRetry' in willRetry) assert.equal(replayLines(pi, lines.slice(0, 2), clean).reading.final, null);
    const during = replayLines(pi, lines, clean).reading;
    assert.equal(during.final, null);
    assert.equal(during.failure, null);
    const { verdict } = replayLines(pi, [...lines, event('agent_start', {}), ended([fine])], clean);
    assert.equal(verdict.error, null);
    assert.equal(verdict.answer, 'Fine.');
    assert.deepEqual(verdict.warnings, []);
  }
  const gaveUp = replayLines(pi, [opened, ended([failed], { willRetry: true }), retry, ended([failed])], clean);
  assert.deepEqual(gaveUp.verdict.error, { code: 'agent_error', message: '500: overloaded' });
});

const failures: [reason: string, errorMessage: string, code: string, message: string, resets?: string][] = [
  ['error', '401: {"message":"no"}', 'auth', '401: {"message":"no"}'],
  ['error', '429: slow down', 'quota', '429: slow down'],
  [
    'error',
    'You have hit your ChatGPT usage limit (plus plan). Try again in ~163 min.',
    'quota',
    'You have hit your ChatGPT usage limit (plus plan). Try again in ~163 min.',
    'in ~163 min',
  ],
  [
    'error',
    '429: {"message":"The usage limit has been reached","resets_at":1900000000}',
    'quota',
    '429: {"message":"The usage limit has been reached","resets_at":1900000000}',
    '2030-03-17T17:46:40.000Z',
  ],
  ['aborted', '', 'agent_error', 'the run failed without a reason'],
  ['length', '', 'agent_error', 'the answer was cut off at the length limit of the model'],
];

for (const [reason, errorMessage, code, message, resets] of failures) {
  test(`pi ending with ${reason} "${errorMessage.slice(0, 50)}" is ${code}, though it exits 0`, () => {
    const { error } = replayLines(pi, [opened, ended([assistant(reason, 'Half', {}, errorMessage)])], clean).verdict;
    assert.deepEqual(error, resets === undefined ? { code, message } : { code, message, resets });
  });
}

test('an end without an assistant message, and an aborted one, are failures', () => {
  assert.equal(replayLines(pi, [opened, ended([])], clean).verdict.error?.code, 'agent_error');
  const aborted = [opened, ended([assistant('stop', 'Fine.')]), event('agent_settled', { aborted: true })];
  assert.equal(replayLines(pi, aborted, clean).verdict.error?.message, 'the run was aborted');
});

test('a tool that the profile takes away is denied; one that failed is not', () => {
  const call = (text: string) => [
    event('tool_execution_start', { toolCallId: 'c1', toolName: 'bash', args: { command: 'rm -rf /' } }),
    event('tool_execution_end', { toolCallId: 'c1', toolName: 'bash', result: words(text), isError: true }),
  ];
  const done = ended([assistant('stop', 'I could not.')]);
  const denied = replayLines(pi, [opened, ...call('Tool bash not found'), done], clean);
  assert.equal(denied.verdict.error, null);
  assert.deepEqual(denied.verdict.warnings, [
    { code: 'permission_denied', message: 'refused to the agent: bash: rm -rf /' },
  ]);
  assert.equal(denied.reading.toolCount, 1);
  const failed = replayLines(pi, [opened, ...call('sh: rm: command not found'), done], clean);
  assert.equal(failed.reading.tools[0]?.status, 'failed');
  assert.deepEqual(failed.verdict.warnings, []);
});

test('what only stderr tells: a session of another folder (exit 0), no key, a program that breaks at once', () => {
  const end = (exitCode: number, stderrTail: string, lines: string[] = []) =>
    replayLines(pi, lines, { exitCode, signal: null, stderrTail }).verdict.error;
  assert.deepEqual(
    end(0, 'Session found in different project: /other\nFork this session into current directory? [y/N] '),
    { code: 'session_lost', message: 'Session found in different project: /other' },
  );
  const noKey =
    'Warning: No models available. Use /login to log in. See:\n  /x/docs/providers.md\nNo API key found for anthropic.\n\nUse /login\n';
  assert.deepEqual(end(1, noKey, [opened]), { code: 'auth', message: 'No API key found for anthropic.' });
  const tooOld = 'file:///x/cli.js:2\nimport { a } from "node:module";\nSyntaxError: no such export\n    at x\n';
  assert.deepEqual(end(1, tooOld), { code: 'agent_error', message: 'SyntaxError: no such export' });
  assert.equal(end(0, 'Some notice\n')?.code, 'no_final_answer');
  assert.equal(end(3, '')?.code, 'exit_nonzero');
});

test('another conversation than the one asked for, and an id that could be an option', () => {
  assert.equal(replay(pi, 'text', { resume: session }).verdict.error?.code, 'conversation_mismatch');
  for (const id of ['--continue', '', 'a/b', 'x'.repeat(300)]) {
    assert.equal(replayLines(pi, [event('session', { id })], clean).reading.conversationId, null, id);
  }
});

test('unknown events and lines that are no JSON objects change nothing', () => {
  const lines = ['', 'banner', '[1]', '{"type":"sess', '{"type":7}', event('compaction_start', {}), opened];
  const { reading: read, verdict } = replayLines(pi, [...lines, ended([assistant('stop', 'fine')])], clean);
  assert.equal(read.unparsedLines, 3);
  assert.equal(verdict.answer, 'fine');
  assert.equal(verdict.error, null);
});

const clean = { exitCode: 0, signal: null, stderrTail: '' };
const opened = event('session', { version: 3, id: session });

function words(text: string): { content: unknown[] } {
  return {
    content:
      text === ''
        ? []
        : [
            { type: 'thinking', text: 'hm' },
            { type: 'text', text },
          ],
  };
}

function assistant(stopReason: string, text: string, usage: Record<string, unknown> = {}, errorMessage?: string) {
  return { role: 'assistant', model: 'm', ...words(text), stopReason, usage, errorMessage };
}

function ended(messages: unknown[], more: Record<string, unknown> = { willRetry: false }): string {
  return event('agent_end', { messages, ...more });
}

function delta(type: string, text?: string): string {
  return event('message_update', { assistantMessageEvent: { type, delta: text } });
}

function event(type: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ type, ...fields });
}
