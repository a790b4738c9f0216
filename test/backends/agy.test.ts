// agy.ts and agy-end.ts: the command line, and the shapes that no made-up run holds. Each way in which agy says SUCCESS and is not
// has its opposite beside it: the same words where they prove nothing.
import assert from 'node:assert/strict';
import test from 'node:test';
import { agy } from '../../companion/src/backends/agy.ts';
import { type ReplayOptions, replayLines } from './replay.ts';
import { makeRequest } from './request.ts';

const id = '0a0a0a0a-1111-4222-8333-444444444444';
const head = ['--output-format', 'stream-json', '--input-format', 'stream-json', '--disable-slash-commands'];
const place = ['--print-timeout', '3600s', '--add-dir', '/w'];
const request = makeRequest();

test('plan: the exact arguments of each profile, of a model and of a resumed conversation', () => {
  const skip = '--dangerously-skip-permissions';
  assert.deepEqual(agy.plan(request).args, [...head, ...place, skip]);
  assert.deepEqual(agy.plan({ ...request, profile: 'unrestricted' }).args, [...head, ...place, skip]);
  assert.deepEqual(agy.plan({ ...request, profile: 'restricted' }).args, [...head, ...place, '--mode', 'plan']);
  const resumed = agy.plan({ ...request, model: '-odd', resume: id }).args;
  assert.deepEqual(resumed, [...head, ...place, skip, '--model=-odd', '--conversation', id]);
});

test('plan: the time limit is that of the job, in whole seconds, never none', () => {
  const limit = (deadlineMs: number) => agy.plan({ ...request, deadlineMs }).args[6];
  assert.deepEqual([limit(7_200_000), limit(1500), limit(250)], ['7200s', '2s', '1s']);
});

test('plan: folders to write to are named too, but not to an agent that must not write', () => {
  const writable = ['/repo/.git'];
  assert.deepEqual(agy.plan({ ...request, writable }).args.slice(7, 11), [
    '--add-dir',
    '/w',
    '--add-dir',
    '/repo/.git',
  ]);
  assert.ok(!agy.plan({ ...request, writable, profile: 'restricted' }).args.includes('/repo/.git'));
});

test('plan: the prompt is one line of stdin, whatever it holds, and never an argument', () => {
  for (const prompt of ['--help', '/usage', '-', '@file', 'a\'b"c`d$e\\\r\n\t\u{1f600}\u2028x', 'x'.repeat(300_000)]) {
    const { stdin, args, promptBy } = agy.plan({ ...request, prompt });
    assert.equal(promptBy, 'stdin');
    assert.equal(stdin.indexOf('\n'), stdin.length - 1);
    assert.deepEqual(JSON.parse(stdin), { event: 'user', message: { content: prompt } });
    assert.deepEqual(args, agy.plan(request).args);
  }
});

test('plan: no update while it runs, and nothing of an agy around us', () => {
  assert.deepEqual(agy.plan(request).environment, { AGY_CLI_DISABLE_AUTO_UPDATE: '1' });
  const markers: readonly string[] = agy.hostMarkers;
  assert.ok(markers.includes('ANTIGRAVITY_AGENT') && !markers.includes('GEMINI_API_KEY'));
});

const clean = { exitCode: 0, signal: null, stderrTail: '' };
const init = event('init', { model: 'm' }, { conversation_id: id });
const fine = result({ status: 'SUCCESS', response: 'Fine.\n' });

function judge(lines: string[], ending: Partial<typeof clean> = {}, options: ReplayOptions = {}) {
  const { reading, verdict } = replayLines(agy, lines, { ...clean, ...ending }, options);
  const error = verdict.error && `${verdict.error.code}: ${verdict.error.message}`;
  return { reading, error, answer: verdict.answer, warnings: verdict.warnings.map(({ code }) => code) };
}

test('SUCCESS with an empty response is none, text so far or not (a dropped stream)', () => {
  const text = step({ step_type: 'agent_response', state: 'ACTIVE', text_delta: 'Half' });
  for (const response of ['', '\n', undefined]) {
    const { error, reading } = judge([init, text, result({ status: 'SUCCESS', response })]);
    assert.equal(error, 'no_final_answer: the final answer is empty');
    assert.equal(reading.text, 'Half');
  }
});

test('any other status than SUCCESS is none, also beside an answer', () => {
  for (const status of ['ERROR', 'CANCELED', 'INTERRUPTED', 'INVALID', 'WAITING', 'RUNNING', undefined]) {
    const { error, answer, warnings } = judge([init, result({ status, response: 'Fine.' })]);
    assert.equal(error, 'agent_error: the agent reported a failure', String(status));
    assert.equal(answer, 'Fine.');
    assert.deepEqual(warnings, ['agent_status']);
  }
});

test('a refused tool beside an answer is a warning that names it, with the call if there was one', () => {
  const call = step({
    step_type: 'tool',
    state: 'DONE',
    tool_name: 'run_command',
    tool_info: { name: 'run_command', parameters: { CommandLine: 'rm x' } },
  });
  const denied_actions = [{ action: 'command', display_name: 'RunCommand' }, { action: 'mcp' }, {}];
  const words = step({ step_index: 2, step_type: 'agent_response', state: 'DONE', text_delta: 'No.' });
  const end = result({ status: 'SUCCESS', response: 'No.', denied_actions });
  const { error, reading, warnings } = judge([init, call, words, end]);
  assert.equal(error, null);
  assert.deepEqual(reading.denials, ['run_command: rm x', 'mcp', 'a tool that has no name']);
  assert.deepEqual(warnings, ['permission_denied', 'permission_denied', 'permission_denied']);
});

test('words before a refusal are no answer, words after it are', () => {
  const say = (text_delta: string) => step({ step_index: 1, step_type: 'agent_response', state: 'DONE', text_delta });
  const call = (state: string, step_index = 2) =>
    step({ step_index, step_type: 'tool', state, tool_name: 'run_command' });
  const denied_actions = [{ action: 'command', display_name: 'RunCommand' }];
  const stopped = result({ status: 'SUCCESS', response: 'I will run it.', denied_actions });
  const before = judge([init, say('I will run it.'), call('ACTIVE'), call('DONE'), say('\n'), stopped]);
  assert.match(before.error ?? '', /^permission_denied: there is no final answer/);
  assert.equal(before.answer, null);
  const untold = result({ status: 'SUCCESS', response: 'I will run it.' });
  const stderrTail = 'jetski: a tool required the "command" permission, so it was auto-denied.\n';
  assert.match(judge([init, say('I will.'), call('DONE'), untold], { stderrTail }).error ?? '', /^permission_denied/);
  const after = judge([init, call('ACTIVE'), call('DONE'), say('I may not.'), stopped]);
  assert.deepEqual([after.error, after.answer], [null, 'I will run it.']);
  // The late end of a call that was begun before the words takes nothing back.
  const late = judge([init, call('ACTIVE', 3), call('DONE'), say('I may not.'), call('DONE', 3), stopped]);
  assert.equal(late.error, null);
  // Without a refusal the response is the answer, wherever it stood.
  assert.equal(judge([init, say('Done.'), call('DONE'), fine]).error, null);
});

test('a refused tool that only stderr tells of', () => {
  const stderrTail = 'jetski: no output produced - a tool required the "command" permission, so it was auto-denied.\n';
  const empty = judge([init, result({ status: 'SUCCESS', response: '' })], { stderrTail });
  assert.equal(empty.error, 'permission_denied: there is no final answer and these were refused: command');
  const answered = judge([init, fine], { stderrTail });
  assert.deepEqual([answered.error, answered.warnings], [null, ['permission_denied']]);
  const denied_actions = [{ action: 'write_file' }];
  const both = judge([init, result({ status: 'SUCCESS', response: '', denied_actions })], { stderrTail });
  assert.deepEqual(both.reading.denials, ['write_file'], 'told twice, counted once');
  const quoted = judge([init, fine], { stderrTail: 'note: jetski: something was auto-denied\n' });
  assert.deepEqual([quoted.error, quoted.warnings], [null, []]);
});

const halves = ['[agy] print timeout after 8s with turn in progress', 'returning partial output'] as const;

test("agy's own time limit is response_timeout, whoever ended the process; half a line or an answer that quotes it is none", () => {
  const stderrTail = `${halves.join('; ')}\n`;
  assert.match(judge([init, fine], { stderrTail }).error ?? '', /^response_timeout: \[agy\] print timeout after 8s/);
  assert.match(judge([init, fine], { stderrTail }, { reason: 'hard_timeout' }).error ?? '', /^response_timeout/);
  assert.equal(judge([init, fine], { stderrTail: halves.join('\n') }).error, null);
  assert.equal(judge([init, result({ status: 'SUCCESS', response: stderrTail })]).error, null);
});

test('the time limit of older versions, told as an error', () => {
  const stderrTail = 'Error: timeout waiting for response\n';
  assert.match(judge([init], { exitCode: 1, stderrTail }).error ?? '', /^response_timeout: timeout waiting/);
  const told = judge([init, result({ status: 'ERROR', response: '', error: 'timeout waiting for response' })], {
    exitCode: 1,
  });
  assert.match(told.error ?? '', /^response_timeout/);
});

test('a killed background command needs both lines', () => {
  const idle = 'root agent idle; waiting up to 30m0s for 2 background task(s)\n';
  const killed = 'terminating 2 background task(s) on exit\n';
  assert.match(judge([init, fine], { stderrTail: idle + killed }).error ?? '', /^agent_error: agy ended commands/);
  assert.match(judge([init, fine], { stderrTail: idle + killed }, { reason: 'lingered' }).error ?? '', /^agent_error/);
  assert.equal(judge([init, fine], { stderrTail: killed }).error, null);
  assert.equal(judge([init, fine], { stderrTail: idle }).error, null);
});

test('a conversation that was replaced: session_lost with the warning, conversation_mismatch without it', () => {
  const warning = { stderrTail: 'warning: conversation "c-old" not found\n' };
  const lost = judge([init, fine], warning, { resume: 'c-old' });
  assert.equal(lost.error, 'session_lost: warning: conversation "c-old" not found');
  assert.deepEqual(lost.warnings, []);
  assert.match(judge([init, fine], {}, { resume: 'c-old' }).error ?? '', /^conversation_mismatch/);
  // The id that was asked for did come back, and a fresh run asked for none.
  assert.deepEqual(judge([init, fine], warning, { resume: id }).error, null);
  assert.deepEqual(judge([init, fine], warning).warnings, ['conversation_not_found']);
});

test('the result tells last which conversation it was', () => {
  const other = event('result', { conversation_id: 'c-new', status: 'SUCCESS', response: 'Fine.' });
  assert.match(judge([init, other], {}, { resume: id }).error ?? '', /^conversation_mismatch/);
});

const old = 'API error: the model is overloaded';
const again = result({ status: 'ERROR', response: 'Good answer.', error: old });

test('an answer beside the error of an earlier turn is done with a warning that holds that error', () => {
  const { error, answer, reading } = judge([init, again], {}, { resume: id, earlierError: old });
  assert.deepEqual([error, answer], [null, 'Good answer.']);
  assert.deepEqual(reading.warnings, [{ code: 'earlier_error_repeated', message: old }]);
});

test('it is a failure in every other case', () => {
  const resumed = { resume: id, earlierError: old };
  const failed = (lines: string[], options: ReplayOptions, ending = {}) => judge(lines, ending, options).error;
  assert.equal(failed([init, again], { resume: id }), `agent_error: ${old}`, 'no earlier error');
  assert.equal(failed([init, again], { earlierError: old }), `agent_error: ${old}`, 'a fresh conversation');
  assert.equal(failed([init, again], { ...resumed, earlierError: 'another' }), `agent_error: ${old}`, 'a new error');
  assert.equal(failed([init, again], resumed, { exitCode: 3 }), `agent_error: ${old}`, 'exit 3');
  const empty = result({ status: 'ERROR', response: '', error: old });
  assert.equal(failed([init, empty], resumed), `agent_error: ${old}`, 'no answer');
  const canceled = result({ status: 'CANCELED', response: 'Half.', error: old });
  assert.equal(failed([init, canceled], resumed), `agent_error: CANCELED: ${old}`, 'another status');
  const cut = { stderrTail: halves.join('; ') };
  assert.match(failed([init, again], resumed, cut) ?? '', /^response_timeout/, 'cut off');
  const elsewhere = event('init', {}, { conversation_id: 'c-new' });
  const there = event('result', { status: 'ERROR', response: 'Good.', error: old });
  assert.match(failed([elsewhere, there], resumed) ?? '', /^conversation_mismatch/, 'another conversation');
});

test('AGY_ERROR: the last line counts, every key may be missing, and what it got over does not count', () => {
  const line = (value: object) => `AGY_ERROR: ${JSON.stringify(value)}\n`;
  const quota = line({ short_error: 'quota reached. Resets in 3h5m.', retryable: true, error_id: 'x' });
  const first = line({ short_error: 'unavailable', retryable: true });
  const { error, reading } = judge([init], { exitCode: 3, stderrTail: `${first}noise\n${quota}` });
  assert.equal(error, 'quota: quota reached. Resets in 3h5m.');
  assert.equal(reading.failure?.resets, 'in 3h5m');
  const coded = line({ status: 'UNAUTHENTICATED', error_code: 401, retryable: false });
  assert.equal(judge([init], { exitCode: 3, stderrTail: coded }).error, 'auth: UNAUTHENTICATED code 401');
  assert.equal(judge([init], { exitCode: 3, stderrTail: 'AGY_ERROR: not json\n' }).error, 'agent_error: not json');
  assert.equal(judge([init, fine], { stderrTail: quota }).error, null);
  // After partial output (1.2.10): the result says SUCCESS, the exit code does not.
  assert.match(judge([init, fine], { exitCode: 3, stderrTail: quota }).error ?? '', /^quota/);
  assert.match(judge([init, fine], { exitCode: 3 }).error ?? '', /^exit_nonzero/);
  // Our own signal may have caused it.
  assert.equal(judge([init, fine], { exitCode: 1, stderrTail: quota }, { reason: 'lingered' }).error, null);
});

test("AGY_ERROR tells the kind of a failure whose event does not, in the event's words", () => {
  const failed = result({ status: 'ERROR', response: '', error: 'agent execution terminated' });
  const stderrTail = 'AGY_ERROR: {"status":"RESOURCE_EXHAUSTED"}\n';
  assert.equal(judge([init, failed], { exitCode: 3, stderrTail }).error, 'quota: agent execution terminated');
});

test('a wait for sign-in is seen at once, at the beginning of a line only', () => {
  const waits = (stderrTail: string) => judge([], { exitCode: 1, stderrTail }).reading.waitsForSignIn;
  assert.equal(waits('Authentication required. Open this URL\n'), true);
  assert.equal(waits('\u001b[33mauthentication required\u001b[0m\n'), true);
  assert.equal(waits('note: authentication required by the server\n'), false);
  const stderrTail = 'Authentication required. Open this URL\n';
  const ended = replayLines(agy, [], { exitCode: null, signal: 'SIGTERM', stderrTail }, { reason: 'other' });
  assert.deepEqual(ended.verdict.error, { code: 'auth', message: 'Authentication required. Open this URL' });
  // Somebody did sign in.
  assert.equal(judge([init, fine], { stderrTail }).error, null);
});

const refusals: [stderr: string, exitCode: number, error: string][] = [
  ['Error: authentication timed out\n', 1, 'auth: authentication timed out'],
  [
    'flag provided but not defined: -x\nUsage of agy:\n  -p string\n',
    2,
    'agent_error: flag provided but not defined: -x',
  ],
  ['Error: conversation "c" not found\n', 1, 'session_lost: conversation "c" not found'],
  ['', 1, 'agent_error: agy exited with code 1 and said nothing'],
];

for (const [stderrTail, exitCode, error] of refusals) {
  test(`refused before the turn: ${error}`, () => assert.equal(judge([], { exitCode, stderrTail }).error, error));
}

test('an end by a signal or a reason of ours is not taken for words of agy', () => {
  const stderrTail = 'Error: authentication timed out\n';
  const killed = replayLines(agy, [init], { exitCode: 143, signal: 'SIGTERM', stderrTail }).verdict.error;
  assert.equal(killed?.code, 'signal');
  assert.equal(judge([init], { exitCode: 1, stderrTail }, { reason: 'hard_timeout' }).reading.failure, null);
});

test('"interrupted" after the answer is the echo of our signal; before it, it is a failure', () => {
  const interrupted = result({ status: 'ERROR', response: '', error: 'interrupted' });
  const late = judge([init, fine, interrupted], { exitCode: 1 }, { reason: 'lingered' });
  assert.deepEqual([late.error, late.answer], [null, 'Fine.\n']);
  assert.equal(judge([init, interrupted], { exitCode: 1 }).error, 'agent_error: interrupted');
  // Ended by us in the middle: no word of agy on what went wrong, and the text so far stays.
  const text = step({ step_type: 'agent_response', state: 'ACTIVE', text_delta: 'Half' });
  const { reading } = judge([init, text, interrupted], { exitCode: 1 }, { reason: 'hard_timeout' });
  assert.deepEqual([reading.failure, reading.final, reading.answer, reading.text], [null, null, null, 'Half']);
});

test('a later turn takes the success of the one before back', () => {
  const next = step({ step_type: 'user_input', state: 'DONE' });
  assert.match(judge([init, fine, next]).error ?? '', /^no_final_answer: the agent ended without a final event/);
  assert.equal(judge([init, fine, next, result({ status: 'SUCCESS', response: 'More.' })]).answer, 'More.');
  // What only closes the turn does not.
  assert.equal(judge([init, fine, step({ step_type: 'checkpoint', state: 'DONE' })]).error, null);
});

test('key order, unknown events and states, and a missing init do not matter', () => {
  const lines = [
    '{"later":{},"event":"later"}',
    `{"step_update":{"text_delta":"Hi","step_type":"agent_response","conversation_id":"${id}","state":"PAUSED"},"event":"step_update"}`,
    '{"event":"step_update"}',
    '{"event":"result","result":{"response":"Hi","status":"SUCCESS"}}',
    'Fetching models...',
  ];
  const { error, answer, reading } = judge(lines, {}, { resume: id });
  assert.deepEqual([error, answer, reading.text, reading.unparsedLines], [null, 'Hi', 'Hi', 1]);
});

test('the words of a sub-agent are not those of the agent, its tools are told', () => {
  const other = { conversation_id: 'c-sub' };
  const lines = [
    init,
    event('step_update', { ...other, step_type: 'agent_response', state: 'DONE', text_delta: 'sub' }),
    event('step_update', { ...other, step_index: 1, step_type: 'tool', state: 'ACTIVE', tool_name: 'grep_search' }),
    step({ step_type: 'agent_response', state: 'ACTIVE', text_delta: 'ma' }),
    step({ step_type: 'agent_response', state: 'DONE', text_delta: 'in' }),
  ];
  const { reading } = judge(lines);
  assert.equal(reading.text, 'main\n');
  assert.equal(reading.conversationId, id);
  assert.deepEqual(
    reading.tools.map((tool) => `${tool.name} ${tool.status}`),
    ['grep_search running'],
  );
});

test('what a call was about, whichever tool it is', () => {
  const call = (step_index: number, parameters: object) =>
    step({ step_index, step_type: 'tool', state: 'DONE', tool_info: { name: 't', parameters } });
  const parameters = [{ TargetFile: '/w/a' }, { SearchDirectory: '/w', Query: 'x' }, { Url: 'u' }, {}];
  const { reading } = judge([init, ...parameters.map((value, n) => call(n, value))]);
  assert.deepEqual(
    reading.tools.map((tool) => tool.input),
    ['/w/a', '/w', '{"Url":"u"}', '{}'],
  );
});

test('an id that could be read as an option is not taken', () => {
  for (const odd of ['--last', '', 'a b', 'x'.repeat(300), 'a\n', 7]) {
    assert.equal(judge([event('init', {}, { conversation_id: odd })]).reading.conversationId, null, String(odd));
  }
});

function event(name: string, payload: object, top: object = {}): string {
  return JSON.stringify({ event: name, ...top, [name]: payload });
}

function step(payload: object): string {
  return event('step_update', { conversation_id: id, step_index: 1, ...payload });
}

function result(payload: object): string {
  return event('result', { conversation_id: id, ...payload });
}
