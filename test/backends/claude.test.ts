// claude.ts: the command line of each profile, and what each event means that no recording holds.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { claude } from '../../companion/src/backends/claude.ts';
import { replay, replayLines } from './replay.ts';
import { freshId, makeRequest } from './request.ts';

const head = ['-p', '--output-format=stream-json', '--verbose', '--include-partial-messages'];
const conversation = '875517d1-3fb6-431f-810b-fa38797a08b6';
const clean = { exitCode: 0, signal: null, stderrTail: '' };
const event = (type: string, fields: object) => JSON.stringify({ ...fields, type, session_id: conversation });
const init = event('system', { subtype: 'init', model: 'm' });
const say = (text: string, more: object = {}) =>
  event('assistant', { message: { model: 'm', content: [{ type: 'text', text }] }, ...more });
const success = (result: string, more: object = {}) =>
  event('result', { subtype: 'success', is_error: false, result, usage: {}, ...more });
const failure = (result: string, more: object = {}) =>
  event('result', { subtype: 'success', is_error: true, result, usage: {}, ...more });

const settingsOf = (args: readonly string[]) =>
  JSON.parse(args.find((arg) => arg.startsWith('--settings='))?.replace('--settings=', '') ?? 'null');
const without = (args: readonly string[]) => args.filter((arg) => !arg.startsWith('--settings='));

test('plan: the exact arguments of each profile', () => {
  const restricted = claude.plan(makeRequest({ profile: 'restricted', mode: 'review' }));
  assert.deepEqual(without(restricted.args), [
    ...head,
    '--permission-mode=dontAsk',
    '--tools=Read,Grep,Glob,Bash',
    '--strict-mcp-config',
    '--setting-sources=user',
    `--session-id=${freshId}`,
  ]);
  assert.equal(settingsOf(restricted.args).disableAllHooks, false);
  assert.equal(restricted.environment.GIT_OPTIONAL_LOCKS, '0');

  const standard = claude.plan(makeRequest({ writable: ['/g/.git'] }));
  assert.deepEqual(without(standard.args), [
    ...head,
    '--permission-mode=acceptEdits',
    '--allowedTools=Bash,WebFetch,WebSearch',
    '--add-dir=/g/.git',
    `--session-id=${freshId}`,
  ]);
  assert.deepEqual(settingsOf(standard.args), { permissions: { deny: ['Edit(//w/.job-state/**)'] } });

  const unrestricted = claude.plan(makeRequest({ profile: 'unrestricted' }));
  assert.deepEqual(unrestricted.args, [...head, '--permission-mode=bypassPermissions', `--session-id=${freshId}`]);
  assert.equal(unrestricted.environment.IS_SANDBOX, '1');
});

test('plan: only unrestricted claims a sandbox, only research gets the web, an odd state folder has no rule', () => {
  for (const profile of ['restricted', 'standard'] as const)
    assert.ok(!('IS_SANDBOX' in claude.plan(makeRequest({ profile })).environment));
  const research = claude.plan(makeRequest({ profile: 'restricted', mode: 'research' })).args;
  assert.ok(research.includes('--tools=Read,Grep,Glob,Bash,WebFetch,WebSearch'));
  assert.ok(research.includes('--allowedTools=WebFetch,WebSearch'));
  assert.equal(settingsOf(claude.plan(makeRequest({ stateRoot: '/w[1]/.job-state' })).args), null);
});

test('plan: a new conversation gets our id, a resumed one is named; a model is never read as an option', () => {
  const fresh = claude.plan(makeRequest({ model: '-odd' }));
  assert.deepEqual(fresh.args.slice(-2), ['--model=-odd', `--session-id=${freshId}`]);
  assert.equal(fresh.conversationId, freshId);
  const resumed = claude.plan(makeRequest({ resume: conversation }));
  assert.equal(resumed.args.at(-1), `--resume=${conversation}`);
  assert.equal(resumed.conversationId, null);
  assert.ok(!resumed.args.some((arg) => arg.startsWith('--session-id')));
});

test('plan: the prompt is stdin as it is, and never a command', () => {
  for (const prompt of ['--help', '-', '!ls', '# note', ' /help', 'a\'b"c`d$e\\\r\n\t\u{1f600}']) {
    const plan = claude.plan(makeRequest({ prompt }));
    assert.equal(plan.stdin, prompt);
    assert.ok(!plan.args.includes(prompt));
  }
  assert.equal(claude.plan(makeRequest({ prompt: '/help me' })).stdin, '\n/help me');
});

test('the guard of restricted lets plain git reading through and refuses the rest, whatever it is wrapped in', () => {
  const { args } = claude.plan(makeRequest({ profile: 'restricted' }));
  const [entry] = settingsOf(args).hooks.PreToolUse;
  assert.equal(entry.matcher, 'Bash');
  const [hook] = entry.hooks;
  const verdictOn = (command: string) => {
    const input = JSON.stringify({ tool_name: 'Bash', tool_input: { description: 'git diff', command }, cwd: '/w' });
    return spawnSync('sh', ['-c', hook.command], { input: `${input}\n`, encoding: 'utf8' }).status;
  };
  for (const command of [
    'git diff',
    'git diff HEAD~2..main -- src/a.ts',
    'git log --oneline -5',
    'git log --only-trailers --format=%H',
    'git show v1.0:README.md',
    'git status --short',
    'git blame -L 3,9 a.txt',
    'git ls-files',
  ])
    assert.equal(verdictOn(command), 0, command);
  for (const command of [
    '',
    'ls',
    'git',
    'git difftool -y',
    'git diff --output=f',
    'git log --output f',
    'git show --outp=f',
    'git diff --o f',
    'git diff --ext-diff',
    'git grep -Ovi x',
    'git log -Of',
    'git diff; touch f',
    'git diff && touch f',
    'git log > f',
    'git log | tee f',
    'git diff $(touch f)',
    'git diff `touch f`',
    'git diff\ntouch f',
    'git diff\rtouch f',
    'git diff "a"',
    "git diff 'a'",
    'git diff \\x',
    'git diff *',
    'git diff {a,b}',
    'git\u00a0diff',
    'git diff \u00e9',
    'X=1 git diff',
    ' git diff',
    'git -c core.pager=x diff',
    'touch f #"command":"git diff"',
  ])
    assert.equal(verdictOn(command), 2, JSON.stringify(command));
  // What is no call at all is refused too.
  for (const input of ['', 'git diff', '{\n"command":"git diff"}\n', '{"tool_input":{"command":["git diff"]}}'])
    assert.equal(spawnSync('sh', ['-c', hook.command], { input }).status, 2, input);
});

test('the host marks are removed, the homes and keys are not', () => {
  const remove: readonly string[] = claude.hostMarkers;
  assert.ok(remove.includes('CLAUDECODE') && remove.includes('CLAUDE_CODE_SESSION_ID'));
  for (const kept of ['ANTHROPIC_API_KEY', 'CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_BASE_URL'])
    assert.ok(!remove.includes(kept), kept);
});

test('deltas are progress at once, and a killed run keeps them as a partial text only', () => {
  const delta = (more: object) => event('stream_event', { event: more });
  const lines = [
    init,
    delta({ type: 'message_start', message: {} }),
    delta({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    delta({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } }),
    delta({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } }),
    event('stream_event', {
      parent_tool_use_id: 'toolu_1',
      event: { type: 'content_block_delta', delta: { type: 'text_delta', text: 'not mine' } },
    }),
  ];
  const { reading, verdict } = replayLines(claude, lines, { exitCode: 143, signal: 'SIGTERM', stderrTail: '' });
  assert.equal(reading.text, 'Hello');
  assert.equal(reading.conversationId, conversation);
  assert.equal(verdict.answer, null);
  assert.equal(verdict.error?.code, 'signal');
});

test('what claude says in the model\u2019s place is no text of the agent', () => {
  const { reading } = replay(claude, 'e401');
  assert.deepEqual([reading.text, reading.model], ['', 'claude-opus-5-5']);
});

test('only `success` without an error is a success', () => {
  for (const result of [
    { subtype: 'error_max_turns', is_error: false, result: 'partial' },
    { subtype: 'success', result: 'no flag' },
    { is_error: false, result: 'no subtype' },
  ]) {
    const { verdict } = replayLines(claude, [init, event('result', result)], clean);
    assert.equal(verdict.error?.code, 'agent_error', JSON.stringify(result));
    assert.equal(verdict.answer, null);
  }
});

test('a used-up limit has its reset: from the words, from the older form, from the event before', () => {
  const resetOf = (...lines: string[]) =>
    replayLines(claude, [init, ...lines], { ...clean, exitCode: 1 }).verdict.error;
  assert.deepEqual(resetOf(failure("You've hit your session limit \u00b7 resets 3pm (Europe/Berlin)")), {
    code: 'quota',
    message: "You've hit your session limit \u00b7 resets 3pm (Europe/Berlin)",
    resets: '3pm (Europe/Berlin)',
  });
  assert.equal(resetOf(failure('Claude AI usage limit reached|1790000000'))?.resets, '2026-09-21T14:13:20.000Z');
  const info = { status: 'rejected', resetsAt: 1_790_000_000, rateLimitType: 'five_hour' };
  const told = resetOf(
    event('rate_limit_event', { rate_limit_info: info }),
    failure('API Error: Request rejected (429)', { api_error_status: 429 }),
  );
  assert.equal(told?.code, 'quota');
  assert.equal(told?.resets, '2026-09-21T14:13:20.000Z');
});

test('a refused request that was made good is no warning', () => {
  const info = { status: 'rejected', resetsAt: 1_790_000_000 };
  const { verdict } = replayLines(
    claude,
    [init, event('rate_limit_event', { rate_limit_info: info }), say('ok'), success('ok')],
    clean,
  );
  assert.deepEqual(verdict, { answer: 'ok', error: null, warnings: [] });
});

test('a later turn takes the success of the one before back, and its own result counts', () => {
  const { reading } = replayLines(claude, [init, success('one'), init], clean);
  assert.equal(reading.final, null);
  const { verdict } = replayLines(claude, [init, success('one'), init, say('two'), success('two')], clean);
  assert.equal(verdict.answer, 'two');
  const failed = replayLines(claude, [init, success('one'), say('two'), failure('gone')], clean);
  assert.equal(failed.verdict.error?.message, 'gone');
});

test('calls of a sub-agent are noted, its words are not the agent\u2019s', () => {
  const inner = { parent_tool_use_id: 'toolu_1' };
  const content = [{ type: 'tool_use', id: 'toolu_2', name: 'Read', input: { file_path: '/w/a' } }];
  const { reading } = replayLines(
    claude,
    [init, say('mine'), say('its', inner), event('assistant', { message: { model: 'small', content }, ...inner })],
    clean,
  );
  assert.equal(reading.text, 'mine');
  assert.equal(reading.model, 'm');
  assert.deepEqual(
    reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input}`),
    ['Read running: {"file_path":"/w/a"}'],
  );
});

test('a refused tool without an answer is permission_denied', () => {
  const denials = [{ tool_name: 'Write', tool_use_id: 'toolu_9', tool_input: { file_path: 'x' } }];
  const { verdict } = replayLines(claude, [init, success('', { permission_denials: denials })], clean);
  assert.equal(verdict.error?.code, 'permission_denied');
  assert.match(verdict.error?.message ?? '', /Write: \{"file_path":"x"\}/);
});

test('a tool that the profile takes away and the model calls all the same is denied, an unknown one has failed', () => {
  const call = (name: string) => ({ type: 'tool_use', id: name, name, input: {} });
  const reply = (name: string, words: string) => ({
    type: 'tool_result',
    tool_use_id: name,
    is_error: true,
    content: words,
  });
  const away =
    'Error: No such tool available: Write. Write is disabled for this session, in subagents as well as here.';
  const content = [reply('Write', away), reply('Wrte', 'Error: No such tool available: Wrte')];
  const lines = [init, event('assistant', { message: { content: [call('Write'), call('Wrte')] } })];
  const { reading } = replayLines(claude, [...lines, event('user', { message: { content } }), success('Done.')], clean);
  assert.deepEqual(reading.denials, ['Write: {}']);
  assert.equal(reading.tools[1]?.status, 'failed');
});

test('an id that could be read as an option is not taken, another one than asked for is a mismatch', () => {
  for (const id of ['--continue', '-r', '', 'a b', 'x'.repeat(300), 'a\n']) {
    const line = JSON.stringify({ type: 'system', subtype: 'init', session_id: id });
    assert.equal(replayLines(claude, [line], clean).reading.conversationId, null, JSON.stringify(id));
  }
  const { verdict } = replay(claude, 'text', { resume: conversation });
  assert.equal(verdict.error?.code, 'conversation_mismatch');
});

test('unknown events, odd shapes and any order of keys are survived', () => {
  const odd = [
    '{"type":"assistant"}',
    '{"type":"user","message":{"content":"text"}}',
    '{"type":"assistant","message":{"content":[null,3]}}',
  ];
  const lines = [
    init,
    ...odd,
    event('brand_new', { a: 1 }),
    '{"type":"result","usage":null',
    'not json',
    success('ok'),
  ];
  const { reading, verdict } = replayLines(claude, lines, clean);
  assert.equal(verdict.answer, 'ok');
  assert.equal(reading.unparsedLines, 2);
});

test('what only stderr tells counts when claude failed by itself, and never when we ended it', () => {
  const end = { exitCode: 1, signal: null, stderrTail: 'Warning: x\nError: Session ID a is already in use.\n' };
  assert.equal(replayLines(claude, [], end).verdict.error?.message, 'Session ID a is already in use.');
  const ours = replayLines(claude, [init], end, { reason: 'other' });
  assert.equal(ours.reading.failure, null);
});
