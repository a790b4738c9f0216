// gemini.ts: the command line of each profile, and what events and endings mean that no recording holds.
import assert from 'node:assert/strict';
import test from 'node:test';
import { gemini } from '../../companion/src/backends/gemini.ts';
import { replay, replayLines } from './replay.ts';
import { freshId, makeRequest } from './request.ts';

const head = ['-o', 'stream-json', '--skip-trust', '--approval-mode'];
const session = '8428d41f-c52c-4031-a050-fd16adad3c6d';

test('plan: the exact arguments of each profile; a new conversation gets its id from us', () => {
  const standard = gemini.plan(makeRequest());
  assert.deepEqual(standard.args, [...head, 'yolo', `--session-id=${freshId}`]);
  assert.equal(standard.conversationId, freshId);
  assert.deepEqual(gemini.plan(makeRequest({ profile: 'unrestricted' })).args, standard.args);
});

test('plan: restricted has rules in a file, and folders that nobody trusts', () => {
  const plan = gemini.plan(makeRequest({ profile: 'restricted' }));
  const policy = '--policy=/w/.job-state/jobs/x/agent-settings.toml';
  assert.deepEqual(plan.args, [...head, 'default', policy, `--session-id=${freshId}`]);
  assert.match(plan.settings ?? '', /toolName = "\*"\ndecision = "deny"\npriority = 998\n/);
  assert.doesNotMatch(plan.settings ?? '', /shell|write_file|replace|plan_mode|invoke_agent/);
  assert.equal(plan.environment.GEMINI_CLI_TRUSTED_FOLDERS_PATH, '/dev/null/none');
  assert.deepEqual(plan.remove, ['GEMINI_CLI_TRUST_WORKSPACE']);
  const standard = gemini.plan(makeRequest());
  assert.equal(standard.settings, undefined);
  assert.equal(standard.environment.GEMINI_CLI_TRUSTED_FOLDERS_PATH, undefined);
});

test('settings of the user that would let the project in, or win, rule restricted out', () => {
  const faultIn = (settings: unknown) => gemini.policy.findFault(JSON.stringify(settings), 'restricted');
  assert.equal(faultIn({}), null);
  assert.equal(faultIn({ security: { folderTrust: { enabled: true } }, tools: { allowed: ['write_file'] } }), null);
  assert.match(faultIn({ security: { folderTrust: { enabled: false } } }) ?? '', /folderTrust/);
  assert.match(faultIn({ adminPolicyPaths: ['/x.toml'] }) ?? '', /adminPolicyPaths/);
  const commented = '{ // "x" \n "ui": {"theme": "a//b"}, /* x */ "security": {"folderTrust": {"enabled": false}} }';
  assert.match(gemini.policy.findFault(commented, 'restricted') ?? '', /folderTrust/);
  assert.match(gemini.policy.findFault('{', 'restricted') ?? '', /no JSON object/);
  assert.equal(gemini.policy.findFault('{', 'standard'), null);
});

test('plan: model and conversation; a resumed one gets no id', () => {
  const plan = gemini.plan(makeRequest({ model: '-odd', resume: session }));
  assert.deepEqual(plan.args, [...head, 'yolo', '--model=-odd', `--resume=${session}`]);
  assert.equal(plan.conversationId, null);
});

test('plan: the prompt is stdin as it is and never an argument; what a gemini around us has set is taken out', () => {
  for (const prompt of ['--help', '/exit', '@file', 'a\'b"c`d$e\\\r\n\t😀']) {
    const plan = gemini.plan(makeRequest({ prompt }));
    assert.equal(plan.promptBy, 'stdin');
    assert.equal(plan.stdin, prompt);
    assert.ok(!plan.args.includes(prompt));
  }
  const markers: readonly string[] = gemini.hostMarkers;
  assert.ok(markers.includes('GEMINI_CLI') && markers.includes('GEMINI_CLI_NO_RELAUNCH'));
  assert.ok(!markers.includes('GEMINI_API_KEY'));
});

test('the texts of several turns are joined with a blank line between them', () => {
  const lines = [
    init(),
    say('I look'),
    say(' first.'),
    use('t1', 'read_file', { file_path: 'a.txt' }),
    event('tool_result', { tool_id: 't1', status: 'success', output: 'one' }),
    say('It says one.'),
    success,
  ];
  const { reading, verdict } = replayLines(gemini, lines, clean);
  assert.equal(verdict.error, null);
  assert.equal(verdict.answer, 'I look first.\n\nIt says one.');
  assert.deepEqual(
    reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input} -> ${tool.output}`),
    ['read_file completed: {"file_path":"a.txt"} -> one'],
  );
});

test('a tool that is refused or not offered is denied: a warning beside an answer, permission_denied without one', () => {
  const refused: [type: string, message: string][] = [
    ['policy_violation', 'Tool execution denied by policy.'],
    ['tool_not_registered', 'Tool "run_shell_command" not found.'],
    ['unhandled_exception', 'Tool execution for "Shell" requires user confirmation, which is not supported'],
  ];
  for (const [type, message] of refused) {
    const lines = [
      init(),
      use('t1', 'run_shell_command', { command: 'rm -rf /' }),
      event('tool_result', { tool_id: 't1', status: 'error', error: { type, message } }),
    ];
    const withAnswer = replayLines(gemini, [...lines, say('I could not.'), success], clean);
    assert.equal(withAnswer.verdict.error, null);
    assert.deepEqual(withAnswer.verdict.warnings, [
      { code: 'permission_denied', message: 'refused to the agent: run_shell_command: rm -rf /' },
    ]);
    assert.equal(replayLines(gemini, [...lines, success], clean).verdict.error?.code, 'permission_denied', type);
  }
});

test('a command that the shell tool blocks is denied, though its status is success', () => {
  const output = 'Blocked: command substitution detected in shell command.';
  const lines = [
    use('t1', 'run_shell_command', { command: 'echo $(x)' }),
    event('tool_result', { tool_id: 't1', status: 'success', output }),
  ];
  const { reading } = replayLines(gemini, lines, clean);
  assert.equal(reading.tools[0]?.status, 'denied');
  assert.deepEqual(reading.denials, ['run_shell_command: echo $(x)']);
});

test('a tool that failed is no denial', () => {
  const failed = event('tool_result', { tool_id: 't1', status: 'error', error: { type: 'x', message: 'no file' } });
  const { reading } = replayLines(gemini, [use('t1', 'read_file', {}), failed], clean);
  assert.equal(reading.tools[0]?.status, 'failed');
  assert.deepEqual(reading.denials, []);
});

test('an error event is a failure whatever the result says; a warning is none', () => {
  const told = (severity: string, message: string) =>
    replayLines(gemini, [init(), say('Half'), event('error', { severity, message }), success], clean).verdict;
  assert.deepEqual(told('error', 'Maximum session turns exceeded').error, {
    code: 'agent_error',
    message: 'Maximum session turns exceeded',
  });
  assert.equal(told('warning', 'Loop detected, stopping execution').error?.code, 'agent_error');
  assert.equal(told('warning', 'Agent execution blocked: by a hook').error?.code, 'agent_error');
  const odd = told('warning', 'Something odd');
  assert.equal(odd.error, null);
  assert.deepEqual(odd.warnings, [{ code: 'agent_warning', message: 'Something odd' }]);
});

const failures: [message: string, code: string, resets?: string][] = [
  ['[API Error: {"error":{"code":429,"message":"slow down","status":"X"}}]', 'quota'],
  ['[API Error: You have exhausted your daily quota on this model.]', 'quota'],
  ['You have exhausted your capacity on this model. Your quota will reset after 18h12m13s.', 'quota', 'in 18h12m13s'],
  [
    '[API Error: {"error":{"code":429,"message":"You exceeded your current quota. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED"}}]',
    'quota',
    'in 34.07s',
  ],
  ['[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]', 'auth'],
  ['IneligibleTierError: this account cannot use it any more', 'auth'],
  ['Reached max session turns for this session.', 'agent_error'],
];

for (const [message, code, resets] of failures) {
  test(`gemini failing with "${message.slice(0, 60)}" is ${code}`, () => {
    const lines = [init(), event('result', { status: 'error', error: { type: 'unknown', message }, stats: {} })];
    const { error } = replayLines(gemini, lines, { ...clean, exitCode: 173 }).verdict;
    assert.deepEqual(error, resets === undefined ? { code, message } : { code, message, resets });
  });
}

test('an end that only stderr and the exit code tell', () => {
  const end = (exitCode: number, stderrTail: string) => replayLines(gemini, [], { exitCode, signal: null, stderrTail });
  assert.equal(end(145, 'Warning: x\nError when talking\n').verdict.error?.code, 'auth');
  assert.equal(end(173, '').verdict.error?.message, 'gemini exited with code 173 and said nothing');
  const alike = replayLines(gemini, [], { exitCode: 145, signal: 'SIGCHLD', stderrTail: 'Error when talking' });
  assert.equal(alike.verdict.error?.code, 'auth');
  const killed = replayLines(gemini, [], { exitCode: 137, signal: 'SIGKILL', stderrTail: 'x' });
  assert.equal(killed.verdict.error?.code, 'signal');
  assert.equal(end(1, 'oops\n    at x (y)\n').verdict.error?.message, 'oops');
  const stopped = replayLines(gemini, [], { exitCode: 41, signal: null, stderrTail: 'x' }, { reason: 'hard_timeout' });
  assert.equal(stopped.reading.failure, null);
});

test('another conversation than the one asked for, an id that could be an option, and a turn after the result', () => {
  assert.equal(replay(gemini, 'text', { resume: session }).verdict.error?.code, 'conversation_mismatch');
  for (const id of ['--yolo', '', 'a b', 'x'.repeat(300)]) {
    const { reading } = replayLines(gemini, [event('init', { session_id: id })], clean);
    assert.equal(reading.conversationId, null, id);
  }
  assert.equal(replayLines(gemini, [init(), say('a'), success, say('b')], clean).reading.final, null);
});

test('unknown events and lines that are no JSON objects change nothing', () => {
  const lines = ['', 'banner', '[1]', '{"type":"mess', '{"type":7}', event('thought', { x: 1 }), say('fine'), success];
  const { reading, verdict } = replayLines(gemini, lines, clean);
  assert.equal(reading.unparsedLines, 3);
  assert.equal(verdict.answer, 'fine');
  assert.equal(verdict.error, null);
});

const clean = { exitCode: 0, signal: null, stderrTail: '' };
const success = event('result', { status: 'success', stats: {} });

function init(): string {
  return event('init', { session_id: session, model: 'm' });
}

function say(content: string): string {
  return event('message', { role: 'assistant', content, delta: true });
}

function use(id: string, name: string, parameters: Record<string, unknown>): string {
  return event('tool_use', { tool_name: name, tool_id: id, parameters });
}

function event(type: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ type, ...fields });
}

test("plan: folders that it must be able to write belong to its workspace, but not to a reader's", () => {
  const writable = ['/h one', '/h2'];
  for (const profile of ['standard', 'unrestricted'] as const) {
    const { args } = gemini.plan(makeRequest({ profile, writable }));
    const given = args.filter((arg) => arg.startsWith('--include-directories='));
    assert.deepEqual(given, ['--include-directories=/h one', '--include-directories=/h2']);
  }
  const { args } = gemini.plan(makeRequest({ profile: 'restricted', writable }));
  assert.ok(!args.some((arg) => arg.includes('/h2')));
});
