// opencode (`opencode run --format json`, watched on 1.18.33): prompt on stdin, one JSON event per line. Texts and tool calls are told
// when they are finished, never before. There is no terminal event: the end is the exit and a last `step_finish` with the reason
// `stop`; a refused `ask` stops the run with the reason `tool-calls` and exit 0. Retries are silent (79 s on a server error).
import { plainText } from '../core/excerpt.ts';
import type { JobErrorCode } from '../core/job.ts';
import { type Backend, noteFailure, noteTool, noteWarning, parseLine, type Reading } from './backend.ts';
import { kindOfStatus, kindOfWords, resetOf } from './failures.ts';
import { type Fields, fieldsOf, numberOf, textOf, withoutEnd } from './fields.ts';

/**
 * The agent of the profile `restricted`. It is one of our own: rules that the user's config gives to the agent `build` would beat
 * `OPENCODE_PERMISSION`. Without `*` every tool that a plugin or an MCP server brings along would be open.
 */
const reader = 'job-companion-restricted';
const reads = ['read', 'grep', 'glob', 'list', 'lsp', 'skill', 'todowrite', 'external_directory'];
const permission = { '*': 'deny', ...Object.fromEntries(reads.map((tool) => [tool, 'allow'])) };
const readerConfig = { agent: { [reader]: { mode: 'primary', permission } } };

const quiet = { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1', OPENCODE_DISABLE_SHARE: '1' };

export const opencode = {
  id: 'opencode',
  title: 'opencode',
  programs: ['opencode'],
  answerFrom: 'stream',
  keepsConversation: true,
  resumesElsewhere: false,
  profiles: {
    restricted: { adds: 'an agent with reading tools only, no plugins, no settings of the project', sandbox: false },
    standard: { adds: '--auto', sandbox: false },
    unrestricted: { adds: '--auto', sandbox: false },
  },
  oldest: '1.18.0',
  packages: ['opencode-ai'],
  install: 'npm install -g opencode-ai',
  signIn: { files: ['.local/share/opencode/auth.json'], variables: ['OPENCODE_API_KEY', 'OPENCODE_AUTH_CONTENT'] },
  hostMarkers: ['OPENCODE', 'OPENCODE_PID', 'OPENCODE_RUN_ID', 'OPENCODE_PROCESS_ROLE', 'OPENCODE_WORKSPACE_ID'],
  runsOn: { tokens: false, cost: false },

  plan(request) {
    const isReader = request.profile === 'restricted';
    const args = ['run', '--format', 'json', ...(isReader ? ['--pure', '--agent', reader] : ['--auto'])];
    if (request.model !== null) args.push(`--model=${request.model}`);
    if (request.resume !== null) args.push(`--session=${request.resume}`);
    return {
      args,
      promptBy: 'stdin',
      stdin: request.prompt,
      environment: {
        ...quiet,
        ...(isReader && {
          OPENCODE_CONFIG_CONTENT: JSON.stringify(readerConfig),
          OPENCODE_DISABLE_PROJECT_CONFIG: '1',
        }),
      },
      conversationId: null,
      remove: ['OPENCODE_AUTO_SHARE', ...(isReader ? ['OPENCODE_PERMISSION', 'OPENCODE_CONFIG_DIR'] : [])],
    };
  },

  read(line, reading, at) {
    const event = parseLine(line, reading);
    if (!event) return;
    const part = fieldsOf(event.part);
    // Only what can stand on a command line again, and never as an option.
    if (/^\w[\w-]{0,99}$/.test(textOf(event.sessionID))) reading.conversationId ??= textOf(event.sessionID);
    switch (event.type) {
      case 'step_start':
        // A step after the end: the run goes on.
        if (reading.final === 'success') reading.final = null;
        break;
      case 'text':
        readText(textOf(part.text), reading);
        break;
      case 'tool_use':
        readTool(part, reading, at);
        break;
      case 'step_finish':
        readStep(part, reading);
        break;
      case 'error':
        readFailure(fieldsOf(event.error), reading);
        break;
    }
  },

  close(reading, ending) {
    // Before the first step opencode tells what is wrong on stderr only: unknown session, bad option.
    if (reading.final !== null || !ending.byItself || ending.signal !== null || !ending.exitCode) return;
    const { error, first } = errorWords(ending.stderrTail);
    const message = error ?? `opencode exited with code ${ending.exitCode}${first === undefined ? '' : `: ${first}`}`;
    noteFailure(reading, kindOfWords(message, own), message);
  },
} as const satisfies Backend;

const own: [JobErrorCode, RegExp][] = [
  ['session_lost', /\bsession not found\b/i],
  ['auth', /\bproviderautherror\b/i],
];

/** Texts are whole: each one is a paragraph of its own. */
function readText(text: string, reading: Reading): void {
  reading.text = reading.text === '' ? text : `${withoutEnd(reading.text)}\n\n${text}`;
}

function readTool(part: Fields, reading: Reading, at: string): void {
  const state = fieldsOf(part.state);
  const input = fieldsOf(state.input);
  const error = textOf(state.error);
  const isDenied = /\brejected permission\b|\brule which prevents you\b|\bunavailable tool\b/i.test(error);
  // A command that failed is `completed` too; its exit code tells.
  const isFine = state.status === 'completed' && numberOf(fieldsOf(state.metadata).exit) === 0;
  const status = isFine ? 'completed' : isDenied ? 'denied' : 'failed';
  const call = {
    key: textOf(part.callID),
    name: textOf(part.tool),
    input: textOf(input.command) || JSON.stringify(input),
    output: textOf(state.output) || error || null,
  };
  noteTool(reading, { ...call, status }, at);
}

function readStep(part: Fields, reading: Reading): void {
  addUsage(part, reading);
  const reason = textOf(part.reason);
  if (reason === 'stop') {
    reading.final ??= 'success';
    reading.answer = reading.text;
  } else if (/^(?:length|content-filter|error)$/.test(reason)) {
    noteWarning(reading, 'agent_warning', `a step of the agent ended early: ${reason}`);
  }
}

/** Told per step; what is cached counts as input, as in other CLIs. */
function addUsage(part: Fields, reading: Reading): void {
  const tokens = fieldsOf(part.tokens);
  const cache = fieldsOf(tokens.cache);
  const input = numberOf(tokens.input) + numberOf(cache.read) + numberOf(cache.write);
  const output = numberOf(tokens.output) + numberOf(tokens.reasoning);
  const before = reading.usage ?? { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost_usd: 0 };
  reading.usage = {
    input_tokens: before.input_tokens + input,
    output_tokens: before.output_tokens + output,
    total_tokens: before.total_tokens + input + output,
    cost_usd: (before.cost_usd ?? 0) + numberOf(part.cost),
  };
}

function readFailure(error: Fields, reading: Reading): void {
  reading.final = 'failure';
  const data = fieldsOf(error.data);
  const name = textOf(error.name);
  const message = textOf(data.message) || name || 'the run failed without a reason';
  const code = kindOfStatus(numberOf(data.statusCode)) ?? kindOfWords(`${name}: ${message}`, own);
  // The provider's own answer may tell more than its message.
  const resets = resetOf(message) ?? resetOf(textOf(data.responseBody)) ?? retryAfter(fieldsOf(data.responseHeaders));
  noteFailure(reading, code, message, resets);
}

function retryAfter(headers: Fields): string | undefined {
  const seconds = textOf(headers['retry-after']);
  return /^\d+$/.test(seconds) ? `in ${seconds}s` : undefined;
}

/** The error line, which stands in colour. A bad option prints the help only, without saying which one it was. */
function errorWords(stderr: string): { error: string | undefined; first: string | undefined } {
  const lines = plainText(stderr)
    .split('\n')
    .map((line) => line.trim());
  const error = lines.findLast((line) => /^error:/i.test(line))?.replace(/^error:\s*/i, '');
  return { error, first: lines.find((line) => line !== '') };
}
