// opencode.ts: the command line of each profile, and what events and endings mean that no recording holds.
import assert from 'node:assert/strict';
import test from 'node:test';
import { opencode } from '../../companion/src/backends/opencode.ts';
import { replay, replayLines } from './replay.ts';
import { makeRequest } from './request.ts';

const head = ['run', '--format', 'json'];
const session = 'ses_dd3f9f76affeugtrXvqsJOnhSC';

test('plan: the exact arguments of each profile', () => {
  assert.deepEqual(opencode.plan(makeRequest()).args, [...head, '--auto']);
  assert.deepEqual(opencode.plan(makeRequest({ profile: 'unrestricted' })).args, [...head, '--auto']);
  const restricted = opencode.plan(makeRequest({ profile: 'restricted' }));
  assert.deepEqual(restricted.args, [...head, '--pure', '--agent', 'job-companion-restricted']);
});

test('plan: the restricted agent has a deny for everything before its few reading tools, and no settings of the project', () => {
  const { environment, remove } = opencode.plan(makeRequest({ profile: 'restricted' }));
  const config = JSON.parse(environment.OPENCODE_CONFIG_CONTENT ?? '{}');
  const { mode, permission } = config.agent['job-companion-restricted'];
  assert.equal(mode, 'primary');
  // The last rule that fits wins.
  assert.deepEqual(Object.entries(permission)[0], ['*', 'deny']);
  const allowed = Object.keys(permission).filter((tool) => permission[tool] === 'allow');
  assert.deepEqual(allowed.sort(), ['external_directory', 'glob', 'grep', 'list', 'lsp', 'read', 'skill', 'todowrite']);
  assert.equal(environment.OPENCODE_DISABLE_PROJECT_CONFIG, '1');
  assert.ok(remove.includes('OPENCODE_PERMISSION') && remove.includes('OPENCODE_CONFIG_DIR'));
});

test('plan: the other profiles leave config and rules to the user, and all of them keep quiet', () => {
  const { environment, remove } = opencode.plan(makeRequest());
  assert.equal(environment.OPENCODE_CONFIG_CONTENT, undefined);
  assert.equal(environment.OPENCODE_DISABLE_PROJECT_CONFIG, undefined);
  assert.ok(!remove.includes('OPENCODE_PERMISSION'));
  for (const profile of ['restricted', 'standard', 'unrestricted'] as const) {
    assert.equal(opencode.plan(makeRequest({ profile })).environment.OPENCODE_DISABLE_AUTOUPDATE, '1');
  }
});

test('plan: model and conversation are words of their own option, the prompt is stdin as it is', () => {
  for (const prompt of ['--help', '/init', '@file', 'a\'b"c`d$e\\\r\n\t😀']) {
    const plan = opencode.plan(makeRequest({ prompt, model: '-odd', resume: session }));
    assert.deepEqual(plan.args, [...head, '--auto', '--model=-odd', `--session=${session}`]);
    assert.equal(plan.promptBy, 'stdin');
    assert.equal(plan.stdin, prompt);
    assert.equal(plan.conversationId, null);
  }
});

test('the texts of all steps are the answer, and only a step that ended with "stop" is an end', () => {
  const lines = [start, say('I look first.\n'), finish('tool-calls'), start, say('It says one.'), finish('stop')];
  const { reading, verdict } = replayLines(opencode, lines, clean);
  assert.equal(verdict.error, null);
  assert.equal(verdict.answer, 'I look first.\n\nIt says one.');
  assert.deepEqual(reading.usage, { input_tokens: 30, output_tokens: 8, total_tokens: 38, cost_usd: 0.5 });
  assert.equal(reading.conversationId, session);

  const early = replayLines(opencode, [start, say('Half'), finish('length')], clean).verdict;
  assert.equal(early.error?.code, 'no_final_answer');
  assert.deepEqual(early.warnings, [{ code: 'agent_warning', message: 'a step of the agent ended early: length' }]);
});

test('a step after the end takes the success back', () => {
  const lines = [start, say('a'), finish('stop'), start];
  assert.equal(replayLines(opencode, lines, clean).reading.final, null);
  const { verdict } = replayLines(opencode, [...lines, say('b'), finish('stop')], clean);
  assert.equal(verdict.answer, 'a\n\nb');
});

test('a refused tool is denied: a warning beside an answer, permission_denied without one, also after some words', () => {
  for (const error of [
    'The user rejected permission to use this specific tool call.',
    'The user has specified a rule which prevents you from using this specific tool call. Here are some of the rules []',
    "Model tried to call unavailable tool 'invalid'. Available tools: glob, grep, read.",
  ]) {
    const denied = tool('bash', { status: 'error', input: { command: 'rm -rf /' }, error });
    const withAnswer = replayLines(
      opencode,
      [start, denied, finish('tool-calls'), start, say('No.'), finish('stop')],
      clean,
    );
    assert.equal(withAnswer.verdict.error, null);
    assert.deepEqual(withAnswer.verdict.warnings, [
      { code: 'permission_denied', message: 'refused to the agent: bash: rm -rf /' },
    ]);
    const without = replayLines(opencode, [start, say('I try.'), denied, finish('tool-calls')], clean);
    assert.equal(without.verdict.error?.code, 'permission_denied');
  }
});

test('a tool that failed is no denial', () => {
  const states = [
    { status: 'error', input: {}, error: 'File not found: a.txt' },
    { status: 'completed', input: { command: 'false' }, output: '', metadata: { exit: 1 } },
  ];
  for (const state of states) {
    const { reading } = replayLines(opencode, [tool('x', state)], clean);
    assert.equal(reading.tools[0]?.status, 'failed');
    assert.deepEqual(reading.denials, []);
  }
});

const failures: [error: Record<string, unknown>, code: string, message: string, resets?: string][] = [
  [{ name: 'APIError', data: { message: 'no', statusCode: 401 } }, 'auth', 'no'],
  [{ name: 'ProviderAuthError', data: { message: 'bad login' } }, 'auth', 'bad login'],
  [{ name: 'APIError', data: { message: 'Too many', statusCode: 429 } }, 'quota', 'Too many'],
  [
    { name: 'APIError', data: { message: 'Too many', statusCode: 429, responseHeaders: { 'retry-after': '3600' } } },
    'quota',
    'Too many',
    'in 3600s',
  ],
  [
    { name: 'APIError', data: { message: 'No more', statusCode: 429, responseBody: '{"resets_at":1900000000}' } },
    'quota',
    'No more',
    '2030-03-17T17:46:40.000Z',
  ],
  [
    { name: 'UnknownError', data: { message: 'Usage limit reached, try again in 5 hours.' } },
    'quota',
    'Usage limit reached, try again in 5 hours.',
    'in 5 hours',
  ],
  [{ name: 'APIError', data: { message: 'overloaded', statusCode: 529 } }, 'agent_error', 'overloaded'],
  [{ name: 'MessageAbortedError' }, 'agent_error', 'MessageAbortedError'],
  [{}, 'agent_error', 'the run failed without a reason'],
];

for (const [error, code, message, resets] of failures) {
  test(`opencode failing with ${JSON.stringify(error).slice(0, 80)} is ${code}`, () => {
    const lines = [start, say('x'), finish('stop'), event('error', { error })];
    const { reading, verdict } = replayLines(opencode, lines, { ...clean, exitCode: 1 });
    assert.equal(reading.final, 'failure');
    assert.deepEqual(verdict.error, resets === undefined ? { code, message } : { code, message, resets });
  });
}

test('an end that a reason of ours caused is not taken for words of opencode', () => {
  const end = { exitCode: 1, signal: null, stderrTail: 'Error: Session not found\n' };
  assert.equal(replayLines(opencode, [], end, { reason: 'hard_timeout' }).reading.failure, null);
});

test('another conversation than the one asked for, and an id that could be an option', () => {
  assert.equal(replay(opencode, 'text', { resume: session }).verdict.error?.code, 'conversation_mismatch');
  for (const id of ['--auto', '', 'a b', 'x'.repeat(300)]) {
    const { reading } = replayLines(opencode, [JSON.stringify({ type: 'step_start', sessionID: id })], clean);
    assert.equal(reading.conversationId, null, id);
  }
});

test('unknown events and lines that are no JSON objects change nothing', () => {
  const lines = ['', 'banner', '[1]', '{"type":"te', '{"type":7}', event('reasoning', {}), say('fine'), finish('stop')];
  const { reading, verdict } = replayLines(opencode, lines, clean);
  assert.equal(reading.unparsedLines, 3);
  assert.equal(verdict.answer, 'fine');
  assert.equal(verdict.error, null);
});

const clean = { exitCode: 0, signal: null, stderrTail: '' };
const start = event('step_start', { part: { type: 'step-start' } });

function say(text: string): string {
  return event('text', { part: { type: 'text', text } });
}

function tool(name: string, state: Record<string, unknown>): string {
  return event('tool_use', { part: { type: 'tool', tool: name, callID: 'c1', state } });
}

function finish(reason: string): string {
  const tokens = { input: 10, output: 3, reasoning: 1, cache: { read: 4, write: 1 } };
  return event('step_finish', { part: { type: 'step-finish', reason, tokens, cost: 0.25 } });
}

function event(type: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ type, timestamp: 1, sessionID: session, ...fields });
}
