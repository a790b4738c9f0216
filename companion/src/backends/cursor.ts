// Cursor's agent CLI (`cursor-agent -p --output-format stream-json`; read from its documentation and two parsers, never run here):
// prompt on stdin, one event per line, texts whole. `result` ends the run; what fails is told on stderr with an exit code, and the
// stream may then end without it. Without --force what would have to ask is refused, in some versions every edit.
import { plainText } from '../core/excerpt.ts';
import type { JobErrorCode, Profile } from '../core/job.ts';
import {
  type Backend,
  noteFailure,
  noteTool,
  parseLine,
  type Reading,
  type StaffRequest,
  type ToolCall,
} from './backend.ts';
import { cursorProjectSettings, cursorSettings } from './cursor-policy.ts';
import { kindOfWords, resetOf } from './failures.ts';
import { type Fields, fieldsOf, numberOf, textOf } from './fields.ts';

/** Its sandbox for commands is switched on by the user's own settings; what --force leaves of it is not documented. */
const grants: Record<Profile, readonly string[]> = {
  restricted: ['--mode', 'ask'],
  standard: ['--force'],
  unrestricted: ['--force', '--approve-mcps', '--sandbox', 'disabled'],
};

export const cursor = {
  id: 'cursor',
  title: 'Cursor CLI',
  programs: ['cursor-agent'],
  answerFrom: 'stream',
  keepsConversation: true,
  resumesElsewhere: true,
  profiles: {
    restricted: { adds: '--mode ask', sandbox: false },
    standard: { adds: '--force', sandbox: false },
    unrestricted: { adds: '--force --approve-mcps --sandbox disabled', sandbox: false },
  },
  oldest: null,
  packages: [],
  install: 'curl https://cursor.com/install -fsS | bash',
  signIn: { files: ['.config/cursor/auth.json'], variables: ['CURSOR_API_KEY'] },
  policy: cursorSettings,
  morePolicies: [cursorProjectSettings],
  hostMarkers: ['CURSOR_AGENT', 'CURSOR_TRACE_ID'],
  runsOn: { tokens: false, cost: false },

  plan(request) {
    return {
      args: planArgs(request),
      promptBy: 'stdin',
      stdin: request.prompt,
      environment: {},
      conversationId: null,
      remove: [],
    };
  },

  read(line, reading, at) {
    const event = parseLine(line, reading);
    if (!event) return;
    // Only what can stand on a command line again, and never as an option.
    if (/^\w[\w.:-]{0,199}$/.test(textOf(event.session_id))) reading.conversationId ??= textOf(event.session_id);
    switch (event.type) {
      case 'system':
        if (event.subtype === 'init') reading.model = textOf(event.model) || reading.model;
        break;
      case 'assistant':
        // The agent goes on after its result: that was not the end.
        if (reading.final === 'success') reading.final = null;
        endedRefused.delete(reading);
        reading.text = wordsOf(fieldsOf(event.message).content) || reading.text;
        break;
      case 'tool_call':
        readTool(event, reading, at);
        break;
      case 'result':
        readResult(event, reading);
        break;
    }
  },

  close(reading, ending) {
    if (reading.final !== null || !ending.byItself || ending.signal !== null || !ending.exitCode) return;
    const words = errorWords(ending.stderrTail);
    noteCursorFailure(reading, words || `cursor-agent exited with code ${ending.exitCode} and said nothing`);
  },
} as const satisfies Backend;

function planArgs({ profile, model, resume }: StaffRequest): string[] {
  // --trust: headless, an unknown folder is refused otherwise.
  const args = ['-p', '--output-format', 'stream-json', '--trust', ...grants[profile]];
  if (model !== null) args.push(`--model=${model}`);
  if (resume !== null) args.push(`--resume=${resume}`);
  return args;
}

function wordsOf(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part) => textOf(fieldsOf(part).text)).join('');
}

/** `{"shellToolCall":{"args":{...},"result":{"success"|"failure"|"error"|"rejected"|...:{...}}}}`: one key names the tool. */
function readTool(event: Fields, reading: Reading, at: string): void {
  const [name = 'tool', value] = Object.entries(fieldsOf(event.tool_call))[0] ?? [];
  const call = fieldsOf(value);
  const [outcome = '', told] = Object.entries(fieldsOf(call.result))[0] ?? [];
  const details = fieldsOf(told);
  const status = event.subtype === 'completed' ? statusOf(outcome, details) : 'running';
  const output = ['stdout', 'content', 'stderr', 'reason', 'errorMessage', 'error', 'message']
    .map((field) => textOf(details[field]))
    .find((text) => text !== '');
  noteTool(
    reading,
    {
      key: textOf(event.call_id),
      name: name.replace(/ToolCall$/, ''),
      input: inputOf(call.args),
      output: output ?? null,
      status,
    },
    at,
  );
  if (status === 'denied') endedRefused.add(reading);
}

/** The readings in which no words followed a refusal. The result repeats every word of the run: those before it are no answer. */
const endedRefused = new WeakSet<Reading>();

function statusOf(outcome: string, details: Fields): ToolCall['status'] {
  if (/reject|denied/i.test(outcome)) return 'denied';
  return outcome === 'success' && numberOf(details.exitCode) === 0 ? 'completed' : 'failed';
}

function inputOf(args: unknown): string {
  const fields = fieldsOf(args);
  return textOf(fields.command) || textOf(fields.path) || (args === undefined ? '' : JSON.stringify(args));
}

function readResult(event: Fields, reading: Reading): void {
  const words = textOf(event.result);
  readUsage(fieldsOf(event.usage), reading);
  if (event.is_error === false && event.subtype === 'success') {
    reading.answer = endedRefused.has(reading) || words.trim() === '' ? null : words;
    reading.final ??= 'success';
    return;
  }
  reading.final = 'failure';
  noteCursorFailure(reading, textOf(event.error) || words || `the run ended as ${String(event.subtype)}`);
}

/** Newer versions tell it, cached input apart. */
function readUsage(usage: Fields, reading: Reading): void {
  const cached = numberOf(usage.cacheReadTokens) + numberOf(usage.cacheWriteTokens);
  const input = numberOf(usage.inputTokens) + cached;
  const output = numberOf(usage.outputTokens);
  if (input + output > 0) reading.usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

const own: [JobErrorCode, RegExp][] = [
  ['session_lost', /\b(?:chat|session|conversation)\b.*\b(?:not found|does not exist|no such)/i],
  ['auth', /authentication (?:required|failed)|CURSOR_API_KEY|agent login/i],
  ['quota', /usage limit|hit your .*limit|out of (?:requests|usage)/i],
];

function noteCursorFailure(reading: Reading, words: string): void {
  noteFailure(reading, kindOfWords(words, own), words, resetOf(words));
}

/** The last error line of stderr, else the last line. */
function errorWords(stderrTail: string): string {
  const lines = plainText(stderrTail)
    .split('\n')
    .map((line) => line.trim());
  const told = lines.filter((line) => line !== '');
  return (told.findLast((line) => /^error\b/i.test(line)) ?? told.at(-1) ?? '').replace(/^error:\s*/i, '');
}
