// cursor.ts and cursor-policy.ts: the command line, and the documented shapes (cursor-agent could not be run here).
import assert from 'node:assert/strict';
import test from 'node:test';
import { cursor } from '../../companion/src/backends/cursor.ts';
import { cursorSettings } from '../../companion/src/backends/cursor-policy.ts';
import { type ReplayOptions, replayLines } from './replay.ts';
import { makeRequest } from './request.ts';

const id = 'c6b62c6f-7ead-4fd6-9922-e952131177ff';
const head = ['-p', '--output-format', 'stream-json', '--trust'];
const request = makeRequest();

test('plan: the exact arguments of each profile, of a model and of a resumed conversation', () => {
  assert.deepEqual(cursor.plan(request).args, [...head, '--force']);
  assert.deepEqual(cursor.plan({ ...request, profile: 'restricted' }).args, [...head, '--mode', 'ask']);
  const unrestricted = ['--force', '--approve-mcps', '--sandbox', 'disabled'];
  assert.deepEqual(cursor.plan({ ...request, profile: 'unrestricted' }).args, [...head, ...unrestricted]);
  const resumed = cursor.plan({ ...request, model: '-odd', resume: id }).args;
  assert.deepEqual(resumed, [...head, '--force', '--model=-odd', `--resume=${id}`]);
});

test('plan: the prompt is stdin as it is and never an argument', () => {
  for (const prompt of ['--help', '/exit', '-', 'a\'b"c`d$e\\\r\n\t\u{1f600}', 'x'.repeat(300_000)]) {
    const plan = cursor.plan({ ...request, prompt });
    assert.deepEqual([plan.promptBy, plan.stdin], ['stdin', prompt]);
    assert.deepEqual(plan.args, [...head, '--force']);
  }
});

const clean = { exitCode: 0, signal: null, stderrTail: '' };
const init = line({ type: 'system', subtype: 'init', model: 'm', cwd: '/w', permissionMode: 'default' });
const fine = line({ type: 'result', subtype: 'success', is_error: false, result: 'Fine.', duration_ms: 5 });

function judge(lines: string[], ending: Partial<typeof clean> = {}, options: ReplayOptions = {}) {
  const { reading, verdict } = replayLines(cursor, lines, { ...clean, ...ending }, options);
  const error = verdict.error && `${verdict.error.code}: ${verdict.error.message}`;
  return { reading, error, answer: verdict.answer, warnings: verdict.warnings.map(({ message }) => message) };
}

test('a result that says success is one; the id is known from the first line on', () => {
  const { error, answer, reading } = judge([init, say('Fi'), fine]);
  assert.deepEqual([error, answer, reading.text, reading.model], [null, 'Fine.', 'Fi', 'm']);
  assert.equal(reading.conversationId, id);
  assert.equal(judge([init], { exitCode: 1 }).reading.conversationId, id);
});

test('no result, an empty one or one that says error is none, whatever the exit code', () => {
  assert.match(judge([init, say('Half')]).error ?? '', /^no_final_answer: the agent ended without a final event/);
  const empty = line({ type: 'result', subtype: 'success', is_error: false, result: '' });
  assert.equal(judge([init, empty]).error, 'no_final_answer: the final answer is empty');
  const flagged = line({ type: 'result', subtype: 'success', is_error: true, result: 'model overloaded' });
  assert.equal(judge([init, flagged]).error, 'agent_error: model overloaded');
  assert.equal(judge([init, line({ type: 'result', subtype: 'error' })]).error, 'agent_error: the run ended as error');
  assert.match(judge([init, fine], { exitCode: 1 }).error ?? '', /^exit_nonzero/);
});

test('another conversation than the one asked for', () => {
  assert.match(judge([init, fine], {}, { resume: 'other' }).error ?? '', /^conversation_mismatch/);
  assert.equal(judge([init, fine], {}, { resume: id }).error, null);
});

test('every kind of call has its name, its input and its end', () => {
  const calls = [
    call('a', 'started', { shellToolCall: { args: { command: 'ls' } } }),
    call('a', 'completed', {
      shellToolCall: { args: { command: 'ls' }, result: { success: { exitCode: 0, stdout: 'x\n' } } },
    }),
    call('b', 'completed', {
      shellToolCall: { args: { command: 'no' }, result: { success: { exitCode: 2, stderr: 'bad' } } },
    }),
    call('c', 'completed', { readToolCall: { args: { path: '/w/a' }, result: { error: { errorMessage: 'gone' } } } }),
    call('d', 'started', { function: { name: 'f', arguments: '{}' } }),
    call('e', 'started', {}),
  ];
  const { reading } = judge([init, ...calls, fine]);
  assert.deepEqual(
    reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input} -> ${tool.output}`),
    [
      'shell completed: ls -> x\n',
      'shell failed: no -> bad',
      'read failed: /w/a -> gone',
      'function running:  -> null',
      'tool running:  -> null',
    ],
  );
});

test('a refused call is a warning beside words that follow it, and permission_denied without them', () => {
  const refused = call('a', 'completed', {
    shellToolCall: { args: { command: 'rm x' }, result: { rejected: { reason: 'not allowed' } } },
  });
  const answered = judge([init, say('I try.'), refused, say('I could not.'), fine]);
  assert.deepEqual([answered.error, answered.warnings], [null, ['refused to the agent: shell: rm x']]);
  const stopped = judge([init, say('I try.'), refused, fine]);
  assert.match(stopped.error ?? '', /^permission_denied: .*shell: rm x/);
  assert.equal(stopped.reading.text, 'I try.');
});

test('a later turn takes the success of the one before back', () => {
  assert.match(judge([init, fine, say('More')]).error ?? '', /^no_final_answer/);
});

test('usage, where it is told, with cached input', () => {
  const usage = { inputTokens: 10, outputTokens: 4, cacheReadTokens: 5, cacheWriteTokens: 1 };
  const told = line({ type: 'result', subtype: 'success', is_error: false, result: 'x', usage });
  assert.deepEqual(judge([init, told]).reading.usage, { input_tokens: 16, output_tokens: 4, total_tokens: 20 });
  assert.equal(judge([init, fine]).reading.usage, null);
});

const failures: [stderr: string, error: string][] = [
  [
    "Error: Authentication required. Please run 'agent login' first.\n",
    "auth: Authentication required. Please run 'agent login' first.",
  ],
  ['Error: Chat 123 not found\n', 'session_lost: Chat 123 not found'],
  ["You've hit your usage limit\n", "quota: You've hit your usage limit"],
  ['Cannot use this model: nope\n', 'agent_error: Cannot use this model: nope'],
  ['', 'agent_error: cursor-agent exited with code 1 and said nothing'],
];

for (const [stderrTail, error] of failures) {
  test(`refused before the turn: ${error}`, () => assert.equal(judge([], { exitCode: 1, stderrTail }).error, error));
}

test('an end by a signal or a reason of ours is not taken for words of the CLI', () => {
  const stderrTail = 'Error: Authentication required\n';
  const killed = replayLines(cursor, [init], { exitCode: 143, signal: 'SIGTERM', stderrTail }).verdict.error;
  assert.equal(killed?.code, 'signal');
  assert.equal(judge([init], { exitCode: 1, stderrTail }, { reason: 'hard_timeout' }).reading.failure, null);
});

test('unknown events, thoughts, key order and banners do not matter; an odd id is not taken', () => {
  const lines = [
    '{"subtype":"delta","text":"hm","type":"thinking"}',
    '{"later":1,"type":"later"}',
    'To proceed, pass --trust',
    '{"session_id":"--last","subtype":"init","type":"system"}',
    fine,
  ];
  const { error, reading } = judge(lines);
  assert.deepEqual([error, reading.text, reading.unparsedLines, reading.conversationId], [null, '', 1, id]);
});

const find = (value: unknown) => cursorSettings.findFault(JSON.stringify(value), 'restricted');
const allow = (rule: unknown) => find({ permissions: { allow: ['Shell(ls)', rule], deny: [] } });

test('settings that let it change something make restricted impossible', () => {
  for (const rule of ['Read(**)', 'Shell(cat)', 'Shell(git status)', 'WebFetch(docs.test)'])
    assert.equal(allow(rule), null, rule);
  for (const rule of ['Shell(**)', 'Shell(git)', 'Shell(rm)', 'Shell(npm:*)', 'Write(**)', 'Mcp(*:*)', 'Later(x)', 7]) {
    assert.match(allow(rule) ?? '', /^permissions.allow has the rule/, String(rule));
  }
  assert.match(find({ approvalMode: 'unrestricted' }) ?? '', /^approvalMode is "unrestricted"/);
  assert.equal(find({ version: 1, approvalMode: 'allowlist' }), null);
  assert.equal(cursorSettings.findFault('{', 'restricted'), 'the settings are no JSON object');
  assert.equal(cursorSettings.findFault('{', 'standard'), null);
});

function line(event: object): string {
  return JSON.stringify({ ...event, session_id: id });
}

function say(text: string): string {
  return line({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } });
}

function call(call_id: string, subtype: string, tool_call: object): string {
  return line({ type: 'tool_call', subtype, call_id, tool_call });
}
