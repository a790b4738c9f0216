// copilot.ts: the command line, and the shapes that no recording holds.
import assert from 'node:assert/strict';
import test from 'node:test';
import { copilot } from '../../companion/src/backends/copilot.ts';
import { type ReplayOptions, replayLines } from './replay.ts';
import { freshId, makeRequest } from './request.ts';

const id = 'e373cd6d-277c-4baf-913f-a8e374131433';
const head = ['--output-format', 'json', '--no-auto-update', '--no-ask-user'];
const fresh = `--session-id=${freshId}`;
const standard = ['--allow-all-tools', '--disable-builtin-mcps'];
const request = makeRequest();

test('plan: the exact arguments of each profile, of a model and of a resumed conversation', () => {
  assert.deepEqual(copilot.plan(request).args, [...head, ...standard, fresh]);
  const restricted = ['--available-tools=view,grep,glob', '--disable-builtin-mcps'];
  assert.deepEqual(copilot.plan({ ...request, profile: 'restricted' }).args, [...head, ...restricted, fresh]);
  assert.deepEqual(copilot.plan({ ...request, profile: 'unrestricted' }).args, [...head, '--allow-all', fresh]);
  const resumed = copilot.plan({ ...request, model: '-odd', resume: id }).args;
  assert.deepEqual(resumed, [...head, ...standard, '--model=-odd', `--resume=${id}`]);
});

test('plan: the id of a new conversation is ours, that of a resumed one is not given again', () => {
  assert.equal(copilot.plan(request).conversationId, freshId);
  assert.equal(copilot.plan({ ...request, resume: id }).conversationId, null);
});

test('plan: the git folder of a linked worktree can be written to by the standard profile', () => {
  const writable = ['/repo/.git'];
  assert.deepEqual(copilot.plan({ ...request, writable }).args.slice(-3), ['--add-dir', '/repo/.git', fresh]);
  assert.ok(!copilot.plan({ ...request, writable, profile: 'restricted' }).args.includes('--add-dir'));
});

test('plan: the prompt is stdin as it is and never an argument', () => {
  for (const prompt of ['--help', '/exit', '-', 'a\'b"c`d$e\\\r\n\t\u{1f600}', 'x'.repeat(300_000)]) {
    const plan = copilot.plan({ ...request, prompt });
    assert.deepEqual([plan.promptBy, plan.stdin], ['stdin', prompt]);
    assert.deepEqual(plan.args, copilot.plan(request).args);
  }
});

test('plan: variables that approve tools or load what a repository brings along are not inherited', () => {
  const removed = (profile: 'restricted' | 'standard' | 'unrestricted') => copilot.plan({ ...request, profile }).remove;
  assert.ok(removed('restricted').includes('COPILOT_ALLOW_ALL'));
  assert.ok(removed('standard').includes('GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS'));
  assert.deepEqual(removed('unrestricted'), []);
  const environment = { COPILOT_AUTO_UPDATE: 'false', COPILOT_DISABLE_RESUME_AUTO_CD: '1' };
  assert.deepEqual(copilot.plan(request).environment, environment);
  assert.ok(!copilot.hostMarkers.some((name) => /TOKEN|PROVIDER|MODEL/.test(name)));
});

const clean = { exitCode: 0, signal: null, stderrTail: '' };
const end = JSON.stringify({ type: 'result', sessionId: id, exitCode: 0, usage: {} });

function judge(lines: string[], ending: Partial<typeof clean> = {}, options: ReplayOptions = {}) {
  const { reading, verdict } = replayLines(copilot, lines, { ...clean, ...ending }, options);
  const error = verdict.error && `${verdict.error.code}: ${verdict.error.message}`;
  return { reading, error, answer: verdict.answer, warnings: verdict.warnings.map(({ message }) => message) };
}

test('words beside a tool call are no answer, also when nothing follows', () => {
  const asks = event('assistant.message', { content: 'I run it.', toolRequests: [{ toolCallId: 'a', name: 'bash' }] });
  assert.equal(judge([asks, end]).error, 'no_final_answer: the final answer is empty');
  assert.equal(judge([asks, say('Done.'), end]).answer, 'Done.');
  assert.equal(judge([asks]).reading.text, 'I run it.');
});

test('a refused tool and then no words is permission_denied, though copilot calls it an empty response', () => {
  const lines = [
    event('tool.execution_start', { toolCallId: 'a', toolName: 'bash', arguments: { command: 'rm x' } }),
    event('tool.execution_complete', { toolCallId: 'a', success: false, error: { code: 'denied', message: 'no' } }),
    event('assistant.message', { content: '', toolRequests: [] }),
    event('session.error', {
      errorType: 'query',
      message: 'No response was returned. Send your message again to retry.',
    }),
    JSON.stringify({ type: 'result', sessionId: id, exitCode: 1 }),
  ];
  const { error, reading } = judge(lines, { exitCode: 1 });
  assert.equal(error, 'permission_denied: there is no final answer and these were refused: bash: rm x');
  assert.equal(reading.tools[0]?.status, 'denied');
});

test('a tool that the profile takes away and the model calls all the same is a refusal', () => {
  const error = {
    code: 'failure',
    message: "Tool 'bash' does not exist. Available tools that can be called are view, grep.",
  };
  const lines = [
    event('tool.execution_start', { toolCallId: 'a', toolName: 'bash', arguments: { command: 'rm x' } }),
    event('tool.execution_complete', { toolCallId: 'a', success: false, error }),
    say('I cannot.'),
    end,
  ];
  assert.deepEqual(judge(lines).warnings, ['refused to the agent: bash: rm x']);
});

test('a session error is a failure, also beside an answer and exit code 0', () => {
  const lines = [say('Done.'), event('session.error', { errorType: 'query', message: 'broken' }), end];
  assert.equal(judge(lines).error, 'agent_error: broken');
});

test('a result that tells another exit code than 0 is a failure, whatever the process ends with', () => {
  const failed = JSON.stringify({ type: 'result', sessionId: id, exitCode: 1 });
  assert.equal(judge([say('Done.'), failed]).error, 'agent_error: the agent reported a failure');
});

test('an aborted run has no answer, though its result may say 0', () => {
  const abort = event('abort', { reason: 'user_abort' });
  assert.equal(judge([say('Half.'), abort, end]).error, 'no_final_answer: the final answer is empty');
  assert.match(judge([say('Half.'), abort, end], {}, { reason: 'hard_timeout' }).error ?? '', /^no_final_answer/);
  // After the result it is only the echo of our signal.
  assert.equal(judge([say('Done.'), end, abort], {}, { reason: 'lingered' }).error, null);
});

test('what a sub-agent says or suffers is not the word of the agent; its tools are told', () => {
  const inside = { agentId: 'b197655e' };
  const lines = [
    say('Before.'),
    event('tool.execution_start', { toolCallId: 'b', toolName: 'view', arguments: { path: '/w/a' } }, inside),
    event('assistant.message_delta', { deltaContent: 'sub' }, inside),
    event('assistant.message', { content: 'sub', toolRequests: [], parentToolCallId: 'a' }),
    event('session.error', { errorType: 'quota', message: 'out' }, inside),
    end,
  ];
  const { error, answer, reading } = judge(lines);
  assert.deepEqual([error, answer, reading.text], [null, 'Before.', 'Before.']);
  assert.deepEqual(
    reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input}`),
    ['view running: /w/a'],
  );
});

test('no result, or another conversation, is no success', () => {
  assert.match(judge([say('Done.')]).error ?? '', /^no_final_answer: the agent ended without a final event/);
  assert.match(judge([say('Done.'), end], {}, { resume: 'other' }).error ?? '', /^conversation_mismatch/);
  assert.equal(judge([say('Done.'), end], {}, { resume: id }).error, null);
  assert.match(judge([say('Done.'), end], { exitCode: 1 }).error ?? '', /^exit_nonzero/);
});

test('a later turn takes the success of the one before back', () => {
  const next = event('assistant.turn_start', { turnId: '1' });
  assert.match(judge([say('Done.'), end, next]).error ?? '', /^no_final_answer/);
  assert.equal(judge([say('Done.'), end, next, say('More.'), end]).answer, 'More.');
});

const failures: [data: object, error: string, resets?: string][] = [
  [
    { errorType: 'quota', message: 'You have no quota left, resets in 3h5m.' },
    'quota: You have no quota left, resets in 3h5m.',
    'in 3h5m',
  ],
  [{ errorType: 'rate_limit', message: 'slow down', statusCode: 429 }, 'quota: slow down'],
  [{ errorType: 'authorization', message: 'no licence' }, 'auth: no licence'],
  [{ errorType: 'query', message: 'refused', statusCode: 401 }, 'auth: refused'],
  [{ errorType: 'context_limit', message: 'too long' }, 'agent_error: too long'],
  [{}, 'agent_error: the session failed without a reason'],
];

for (const [data, error, resets] of failures) {
  test(`copilot failing with ${JSON.stringify(data)}`, () => {
    const { reading, error: told } = judge([event('session.error', data), end]);
    assert.deepEqual([told, reading.failure?.resets], [error, resets]);
  });
}

const refusals: [stderr: string, error: string][] = [
  ['Error: No authentication information found.\n\nRun copilot login\n', 'auth: No authentication information found.'],
  ["error: unknown option '--x'\n\nTry 'copilot --help'\n", "agent_error: unknown option '--x'"],
  ['', 'agent_error: copilot exited with code 1 and said nothing'],
];

for (const [stderrTail, error] of refusals) {
  test(`refused before the session: ${error}`, () => assert.equal(judge([], { exitCode: 1, stderrTail }).error, error));
}

test('an end by a signal or a reason of ours is not taken for words of copilot', () => {
  const stderrTail = 'Error: No authentication information found.\n';
  const killed = replayLines(copilot, [], { exitCode: 143, signal: 'SIGTERM', stderrTail }).verdict.error;
  assert.equal(killed?.code, 'signal');
  assert.equal(judge([], { exitCode: 1, stderrTail }, { reason: 'hard_timeout' }).reading.failure, null);
});

test('unknown events and odd ids are let pass, a warning is told', () => {
  const odd = JSON.stringify({ exitCode: 0, sessionId: '--last', type: 'result' });
  const { error, reading, warnings } = judge([
    event('later', { content: 'x' }),
    event('session.warning', { warningType: 'policy', message: 'odd policy' }),
    say('Done.'),
    odd,
  ]);
  assert.deepEqual([error, reading.conversationId, warnings], [null, null, ['odd policy']]);
});

function event(type: string, data: object, top: object = {}): string {
  return JSON.stringify({ type, data, id: 'x', ...top });
}

function say(content: string): string {
  return event('assistant.message', { content, toolRequests: [], model: 'm' });
}
