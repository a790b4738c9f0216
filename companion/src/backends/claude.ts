// Claude Code (`claude -p --output-format stream-json`, watched on 2.1.197 and 2.1.332): prompt on stdin, the id of a new
// conversation from us. `result` decides, by `is_error` and `subtype` together: an API error has the subtype `success`, and an
// interrupted run exits 0. Without a `result` claude has said what is wrong on stderr only. `usage` is of this run, the cost runs
// on over resumes.
import type { JobErrorCode } from '../core/job.ts';
import { isoOf } from '../platform/clock.ts';
import { type Backend, noteFailure, noteWarning, parseLine, type Reading, type StaffRequest } from './backend.ts';
import { planClaudeProfile } from './claude-profiles.ts';
import { kindOfStatus, kindOfWords, resetOf } from './failures.ts';
import { type Fields, fieldsOf, numberOf, textOf } from './fields.ts';
import { errorWords, readDenial, readDenials, readMessage } from './messages.ts';

export const claude = {
  id: 'claude',
  title: 'Claude Code',
  programs: ['claude'],
  answerFrom: 'stream',
  keepsConversation: true,
  resumesElsewhere: true,
  takesFolders: true,
  profiles: {
    restricted: {
      adds: '--permission-mode dontAsk --tools Read,Grep,Glob,Bash (research: WebFetch, WebSearch too), Bash only for plain git diff, log, show, status, blame, ls-files; no MCP servers, no settings of the project',
      sandbox: false,
    },
    standard: {
      adds: '--permission-mode acceptEdits, Bash and the web allowed, file tools kept out of the state folder',
      sandbox: false,
    },
    unrestricted: { adds: '--permission-mode bypassPermissions, IS_SANDBOX=1 (else refused to root)', sandbox: false },
  },
  oldest: '2.1.197',
  packages: ['@anthropic-ai/claude-code'],
  install: 'npm install -g @anthropic-ai/claude-code',
  signIn: {
    files: ['.claude/.credentials.json'],
    variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  },
  hostMarkers: [
    'AI_AGENT',
    'CLAUDECODE',
    'CLAUDE_CODE_CHILD_NOTES_DIR',
    'CLAUDE_CODE_CHILD_SESSION',
    'CLAUDE_CODE_ENTRYPOINT',
    'CLAUDE_CODE_EXECPATH',
    'CLAUDE_CODE_MESSAGING_SOCKET',
    'CLAUDE_CODE_MESSAGING_TOKEN',
    'CLAUDE_CODE_SESSION_ATTENDED',
    'CLAUDE_CODE_SESSION_ID',
    'CLAUDE_CODE_SSE_PORT',
    'CLAUDE_EFFORT',
    'CLAUDE_ENV_FILE',
    'CLAUDE_PID',
    'CLAUDE_PROJECT_DIR',
  ],
  runsOn: { tokens: false, cost: true },

  plan(request) {
    const { args, environment } = planClaudeProfile(request);
    return {
      args: [
        '-p',
        '--output-format=stream-json',
        '--verbose',
        '--include-partial-messages',
        ...args,
        ...planTarget(request),
      ],
      promptBy: 'stdin',
      stdin: planPrompt(request.prompt),
      environment: { ...quiet, ...environment },
      conversationId: request.resume === null ? request.freshId : null,
      remove: [],
    };
  },

  read(line, reading, at) {
    const event = parseLine(line, reading);
    if (!event) return;
    readMessage(event, reading, at);
    if (event.type === 'system' && event.subtype === 'permission_denied') readDenial(event, reading, at);
    if (event.type === 'system' && event.subtype === 'informational') readComplaint(event, reading);
    if (event.type === 'rate_limit_event') readRateLimit(fieldsOf(event.rate_limit_info), reading);
    if (event.type === 'result') readResult(event, reading);
  },

  close(reading, ending) {
    if (reading.final !== null || !ending.byItself || ending.signal !== null || !ending.exitCode) return;
    const words = errorWords(ending, /^warning:/i);
    if (words) noteFailure(reading, kindOfWords(words, own), words);
  },
} as const satisfies Backend;

const quiet: Record<string, string> = {
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

function planTarget({ model, resume, freshId }: StaffRequest): string[] {
  const target = resume === null ? `--session-id=${freshId}` : `--resume=${resume}`;
  return model === null ? [target] : [`--model=${model}`, target];
}

/**
 * A prompt that begins with `/` is taken as a command, also with --disable-slash-commands: `/help` ends as a success without the
 * model ever being asked. An empty line before it makes it plain text.
 */
function planPrompt(prompt: string): string {
  return prompt.startsWith('/') ? `\n${prompt}` : prompt;
}

const limitCode = 'rate_limit';

/** A refused request, and when the next one has a chance; the result tells whether it mattered. */
function readRateLimit(info: Fields, reading: Reading): void {
  const seconds = numberOf(info.resetsAt);
  if (info.status !== 'rejected' || seconds <= 0 || seconds > 1e11) return;
  reading.warnings = reading.warnings.filter((warning) => warning.code !== limitCode);
  noteWarning(reading, limitCode, `resets at ${isoOf(seconds * 1000)}`);
}

function readComplaint(event: Fields, reading: Reading): void {
  if (event.level === 'warning') noteWarning(reading, 'agent_warning', textOf(event.content));
}

function readResult(event: Fields, reading: Reading): void {
  readUsage(event, reading);
  readDenials(event.permission_denials, reading);
  const limit = reading.warnings.find((warning) => warning.code === limitCode);
  reading.warnings = reading.warnings.filter((warning) => warning !== limit);
  if (event.subtype === 'success' && event.is_error === false) {
    reading.answer = textOf(event.result);
    reading.final = 'success';
    return;
  }
  reading.final = 'failure';
  const errors = Array.isArray(event.errors) ? event.errors.map(textOf).filter((text) => text !== '') : [];
  const words = textOf(event.result) || errors.join('\n') || `claude ended with ${textOf(event.subtype) || 'an error'}`;
  const code = kindOfStatus(numberOf(event.api_error_status)) ?? kindOfWords(words, own);
  const resets = code === 'quota' ? (ownReset(words) ?? limit?.message.replace('resets at ', '')) : undefined;
  noteFailure(reading, code, words, resets);
}

/** `... limit reached|1760000000` (seconds) and `You've hit your session limit \u00b7 resets 3pm (Europe/Berlin)`. */
function ownReset(words: string): string | undefined {
  const seconds = /\|(\d{9,11})$/.exec(words)?.[1];
  if (seconds) return isoOf(Number(seconds) * 1000);
  return resetOf(words) ?? /\bresets? (?!at\b|in\b)([^\u00b7\n]*[^\u00b7\n ])/i.exec(words)?.[1];
}

function readUsage(event: Fields, reading: Reading): void {
  const usage = fieldsOf(event.usage);
  // What came from the cache, or went into it, stands beside `input_tokens` and not in it.
  const cached = numberOf(usage.cache_read_input_tokens) + numberOf(usage.cache_creation_input_tokens);
  const input = numberOf(usage.input_tokens) + cached;
  const output = numberOf(usage.output_tokens);
  const cost = numberOf(event.total_cost_usd);
  reading.usage = { input_tokens: input, output_tokens: output, total_tokens: input + output, cost_usd: cost };
}

const own: [JobErrorCode, RegExp][] = [
  ['session_lost', /no conversation found/i],
  ['quota', /hit your [\w' -]*limit|limit reached|out of (?:extra usage|usage credits)|request rejected \(429\)/i],
  ['auth', /please run \/login|failed to authenticate|oauth token (?:has )?(?:been )?(?:expired|revoked)/i],
];
