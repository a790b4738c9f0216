// pi (`pi --mode json -p`, watched on 1.6.0 and 0.73.1): prompt on stdin, one JSON event per line. Every failure of the model exits 0:
// only the last `agent_end` that is not followed by a retry tells, by the `stopReason` of its last assistant message. 0.73 does not
// say in it whether a retry follows (`willRetry`), so the start of one takes the end back. pi knows no permissions: what it may do
// is the list of its tools.
import { plainText } from '../core/excerpt.ts';
import type { JobErrorCode, Profile } from '../core/job.ts';
import { isOlder } from '../platform/program-version.ts';
import {
  type Backend,
  type Ending,
  noteFailure,
  noteTool,
  noteWarning,
  parseLine,
  type Reading,
  type StaffRequest,
} from './backend.ts';
import { kindOfStatus, kindOfWords, resetOf } from './failures.ts';
import { type Fields, fieldsOf, numberOf, textOf } from './fields.ts';
import { parseSettings } from './rules.ts';

export const pi = {
  id: 'pi',
  title: 'pi',
  programs: ['pi'],
  answerFrom: 'stream',
  keepsConversation: true,
  resumesElsewhere: false,
  profiles: {
    restricted: {
      adds: '--tools read,grep,find,ls, no extensions, no MCP, no project settings (before 1.0: refused where there are some)',
      sandbox: false,
    },
    standard: { adds: '', sandbox: false },
    unrestricted: { adds: '', sandbox: false },
  },
  oldest: '0.73.0',
  packages: ['@earendil-works/pi-coding-agent', '@mariozechner/pi-coding-agent'],
  install: 'npm install -g @earendil-works/pi-coding-agent (Node 22.19 or later)',
  signIn: {
    files: ['.pi/agent/auth.json', '.pi/agent/models.json'],
    variables: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'],
  },
  morePolicies: [{ file: '.pi/settings.json', inWorkspace: true, findFault: findProjectFault }],
  hostMarkers: ['PI_CODING_AGENT'],
  runsOn: { tokens: false, cost: false },

  plan(request) {
    const args = ['--mode', 'json', '-p', ...planTools(request)];
    if (request.model !== null) args.push('--model', request.model);
    const takesId = !isOld(request);
    if (request.resume !== null) args.push('--session', request.resume);
    else if (takesId) args.push('--session-id', request.freshId);
    return {
      args,
      promptBy: 'stdin',
      stdin: request.prompt,
      environment: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
      conversationId: request.resume === null && takesId ? request.freshId : null,
      remove: [],
    };
  },

  read(line, reading, at) {
    const event = parseLine(line, reading);
    if (!event) return;
    switch (event.type) {
      case 'session':
        // Only what can stand on a command line again, and never as an option.
        if (/^\w[\w-]{0,99}$/.test(textOf(event.id))) reading.conversationId ??= textOf(event.id);
        break;
      case 'agent_start':
      case 'auto_retry_start':
        takeBack(reading);
        break;
      case 'message_update':
        readDelta(fieldsOf(event.assistantMessageEvent), reading);
        break;
      case 'message_end':
        readMessage(fieldsOf(event.message), reading);
        break;
      case 'tool_execution_start':
      case 'tool_execution_end':
        readTool(event, event.type === 'tool_execution_end', reading, at);
        break;
      case 'agent_end':
        if (event.willRetry !== true) readEnd(event.messages, reading);
        break;
      case 'agent_settled':
        if (event.aborted === true) fail('the run was aborted', reading);
        break;
    }
  },

  readError(line, reading) {
    // The only thing said about a model that nobody knows: pi tries it all the same.
    if (/^warning: model\b/i.test(plainText(line))) noteWarning(reading, 'agent_warning', plainText(line).trim());
  },

  close(reading, ending) {
    // What is wrong before the first turn stands on stderr only, also with exit 0 (a session of another folder).
    if (reading.final !== null || !ending.byItself || ending.signal !== null) return;
    const words = errorWords(ending);
    const code = kindOfWords(words, own);
    if (!ending.exitCode ? code !== 'session_lost' : words === '') return;
    noteFailure(reading, code, words);
  },
} as const satisfies Backend;

/** Since then it takes ids, and can leave a project's settings aside. */
const settled = '1.0.0';

const own: [JobErrorCode, RegExp][] = [
  ['session_lost', /no session found|session found in different project/i],
  ['auth', /no (?:api key|models? available|credentials)|use \/login/i],
];

/** They choose the model, where a session is written, and what is fetched with which program. */
function findProjectFault(text: string, profile: Profile, version?: string | null): string | null {
  if (profile !== 'restricted' || (version && !isOlder(version, settled))) return null;
  if (Object.keys(parseSettings(text)).length === 0) return null;
  return `pi ${version ?? 'of an unknown version'} takes the project's own settings whatever it is told; 1.0 or newer does not`;
}

/** `--no-approve` and `--no-mcp` came with 1.x; before it there was no MCP, and project settings could not be switched off. */
function planTools(request: StaffRequest): string[] {
  if (request.profile !== 'restricted') return [];
  const args = ['--tools', 'read,grep,find,ls', '--no-extensions'];
  return isOld(request) ? args : [...args, '--no-mcp', '--no-approve'];
}

function isOld({ version }: StaffRequest): boolean {
  return version !== null && isOlder(version, settled);
}

/** A retry or one more turn in the same process: what was the end is none. */
function takeBack(reading: Reading): void {
  reading.final = null;
  reading.failure = null;
}

function readDelta(event: Fields, reading: Reading): void {
  if (event.type === 'text_start') reading.text = '';
  if (event.type === 'text_delta') reading.text += textOf(event.delta);
}

function readMessage(message: Fields, reading: Reading): void {
  if (message.role !== 'assistant') return;
  reading.model = textOf(message.model) || reading.model;
  addUsage(fieldsOf(message.usage), reading);
  reading.text = wordsOf(message) || reading.text;
}

function wordsOf(message: Fields): string {
  const parts = Array.isArray(message.content) ? message.content.map(fieldsOf) : [];
  return parts
    .filter((part) => part.type === 'text')
    .map((part) => textOf(part.text))
    .join('');
}

/** Told per message; what is cached counts as input, as in other CLIs. */
function addUsage(usage: Fields, reading: Reading): void {
  const input = numberOf(usage.input) + numberOf(usage.cacheRead) + numberOf(usage.cacheWrite);
  const output = numberOf(usage.output);
  const cost = numberOf(fieldsOf(usage.cost).total);
  if (input + output === 0) return;
  const before = reading.usage ?? { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost_usd: 0 };
  reading.usage = {
    input_tokens: before.input_tokens + input,
    output_tokens: before.output_tokens + output,
    total_tokens: before.total_tokens + input + output,
    cost_usd: (before.cost_usd ?? 0) + cost,
  };
}

function readTool(event: Fields, ended: boolean, reading: Reading, at: string): void {
  const args = fieldsOf(event.args);
  const output = wordsOf(fieldsOf(event.result));
  // The only sign of a tool that the profile takes away.
  const isMissing = /^Tool \S+ not found$/.test(output);
  const status = event.isError !== true ? 'completed' : isMissing ? 'denied' : 'failed';
  noteTool(
    reading,
    {
      key: textOf(event.toolCallId),
      name: textOf(event.toolName),
      // The end tells no arguments.
      input: Object.keys(args).length === 0 ? '' : textOf(args.command) || JSON.stringify(args),
      output: output || null,
      status: ended ? status : 'running',
    },
    at,
  );
}

function readEnd(messages: unknown, reading: Reading): void {
  const list = Array.isArray(messages) ? messages.map(fieldsOf) : [];
  const last = list.findLast((message) => message.role === 'assistant');
  const reason = textOf(last?.stopReason);
  if (!last || reason === 'error' || reason === 'aborted') {
    fail(textOf(last?.errorMessage), reading);
  } else if (reason === 'length') {
    fail('the answer was cut off at the length limit of the model', reading);
  } else {
    reading.answer = wordsOf(last);
    reading.final = 'success';
  }
}

function fail(message: string, reading: Reading): void {
  reading.final = 'failure';
  const status = Number(/^(\d{3})\b/.exec(message)?.[1]);
  const words = message || 'the run failed without a reason';
  noteFailure(reading, kindOfStatus(status) ?? kindOfWords(words, own), words, resetOf(words));
}

/** The error line of stderr, else its first line that is no warning and no path of one. */
function errorWords(ending: Ending): string {
  const lines = plainText(ending.stderrTail)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(?:warning:|\/)/i.test(line));
  return (lines.find((line) => /^\w*error:/i.test(line)) ?? lines[0] ?? '').replace(/^error:\s*/i, '');
}
