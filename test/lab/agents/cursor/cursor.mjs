#!/usr/bin/env node
// NOT cursor-agent: a scripted stand-in for Cursor's CLI, which cannot be installed here. It replays shapes that its documentation
// and two parsers describe and proves only that we read those shapes. It heeds its options: only --force runs commands,
// --trust must be given, --resume goes on in a known chat.
//
// Scenarios: text tool write denied slowtool auth quota error cut empty hang killed resume-unknown linger leave-child.
// e401, e429 and e500 are other names for auth, quota and error.
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
  '-p': 'flag',
  '--output-format': 'value',
  '--trust': 'flag',
  '--force': 'flag',
  '--approve-mcps': 'flag',
  '--sandbox': 'value',
  '--mode': 'value',
  '--model': 'value',
  '--resume': 'value',
};

if (process.argv[2] === '--version') {
  console.log('2026.10.28-0a91dc2');
  process.exit(0);
}

const { argv, scenario, stdin: prompt } = await begin('cursor');
const options = parseOptions(argv, known, (word) => fail(`error: unknown option '${word}'`));
if (!options['-p'] || options['--output-format']?.[0] !== 'stream-json')
  fail('error: only stream-json is replayed here');
// The real one refuses with exit code 0 and a page of text.
if (!options['--trust'] && !options['--force']) {
  console.log('Workspace Trust Required\nTo proceed, pass --trust, --yolo, or -f if you trust this directory');
  process.exit(0);
}
const mayRun = options['--force'] !== undefined && options['--mode'] === undefined;
const asked = options['--resume']?.[0];
const isKnown = asked !== undefined && scenario !== 'resume-unknown' && recall('cursor', asked) !== undefined;
const session_id = isKnown ? asked : randomUUID();
let said = '';

process.exit(await play());

async function play() {
  const name = { e401: 'auth', e429: 'quota', e500: 'error', 'resume-unknown': 'text' }[scenario] ?? scenario;
  const scene = makeScenes()[name];
  if (!scene) throw new Error(`the stand-in for cursor-agent knows no scenario ${scenario}`);
  if (name === 'auth') return scene();
  remember('cursor', session_id, {});
  const model = options['--model']?.[0] ?? 'Auto';
  say({
    type: 'system',
    subtype: 'init',
    apiKeySource: 'login',
    cwd: process.cwd(),
    session_id,
    model,
    permissionMode: 'default',
  });
  say({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: prompt }] }, session_id });
  return (await scene()) ?? 0;
}

/** Each returns the exit code (0 when it returns none). */
function makeScenes() {
  return {
    auth: () => fail("Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY."),
    quota: () => fail("Error: You've hit your usage limit. Resets in 3h5m."),
    error: () => fail('Error: the server is unavailable (made up)'),
    text: () => {
      text(`You said: ${prompt.slice(0, 200)}`);
      finish();
    },
    tool: () => afterCall('echo hi', 'It printed hi.'),
    write: () => afterCall('echo hi > made.txt', 'I wrote it.'),
    slowtool: () => afterCall('exec sleep 300', 'It slept.'),
    // A refusal and then no words: the result repeats what was said before it.
    denied: async () => {
      text('I try.');
      await call('touch x', { isRefused: true });
      finish();
    },
    // The stream ends without a result.
    cut: () => text('Half an ans'),
    empty: () => finish(),
    hang: () => {
      text('Working on');
      return waitForEver();
    },
    killed: () => {
      text('Working on');
      process.kill(process.pid, 'SIGKILL');
      return waitForEver();
    },
    linger: () => {
      text('Done, but I stay.');
      finish();
      return waitForEver();
    },
    'leave-child': () => {
      leaveChild();
      text('Done, but a child of mine stays.');
      finish();
    },
  };
}

async function afterCall(command, words) {
  const ran = await call(command);
  text(ran ? words : 'I may not run that.');
  finish();
}

async function call(command, { isRefused = !mayRun } = {}) {
  const call_id = randomUUID();
  const tool = (more) => ({ shellToolCall: { args: { command }, ...more } });
  say({ type: 'tool_call', subtype: 'started', call_id, tool_call: tool({}), session_id });
  const result = isRefused
    ? { rejected: { command, reason: 'not on the allowlist' } }
    : { success: { command, exitCode: 0, stdout: await runCommand(command), stderr: '' } };
  say({ type: 'tool_call', subtype: 'completed', call_id, tool_call: tool({ result }), session_id });
  return !isRefused;
}

function text(words) {
  said += words;
  say({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: words }] }, session_id });
}

/** `result` is every word of the run. */
function finish() {
  say({
    type: 'result',
    subtype: 'success',
    duration_ms: 5,
    duration_api_ms: 5,
    is_error: false,
    result: said,
    session_id,
    request_id: 'r',
  });
}

function fail(line) {
  complain(line);
  process.exit(1);
}
