#!/usr/bin/env node
// NOT agy: a scripted stand-in for the Antigravity CLI, which cannot be installed here. It replays shapes that are documented
// for 1.1.15 to 1.4 and proves only that we read those shapes. It heeds its options: without
// --dangerously-skip-permissions every command is refused, an unknown --conversation gives a new one, usage runs on.
//
// Scenarios: text tool write denied slowtool auth auth-timeout e401 quota error cut empty hang killed print-timeout
// background-killed resume-unknown resumed-error linger leave-child. e429 and e500 are other names for quota and error.
import { randomUUID } from 'node:crypto';
import {
  begin,
  complain,
  leaveChild,
  parseOptions,
  recall,
  remember,
  runCommand,
  say,
  waitForEver,
} from '../stand-in.mjs';

const known = {
  '--output-format': 'value',
  '--input-format': 'value',
  '--print-timeout': 'value',
  '--add-dir': 'value',
  '--mode': 'value',
  '--model': 'value',
  '--conversation': 'value',
  '--disable-slash-commands': 'flag',
  '--dangerously-skip-permissions': 'flag',
  '--version': 'flag',
};

if (process.argv[2] === '--version') {
  console.log('1.3.1');
  process.exit(0);
}

const { argv, scenario, stdin } = await begin('agy');
const options = parseOptions(argv, known, refuse);
if (options['--input-format']?.[0] !== 'stream-json' || options['--output-format']?.[0] !== 'stream-json') refuse('-p');
const mayRun = options['--dangerously-skip-permissions'] !== undefined;
const model = options['--model']?.[0] ?? 'gemini-x-flash-low';
const asked = options['--conversation']?.[0];
const lost = asked !== undefined && (scenario === 'resume-unknown' || recall('agy', asked) === undefined);
const conversation_id = asked === undefined || lost ? randomUUID() : asked;
const memory = recall('agy', conversation_id) ?? { turns: 0, input: 0, output: 0, error: null };
let step_index = memory.turns * 10;
let answer = '';
let hasBegun = false;

process.on('SIGTERM', () => {
  if (hasBegun) finish('ERROR', { error: 'interrupted' });
  process.exit(1);
});

await signIn();
const prompt = readPrompt();
if (lost) complain(`warning: conversation "${asked}" not found`);
say({
  event: 'init',
  conversation_id,
  init: {
    model,
    cwd: process.cwd(),
    tools: ['run_command', 'view_file'],
    permission_mode: mayRun ? 'always-proceed' : 'request-review',
  },
});
hasBegun = true;
step({ state: 'DONE', step_type: 'user_input' });
memory.turns += 1;
remember('agy', conversation_id, memory);
process.exit(await play());

async function play() {
  const name = { e429: 'quota', e500: 'error', 'resume-unknown': 'text' }[scenario] ?? scenario;
  const scene = makeScenes()[name];
  if (!scene) throw new Error(`the stand-in for agy knows no scenario ${scenario}`);
  return (await scene()) ?? 0;
}

/** Each returns the exit code (0 when it returns none). */
function makeScenes() {
  return {
    text: () => succeed(`You said: ${prompt.slice(0, 200)}\n`),
    tool: async () => {
      if (await call('echo hi')) succeed('It printed hi.\n');
    },
    write: async () => {
      if (await call('echo hi > made.txt')) succeed('I wrote it.\n');
    },
    denied: async () => {
      await call('touch x', { isRefused: true });
    },
    slowtool: async () => {
      if (await call('exec sleep 300')) succeed('It slept.\n');
    },
    e401: () => fail('API error: UNAUTHENTICATED (code 401): API key not valid. Please pass a valid API key.'),
    quota: () => fail('API error (attempt 5): RESOURCE_EXHAUSTED (code 429): quota reached. Resets in 76h3m46s.', 0),
    error: () => fail('API error: INTERNAL (code 500): made up'),
    cut: () => {
      // The stream to the model broke: agy's result says SUCCESS and holds nothing.
      text('Half an ans');
      finish('SUCCESS', { response: '' });
    },
    empty: () => finish('SUCCESS', { response: '' }),
    hang: () => {
      text('Working on');
      return waitForEver();
    },
    killed: () => {
      text('Working on');
      process.kill(process.pid, 'SIGKILL');
      return waitForEver();
    },
    'print-timeout': () => {
      text('Half an ans');
      complain('[agy] print timeout after 8s with turn in progress; returning partial output');
      finish('SUCCESS', { response: answer, isCut: true });
    },
    'background-killed': () => {
      step({ state: 'ACTIVE', step_type: 'tool', ...tool('npm test') });
      succeed('I started the tests and will report when they finish.\n');
      complain('root agent idle; waiting up to 5s for 1 background task(s)');
      complain('terminating 1 background task(s) on exit');
    },
    // The first turn of a conversation fails; every later one tells that error again beside its answer.
    'resumed-error': () => {
      if (memory.error === null) return fail('API error: INTERNAL (code 500): made up');
      text('Good answer.\n');
      return finish('ERROR', { response: answer, error: memory.error });
    },
    linger: () => {
      succeed('Done, but I stay.\n');
      return waitForEver();
    },
    'leave-child': () => {
      leaveChild();
      succeed('Done, but a child of mine stays.\n');
    },
  };
}

async function signIn() {
  if (scenario !== 'auth' && scenario !== 'auth-timeout') return;
  complain('Authentication required. Open this URL in a browser: https://example.test/made-up');
  if (scenario === 'auth') await waitForEver();
  complain('Error: authentication timed out');
  process.exit(1);
}

/** One line per turn; anything else ends the run after an ERROR result. */
function readPrompt() {
  const lines = stdin.split('\n').filter((line) => line.trim() !== '');
  try {
    const { event, message } = JSON.parse(lines[0]);
    if (lines.length === 1 && event === 'user' && typeof message.content === 'string') return message.content;
  } catch {
    // Told below.
  }
  say({
    event: 'result',
    result: { conversation_id: '', status: 'ERROR', response: '', error: 'invalid stream input' },
  });
  process.exit(1);
}

function succeed(response) {
  text(response);
  finish('SUCCESS', { response: answer });
}

/** Since 1.2.6 an error is exit 3 and a line on stderr; 1.2.2 told a used-up quota with exit 0. */
function fail(error, exitCode = 3) {
  remember('agy', conversation_id, { ...memory, error });
  finish('ERROR', { response: '', error, isCut: true });
  if (exitCode === 3)
    complain(`AGY_ERROR: ${JSON.stringify({ short_error: error, retryable: false, error_id: 'made-up' })}`);
  return exitCode;
}

/** The text in two deltas; the last line of the step holds the last piece. */
function text(words) {
  const half = Math.ceil(words.length / 2);
  const usage = {
    input_tokens: 1000,
    output_tokens: 40,
    thinking_tokens: 12,
    cache_read_tokens: 0,
    total_tokens: 1040,
  };
  step({ state: 'ACTIVE', step_type: 'agent_response', text_delta: words.slice(0, half) });
  step({ state: 'DONE', step_type: 'agent_response', text_delta: words.slice(half), usage });
  step_index += 1;
  answer = words;
  memory.input += 1000;
  memory.output += 40;
}

/** A refused command ends the turn: SUCCESS, exit 0, no words. */
async function call(command, { isRefused = !mayRun } = {}) {
  step({ state: 'ACTIVE', step_type: 'tool', ...tool(command) });
  if (isRefused) {
    step({ state: 'DONE', step_type: 'tool', ...tool(command) });
    complain(
      'jetski: no output produced - a tool required the "command" permission that headless mode cannot prompt for, so it was auto-denied.',
    );
    finish('SUCCESS', { response: '', denied_actions: [{ action: 'command', display_name: 'RunCommand' }] });
    return false;
  }
  const output = await runCommand(command);
  step({ state: 'DONE', step_type: 'tool', ...tool(command, output), duration_seconds: 0.2 });
  step_index += 1;
  return true;
}

function tool(command, output) {
  const tool_info = { name: 'run_command', parameters: { CommandLine: command } };
  return { tool_name: 'run_command', tool_info: output === undefined ? tool_info : { ...tool_info, output } };
}

function step(payload) {
  say({ event: 'step_update', step_update: { conversation_id, step_index, ...payload } });
}

function finish(status, { response = '', isCut = false, ...more }) {
  const { input, output, turns } = memory;
  if (!isCut && more.error === undefined) remember('agy', conversation_id, memory);
  const [input_tokens, output_tokens] = isCut ? [0, 0] : [input, output];
  const usage = {
    input_tokens,
    output_tokens,
    thinking_tokens: 0,
    cache_read_tokens: 0,
    total_tokens: input_tokens + output_tokens,
  };
  say({
    event: 'result',
    result: { conversation_id, duration_seconds: 1, num_turns: turns, usage, status, response, ...more },
  });
}

function refuse(word) {
  complain(`flag provided but not defined: ${word}`);
  complain('Usage of agy: (made up)');
  process.exit(2);
}
