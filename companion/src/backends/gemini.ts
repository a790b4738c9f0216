// Gemini CLI (`gemini -o stream-json`, watched on 0.61.0): prompt on stdin, one JSON event per line. Text comes as deltas, a run of
// them per model turn. Only `result` tells success, and not alone: an `error` event of severity `error` may stand before a `result`
// of status `success`. Exit codes say little: HTTP statuses modulo 256 (401 is 145), 0 after a SIGTERM and after an empty answer.
// Some failures (no key, unknown session, untrusted folder) are told on stderr only.
import { plainText } from '../core/excerpt.ts';
import type { JobErrorCode, Profile } from '../core/job.ts';
import { type Backend, type Ending, noteFailure, noteTool, noteWarning, parseLine, type Reading } from './backend.ts';
import { kindOfStatus, kindOfWords, resetOf } from './failures.ts';
import { type Fields, fieldsOf, numberOf, textOf, withoutEnd } from './fields.ts';
import { parseSettings } from './rules.ts';

const modes: Record<Profile, string> = { restricted: 'default', standard: 'yolo', unrestricted: 'yolo' };

/**
 * Without a terminal neither approval mode keeps `restricted` by itself: in `default` the model may enter plan mode, and to leave plan
 * mode means yolo. These rules beat those of the user's settings, MCP servers and extensions included, and take the place of
 * `~/.gemini/policies`; 999 is the highest priority that gemini takes.
 */
const readingRules = `[[rule]]
toolName = ["list_directory", "read_file", "read_many_files", "grep_search", "glob", "google_web_search", "write_todos", "update_topic"]
decision = "allow"
priority = 999

[[rule]]
toolName = "*"
decision = "deny"
priority = 998
`;

/**
 * The project's own settings (hooks, MCP servers, a tool discovery command) count in a trusted folder only, and `--skip-trust` trusts it
 * after they were read. A list of trusted folders that cannot exist makes every folder an untrusted one until then.
 */
const untrusted = { GEMINI_CLI_TRUSTED_FOLDERS_PATH: '/dev/null/none' };

export const gemini = {
  id: 'gemini',
  title: 'Gemini CLI',
  programs: ['gemini'],
  answerFrom: 'stream',
  keepsConversation: true,
  resumesElsewhere: false,
  takesFolders: true,
  profiles: {
    restricted: {
      adds: '--approval-mode default, a --policy that allows reading tools only, no settings of the project',
      sandbox: false,
    },
    standard: { adds: '--approval-mode yolo', sandbox: false },
    unrestricted: { adds: '--approval-mode yolo', sandbox: false },
  },
  oldest: '0.61.0',
  packages: ['@google/gemini-cli'],
  install: 'npm install -g @google/gemini-cli',
  signIn: {
    files: ['.gemini/oauth_creds.json'],
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS'],
  },
  hostMarkers: ['GEMINI_CLI', 'GEMINI_CLI_NO_RELAUNCH', 'GEMINI_CLI_WORKTREE_HANDLED', 'GEMINI_PTY_INFO'],
  policy: { file: '.gemini/settings.json', findFault },
  runsOn: { tokens: false, cost: false },

  plan(request) {
    // An untrusted folder is refused without a terminal (exit 55).
    const args = ['-o', 'stream-json', '--skip-trust', '--approval-mode', modes[request.profile]];
    const isReader = request.profile === 'restricted';
    if (isReader) args.push(`--policy=${request.settingsFile}`);
    // Its file tools keep to the workspace in every approval mode.
    else for (const folder of request.writable) args.push(`--include-directories=${folder}`);
    if (request.model !== null) args.push(`--model=${request.model}`);
    args.push(request.resume === null ? `--session-id=${request.freshId}` : `--resume=${request.resume}`);
    return {
      args,
      promptBy: 'stdin',
      stdin: request.prompt,
      environment: { GEMINI_TELEMETRY_ENABLED: 'false', NO_BROWSER: 'true', ...(isReader && untrusted) },
      conversationId: request.resume === null ? request.freshId : null,
      ...(isReader && { settings: readingRules }),
      remove: isReader ? ['GEMINI_CLI_TRUST_WORKSPACE'] : [],
    };
  },

  read(line, reading, at) {
    const event = parseLine(line, reading);
    if (!event) return;
    switch (event.type) {
      case 'init':
        // Only what can stand on a command line again, and never as an option.
        if (/^\w[\w-]{0,99}$/.test(textOf(event.session_id))) reading.conversationId ??= textOf(event.session_id);
        reading.model = textOf(event.model) || reading.model;
        break;
      case 'message':
        if (event.role === 'assistant') readText(textOf(event.content), reading);
        break;
      case 'tool_use':
        breakText(reading);
        noteTool(reading, { ...nameOf(event), input: inputOf(fieldsOf(event.parameters)), status: 'running' }, at);
        break;
      case 'tool_result':
        readResultOfTool(event, reading, at);
        break;
      case 'error':
        readComplaint(event.severity === 'warning', textOf(event.message), reading);
        break;
      case 'result':
        readEnd(event, reading);
        break;
    }
  },

  close(reading, ending) {
    if (reading.final !== null || !ending.byItself || !ending.exitCode) return;
    const known = exits[ending.exitCode];
    // 145 and 173 look like signals, but like none that ends a process.
    if (ending.signal !== null && known === undefined) return;
    const words = errorWords(ending);
    const code = known ?? kindOfWords(words, own);
    noteFailure(reading, code, words || `gemini exited with code ${ending.exitCode} and said nothing`, resetOf(words));
  },
} as const satisfies Backend;

const own: [JobErrorCode, RegExp][] = [
  ['quota', /exhausted your (?:daily quota|capacity)|model_capacity_exhausted/i],
  ['auth', /ineligibletiererror|api key not valid|api_key_invalid|please set an auth method/i],
  ['session_lost', /error resuming session|invalid session identifier|no previous sessions found/i],
  ['no_final_answer', /empty response/i],
];

/** Exit codes with one meaning, for ends that the stream does not tell: 401 and 429 modulo 256 are 145 and 173. */
const exits: Record<number, JobErrorCode> = { 41: 'auth', 145: 'auth', 173: 'quota' };

/** What lets the project's own settings in, or rules that beat ours. */
function findFault(text: string, profile: Profile): string | null {
  if (profile !== 'restricted') return null;
  let settings: Fields;
  try {
    // gemini allows comments in it.
    settings = parseSettings(text.replace(/("(?:\\.|[^"\\])*"?)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, '$1'));
  } catch {
    return 'the settings are no JSON object';
  }
  const { enabled } = fieldsOf(fieldsOf(settings.security).folderTrust);
  if (enabled !== undefined && enabled !== true)
    return "security.folderTrust.enabled is off: the project's hooks would run";
  const { adminPolicyPaths: paths } = settings;
  return paths == null || (Array.isArray(paths) && paths.length === 0)
    ? null
    : 'adminPolicyPaths names rules that would win';
}

/** A turn after a `result` takes its success back. */
function goOn(reading: Reading): void {
  if (reading.final === 'success') reading.final = null;
}

function readText(text: string, reading: Reading): void {
  goOn(reading);
  reading.text += text;
}

/** The turns of the model follow each other without a break; a tool call between them makes one. */
function breakText(reading: Reading): void {
  goOn(reading);
  if (reading.text !== '') reading.text = `${withoutEnd(reading.text)}\n\n`;
}

function nameOf(event: Fields): { key: string; name: string } {
  return { key: textOf(event.tool_id), name: textOf(event.tool_name) };
}

function inputOf(parameters: Fields): string {
  const { command } = parameters;
  return typeof command === 'string' ? command : JSON.stringify(parameters);
}

function readResultOfTool(event: Fields, reading: Reading, at: string): void {
  const key = textOf(event.tool_id);
  const error = fieldsOf(event.error);
  const output = textOf(event.output) || textOf(error.message) || null;
  // The shell tool calls its own refusal a success, in every approval mode.
  const isBlocked = /^Blocked: command substitution detected/.test(output ?? '');
  const isFine = event.status === 'success' && !isBlocked;
  const status = isFine ? 'completed' : isBlocked || isDenied(error) ? 'denied' : 'failed';
  const name = reading.tools.find((tool) => tool.key === key)?.name ?? 'tool';
  noteTool(reading, { key, name, output, status }, at);
}

/** Refused, not offered to the model at all, or waiting for a confirmation that nobody can give. */
function isDenied(error: Fields): boolean {
  return (
    /^(?:policy_violation|tool_not_registered)$/.test(textOf(error.type)) ||
    /denied by policy|requires user confirmation/i.test(textOf(error.message))
  );
}

function readComplaint(isWarning: boolean, message: string, reading: Reading): void {
  // Told as a warning, followed by a `result` of success: but what is there is half an answer.
  const isCutOff = /^(?:loop detected|agent execution blocked)/i.test(message);
  if (isWarning && !isCutOff) noteWarning(reading, 'agent_warning', message);
  else noteFailure(reading, kindOfWords(message, own), message, resetOf(message));
}

function readEnd(event: Fields, reading: Reading): void {
  readUsage(fieldsOf(event.stats), reading);
  if (event.status === 'success') {
    reading.final = 'success';
    reading.answer = reading.text.replace(/\n\n$/, '');
    return;
  }
  reading.final = 'failure';
  const message = textOf(fieldsOf(event.error).message);
  const status = Number(/"code":\s*(\d{3})\b/.exec(message)?.[1]);
  const code = kindOfStatus(status) ?? kindOfWords(message, own);
  // Without `error`, an `error` event has told the reason before.
  noteFailure(reading, code, message || 'the run failed without a reason', resetOf(message));
}

function readUsage(stats: Fields, reading: Reading): void {
  const [input, output] = [numberOf(stats.input_tokens), numberOf(stats.output_tokens)];
  if (input + output > 0) reading.usage = { input_tokens: input, output_tokens: output, total_tokens: total(stats) };
}

/** Thoughts are counted in the total only. */
function total(stats: Fields): number {
  return Math.max(numberOf(stats.total_tokens), numberOf(stats.input_tokens) + numberOf(stats.output_tokens));
}

/** The first line of stderr that is no notice and no stack frame: what follows is detail, or the help. */
function errorWords(ending: Ending): string {
  const notice =
    /^(?:warning:|yolo mode|ripgrep is not|loaded cached|approval mode overridden|attempt \d+ failed|at |[{}]$|status: \d)/i;
  const lines = plainText(ending.stderrTail)
    .split('\n')
    .map((line) => line.trim());
  return lines.find((line) => line !== '' && !notice.test(line)) ?? '';
}
