// qwen.ts: the command line of each profile and release, and what each event means that no recording holds.
import assert from 'node:assert/strict';
import test from 'node:test';
import { qwen } from '../../companion/src/backends/qwen.ts';
import { replay, replayLines } from './replay.ts';
import { freshId, makeRequest } from './request.ts';

const head = ['--output-format=stream-json', '--include-partial-messages'];
const conversation = 'bad098ef-55e7-4a5a-a9e6-6672ca1604da';
const clean = { exitCode: 0, signal: null, stderrTail: '' };
const event = (type: string, fields: object) => JSON.stringify({ ...fields, type, session_id: conversation });
const init = event('system', { subtype: 'init', model: 'm' });
const say = (text: string) => event('assistant', { message: { model: 'm', content: [{ type: 'text', text }] } });
const success = (result: string, more: object = {}) =>
  event('result', { subtype: 'success', is_error: false, result, usage: {}, ...more });
const failure = (message: string) =>
  event('result', { subtype: 'error_during_execution', is_error: true, error: { message }, usage: {} });

test('plan: the exact arguments of standard and unrestricted', () => {
  const allowed = ['--allowed-tools=run_shell_command', '--allowed-tools=web_fetch'];
  const session = `--session-id=${freshId}`;
  assert.deepEqual(qwen.plan(makeRequest()).args, [...head, '--approval-mode=auto-edit', ...allowed, session]);
  const unrestricted = qwen.plan(makeRequest({ profile: 'unrestricted', version: '0.15.10' }));
  assert.deepEqual(unrestricted.args, [...head, '--approval-mode=yolo', session]);
});

test('plan: restricted has safe mode and no tool that changes something; an older or unknown release loses the shell', () => {
  const { args } = qwen.plan(makeRequest({ profile: 'restricted', version: '0.24.4' }));
  assert.deepEqual(args.slice(2, 4), ['--safe-mode', '--approval-mode=default']);
  assert.deepEqual(args.slice(-3), [
    '--allowed-tools=run_shell_command(git rev-parse HEAD)',
    '--max-wall-time=3600s',
    `--session-id=${freshId}`,
  ]);
  for (const tool of ['edit', 'write_file', 'notebook_edit', 'agent', 'enter_worktree'])
    assert.ok(args.includes(`--exclude-tools=${tool}`), tool);
  const research = qwen.plan(makeRequest({ profile: 'restricted', version: '0.24.4', mode: 'research' })).args;
  assert.deepEqual(
    research.filter((arg) => !args.includes(arg)),
    ['--allowed-tools=web_fetch'],
  );
  for (const version of ['0.15.10', '0.23.9', null]) {
    const old = qwen.plan(makeRequest({ profile: 'restricted', version })).args;
    assert.deepEqual(old.slice(2, 4), ['--bare', '--approval-mode=default'], `${version}`);
    assert.ok(old.includes('--exclude-tools=run_shell_command') && old.includes('--exclude-tools=edit'));
    assert.ok(!old.some((arg) => /^--(?:allowed-tools|max-wall-time|safe-mode)/.test(arg)));
  }
});

test('plan: the limit is given in whole seconds, where it is known', () => {
  const limits = (version: string | null, deadlineMs: number) =>
    qwen.plan(makeRequest({ version, deadlineMs })).args.filter((arg) => arg.startsWith('--max-wall-time'));
  assert.deepEqual(limits('0.24.4', 1001), ['--max-wall-time=2s']);
  assert.deepEqual(limits('1.0.0', 7_200_000), ['--max-wall-time=7200s']);
  assert.deepEqual(limits('0.15.10', 1001), []);
});

test('plan: model, conversation and prompt', () => {
  const fresh = qwen.plan(makeRequest({ model: '-odd' }));
  assert.deepEqual(fresh.args.slice(-2), ['--model=-odd', `--session-id=${freshId}`]);
  assert.equal(fresh.conversationId, freshId);
  const resumed = qwen.plan(makeRequest({ resume: conversation }));
  assert.equal(resumed.args.at(-1), `--resume=${conversation}`);
  assert.equal(resumed.conversationId, null);
  for (const prompt of ['--help', '-', ' /help', 'a\'b"c`d$e\\\r\n\t\u{1f600}'])
    assert.equal(qwen.plan(makeRequest({ prompt })).stdin, prompt);
  assert.equal(qwen.plan(makeRequest({ prompt: '/help me' })).stdin, '\n/help me');
});

test('an API error in the place of the answer is a failure of its kind, alone or behind a part of the answer', () => {
  for (const [text, code, words] of [
    ['[API Error: 401 bad key]', 'auth', '[API Error: 401 bad key]'],
    ['\n[API Error: 429 slow down (Status: 429)]', 'quota', '[API Error: 429 slow down (Status: 429)]'],
    ['[API Error: two\nlines] and advice', 'agent_error', '[API Error: two\nlines] and advice'],
    ['Hello fr[API Error: terminated]\n', 'agent_error', '[API Error: terminated]'],
  ]) {
    const { verdict } = replayLines(qwen, [init, say(text ?? ''), success(text ?? '')], clean);
    assert.equal(verdict.error?.code, code, text);
    assert.equal(verdict.error?.message, words);
    assert.equal(verdict.answer, null);
  }
  const told = 'The log says [API Error: 401] on line 3.';
  assert.equal(replayLines(qwen, [init, say(told), success(told)], clean).verdict.answer, told);
});

test('a used-up quota has its reset in the words of the provider', () => {
  const { verdict } = replayLines(qwen, [init, failure('[API Error: Quota exceeded. Try again in 3h5m.]')], clean);
  assert.equal(verdict.error?.code, 'quota');
  const plain = replayLines(qwen, [init, failure('Free quota exceeded, resets at 2026-12-01T00:00:00Z')], clean);
  assert.equal(plain.verdict.error?.resets, '2026-12-01T00:00:00Z');
});

test('without a sign-in it is auth', () => {
  const words = 'No auth type is selected. Please configure an auth type before running in non-interactive mode.';
  assert.equal(replayLines(qwen, [failure(words)], { ...clean, exitCode: 1 }).verdict.error?.code, 'auth');
});

test('a wrong option is named although the help text hides it, and stderr alone proves nothing', () => {
  const stderrTail = `Unknown arguments: x\n${'help\n'.repeat(9)}`;
  const wrong = replayLines(qwen, [], { exitCode: 1, signal: null, stderrTail });
  assert.equal(wrong.verdict.error?.message, 'Unknown arguments: x');
  const fine = replayLines(qwen, [init, say('ok'), success('ok')], { ...clean, stderrTail });
  assert.deepEqual(fine.verdict, { answer: 'ok', error: null, warnings: [] });
  const ours = replayLines(qwen, [], { exitCode: 1, signal: null, stderrTail }, { reason: 'other' });
  assert.equal(ours.reading.failure, null);
});

test('its own time limit is response_timeout', () => {
  const stderrTail = 'Warning: x\nRun aborted: wall-clock budget of 4s exceeded (--max-wall-time).\n';
  const { verdict } = replayLines(qwen, [init], { exitCode: 55, signal: null, stderrTail });
  assert.equal(verdict.error?.code, 'response_timeout');
});

test('another conversation than the one asked for is a mismatch, an odd id is not taken', () => {
  assert.equal(replay(qwen, 'text', { resume: conversation }).verdict.error?.code, 'conversation_mismatch');
  for (const id of ['--yolo', '', 'a b', 'x'.repeat(300)]) {
    const line = JSON.stringify({ type: 'system', subtype: 'init', session_id: id });
    assert.equal(replayLines(qwen, [line], clean).reading.conversationId, null, JSON.stringify(id));
  }
});

test('unknown events, odd shapes and notices between the lines are survived', () => {
  const lines = [
    'Debug: x',
    init,
    '{"type":"assistant"}',
    event('goal', {}),
    '{"type":"result","subt',
    say('ok'),
    success('ok'),
  ];
  const { reading, verdict } = replayLines(qwen, lines, clean);
  assert.equal(verdict.answer, 'ok');
  assert.equal(reading.unparsedLines, 2);
});

test('a process that lives on and takes its success back is not done', () => {
  assert.equal(replayLines(qwen, [init, success('one'), say('two')], clean).verdict.error?.code, 'no_final_answer');
});

test("plan: folders that it must be able to write belong to its workspace, but not to a reader's", () => {
  const writable = ['/h one', '/h2'];
  for (const profile of ['standard', 'unrestricted'] as const) {
    const { args } = qwen.plan(makeRequest({ profile, writable }));
    const given = args.filter((arg) => arg.startsWith('--include-directories='));
    assert.deepEqual(given, ['--include-directories=/h one', '--include-directories=/h2']);
  }
  const { args } = qwen.plan(makeRequest({ profile: 'restricted', writable }));
  assert.ok(!args.some((arg) => arg.includes('/h2')));
});
