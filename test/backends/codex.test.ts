// codex.ts: what each event and each ending means, also those that no recording holds.
import assert from 'node:assert/strict';
import test from 'node:test';
import { codex } from '../../companion/src/backends/codex.ts';
import { replay, replayLines } from './replay.ts';

const thread = '01a22bfe-9211-7f90-84c0-cddae2b57942';

test('codex tells the conversation at first sight, and a resumed run keeps it', () => {
  const first = '{"type":"thread.started","thread_id":"01a22bfe-9211-7f90-84c0-cddae2b57942"}';
  const { reading } = replayLines(codex, [first], { exitCode: null, signal: 'SIGKILL', stderrTail: '' });
  assert.equal(reading.conversationId, thread);
  assert.equal(replay(codex, 'resume', { resume: thread }).reading.conversationId, thread);
});

test('codex answering in another conversation than the one asked for is a conversation_mismatch', () => {
  const { verdict } = replay(codex, 'text', { resume: thread });
  assert.equal(verdict.error?.code, 'conversation_mismatch');
  assert.match(verdict.error?.message ?? '', new RegExp(thread));
});

test('a thread id that could be read as an option is not taken', () => {
  for (const id of ['--last', '-c', '', 'a b', 'x'.repeat(300), 'a\n']) {
    const line = JSON.stringify({ type: 'thread.started', thread_id: id });
    assert.equal(replayLines(codex, [line], clean).reading.conversationId, null, JSON.stringify(id));
  }
});

test('usage is what codex told last, cached and reasoning tokens included', () => {
  assert.deepEqual(replay(codex, 'tool').reading.usage, { input_tokens: 240, output_tokens: 48, total_tokens: 288 });
});

test('a tool call has its instants: from item.started to item.completed', () => {
  const [call] = replay(codex, 'tool').reading.tools;
  assert.equal(call?.started_at, '1970-01-01T00:00:03.000Z');
  assert.equal(call?.ended_at, '1970-01-01T00:00:04.000Z');
  assert.equal(replay(codex, 'sigterm-tool').reading.tools[0]?.ended_at, null);
});

test('every kind of call is noted; plans, thoughts and unknown items are not', () => {
  const items = [
    { id: 'i1', type: 'file_change', changes: [{ path: '/w/a.ts', kind: 'update' }], status: 'completed' },
    {
      id: 'i2',
      type: 'mcp_tool_call',
      server: 'docs',
      tool: 'find',
      arguments: { q: 1 },
      status: 'failed',
      error: { message: 'gone' },
    },
    { id: 'i3', type: 'web_search', query: 'node test' },
    { id: 'i4', type: 'todo_list', items: [{ text: 'a', completed: false }] },
    { id: 'i5', type: 'reasoning', text: 'hm' },
    { id: 'i6', type: 'toString', status: 'completed' },
    {
      id: 'i7',
      type: 'mcp_tool_call',
      server: 'docs',
      tool: 'read',
      status: 'completed',
      result: { content: [{ type: 'text', text: 'ok' }] },
    },
  ];
  const { reading } = replayLines(
    codex,
    items.map((item) => JSON.stringify({ type: 'item.completed', item })),
    clean,
  );
  const tools = reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input} -> ${tool.output}`);
  assert.deepEqual(tools, [
    'file_change completed: update /w/a.ts -> null',
    'mcp_tool_call failed: docs.find {"q":1} -> gone',
    'web_search completed: node test -> null',
    'mcp_tool_call completed: docs.read {} -> ok',
  ]);
});

test('a declined command is a warning beside an answer and permission_denied without one', () => {
  const declined = event('item.completed', {
    item: { id: 'i1', type: 'command_execution', command: 'rm -rf /', aggregated_output: '', status: 'declined' },
  });
  const answer = event('item.completed', { item: { id: 'i2', type: 'agent_message', text: 'I could not.' } });
  const end = event('turn.completed', { usage: {} });

  const withAnswer = replayLines(codex, [declined, answer, end], clean);
  assert.equal(withAnswer.verdict.error, null);
  assert.deepEqual(withAnswer.verdict.warnings, [
    { code: 'permission_denied', message: 'refused to the agent: command_execution: rm -rf /' },
  ]);
  assert.equal(withAnswer.reading.tools[0]?.status, 'denied');

  const without = replayLines(codex, [declined, end], clean).verdict.error;
  assert.equal(without?.code, 'permission_denied');
  assert.match(without?.message ?? '', /command_execution: rm -rf \//);
});

test('the last message is the answer, and a later turn takes the success of the one before back', () => {
  const say = (text: string) => event('item.completed', { item: { id: text, type: 'agent_message', text } });
  const end = event('turn.completed', { usage: {} });
  const turn = event('turn.started', {});
  assert.equal(replayLines(codex, [turn, say('one'), say('two'), end], clean).verdict.answer, 'two');
  assert.equal(replayLines(codex, [turn, say('one'), end, turn], clean).verdict.error?.code, 'no_final_answer');
  assert.equal(replayLines(codex, [turn, say('one'), end, turn, say('three'), end], clean).verdict.answer, 'three');
});

test('an error event before a completed turn is a warning, and a failed turn stays failed', () => {
  const error = event('error', { message: 'tool router is odd' });
  const say = event('item.completed', { item: { id: 'i1', type: 'agent_message', text: 'fine' } });
  const end = event('turn.completed', { usage: {} });
  const failed = event('turn.failed', { error: { message: 'tool router is odd' } });
  const warned = replayLines(codex, [error, say, end], clean).verdict;
  assert.equal(warned.error, null);
  assert.deepEqual(warned.warnings, [{ code: 'agent_warning', message: 'tool router is odd' }]);
  const broken = replayLines(codex, [error, say, failed], { ...clean, exitCode: 1 }).verdict;
  assert.deepEqual(broken.error, { code: 'agent_error', message: 'tool router is odd' });
  assert.deepEqual(broken.warnings, []);
});

test('a failed turn stays the end of it, whatever follows', () => {
  const lines = [
    event('turn.failed', { error: { message: 'broken' } }),
    event('turn.started', {}),
    event('turn.completed', {}),
  ];
  assert.equal(replayLines(codex, lines, clean).reading.final, 'failure');
});

test('of many retries only the newest is told', () => {
  const retry = (n: number) => event('error', { message: `Reconnecting... ${n}/5 (cut)` });
  const lines = [retry(1), retry(2), retry(3), event('turn.failed', { error: { message: 'cut' } })];
  const { verdict } = replayLines(codex, lines, { ...clean, exitCode: 1 });
  assert.deepEqual(verdict.warnings, [{ code: 'agent_retried', message: 'Reconnecting... 3/5 (cut)' }]);
});

test('the newest text is there while the agent works, and an empty message does not blank it', () => {
  const say = (text: string) => event('item.completed', { item: { id: text, type: 'agent_message', text } });
  const { reading } = replayLines(codex, [say('working'), say('')], clean);
  assert.deepEqual([reading.text, reading.answer], ['working', '']);
});

test('the first thread is the conversation, whatever other threads are told of', () => {
  const thread = (id: string) => event('thread.started', { thread_id: id });
  assert.equal(replayLines(codex, [thread('a1'), thread('b2')], clean).reading.conversationId, 'a1');
});

test('without a turn the error line of stderr tells why, notices do not', () => {
  const fail = (stderrTail: string) => replayLines(codex, [], { exitCode: 1, signal: null, stderrTail }).verdict.error;
  assert.equal(fail('odd thing\nWARNING: proceeding\nReading additional input from stdin...\n')?.message, 'odd thing');
  assert.equal(fail('\u001b[31mError: no config\u001b[0m\nUsage: codex\n')?.message, 'no config');
  assert.deepEqual(fail(''), { code: 'agent_error', message: 'codex exited with code 1 and said nothing' });
});

test('an exit code that a signal or a reason of ours caused is not taken for words of codex', () => {
  const killed = { exitCode: 143, signal: 'SIGTERM', stderrTail: 'Error: something\n' };
  assert.equal(replayLines(codex, [], killed).verdict.error?.code, 'signal');
  const stopped = replayLines(
    codex,
    [],
    { exitCode: 1, signal: null, stderrTail: 'Error: x\n' },
    { reason: 'hard_timeout' },
  );
  assert.equal(stopped.reading.failure, null);
});

const failures: [text: string, code: string, resets?: string][] = [
  ['unexpected status 401 Unauthorized: Incorrect API key provided: lab., url: http://127.0.0.1:1/v1', 'auth'],
  ['exceeded retry limit, last status: 401 Unauthorized', 'auth'],
  ['Missing environment variable: `LAB_KEY`.', 'auth'],
  [
    'Your access token could not be refreshed because your refresh token has expired. Please log out and sign in again.',
    'auth',
  ],
  ['exceeded retry limit, last status: 429 Too Many Requests', 'quota'],
  ['You’ve hit your usage limit. Upgrade to Pro (https://x.test/pro), or try again at 2:33 PM.', 'quota', '2:33 PM'],
  [
    'You’ve hit your usage limit. Visit https://x.test or try again at Dec 3rd, 2026 4:06 PM.',
    'quota',
    'Dec 3rd, 2026 4:06 PM',
  ],
  ["You've hit your usage limit. Try again in 5 days 2 hours.", 'quota', 'in 5 days 2 hours'],
  ["You've hit your usage limit. Try again later.", 'quota'],
  ['Your workspace is out of credits. Add credits to continue.', 'quota'],
  ['Quota exceeded. Check your plan and billing details.', 'quota'],
  [
    'stream disconnected before completion: Transport error: network error: error decoding response body',
    'agent_error',
  ],
  ['unexpected status 403 Forbidden: port 4010 of host 429', 'agent_error'],
];

for (const [message, code, resets] of failures) {
  test(`codex failing with "${message.slice(0, 60)}" is ${code}`, () => {
    const { error } = replayLines(codex, [event('turn.failed', { error: { message } })], {
      ...clean,
      exitCode: 1,
    }).verdict;
    assert.deepEqual(error, resets === undefined ? { code, message } : { code, message, resets });
  });
}

test('lines that are no JSON objects are counted and change nothing', () => {
  const answer = event('item.completed', { item: { id: 'i1', type: 'agent_message', text: 'fine' } });
  const lines = [
    '',
    '  ',
    'a banner',
    '[1]',
    'null',
    '{"type":"item.compl',
    '{"type":7}',
    '{}',
    answer,
    event('turn.completed', {}),
  ];
  const { reading, verdict } = replayLines(codex, lines, clean);
  assert.equal(reading.unparsedLines, 4);
  assert.equal(verdict.answer, 'fine');
  assert.equal(verdict.error, null);
});

const clean = { exitCode: 0, signal: null, stderrTail: '' };

function event(type: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ type, ...fields });
}
