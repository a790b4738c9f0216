// Qwen Code (`qwen -o stream-json`, watched on 0.15.10 and 0.24.4): prompt on stdin, the id of a new conversation from us.
// `result` decides, but 0.15 reports an API error as a success whose text is `[API Error: ...]`, exit 0. What is wrong with the
// command line or the conversation is told on stderr only. `usage` runs on over resumes and counts side calls; no cost.
import type { JobErrorCode } from '../core/job.ts';
import { isOlder } from '../platform/program-version.ts';
import { type Backend, noteFailure, noteWarning, parseLine, type Reading, type StaffRequest } from './backend.ts';
import { kindOfWords, resetOf } from './failures.ts';
import { type Fields, fieldsOf, numberOf, textOf } from './fields.ts';
import { errorWords, readDenials, readMessage } from './messages.ts';

export const qwen = {
  id: 'qwen',
  title: 'Qwen Code',
  programs: ['qwen'],
  answerFrom: 'stream',
  keepsConversation: true,
  resumesElsewhere: false,
  takesFolders: true,
  profiles: {
    restricted: {
      adds: '--approval-mode default --safe-mode without the tools that change things, commands only where qwen finds them read-only (before 0.24: --bare, file reading only)',
      sandbox: false,
    },
    standard: { adds: '--approval-mode auto-edit, commands and web_fetch allowed', sandbox: false },
    unrestricted: { adds: '--approval-mode yolo', sandbox: false },
  },
  oldest: '0.15.0',
  packages: ['@qwen-code/qwen-code'],
  install: 'npm install -g @qwen-code/qwen-code',
  signIn: {
    files: ['.qwen/oauth_creds.json'],
    variables: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY'],
  },
  hostMarkers: [
    'QWEN_CODE',
    'QWEN_CODE_AGENT_ID',
    'QWEN_CODE_CLI',
    'QWEN_CODE_LAUNCHER_PID',
    'QWEN_CODE_MANAGED_NPM_PIN',
    'QWEN_CODE_MANAGED_NPM_ROOT',
    'QWEN_CODE_MODEL',
    'QWEN_CODE_MODEL_IDENTITY',
    'QWEN_CODE_NO_RELAUNCH',
    'QWEN_CODE_PRIVATE_RELAUNCH_ENV_PROVENANCE',
    'QWEN_CODE_PROJECT_DIR',
    'QWEN_CODE_PROMPT_ID',
    'QWEN_CODE_SESSION_ID',
    'QWEN_CODE_STARTUP_VERSION',
  ],
  runsOn: { tokens: true, cost: false },

  plan(request) {
    const { model, resume, freshId } = request;
    const args = [
      '--output-format=stream-json',
      '--include-partial-messages',
      ...planProfile(request),
      ...(request.profile === 'restricted' ? [] : request.writable.map((folder) => `--include-directories=${folder}`)),
      ...planLimit(request),
    ];
    if (model !== null) args.push(`--model=${model}`);
    args.push(resume === null ? `--session-id=${freshId}` : `--resume=${resume}`);
    return {
      args,
      promptBy: 'stdin',
      stdin: planPrompt(request.prompt),
      environment: request.profile === 'restricted' ? { ...quiet, GIT_OPTIONAL_LOCKS: '0' } : quiet,
      conversationId: resume === null ? freshId : null,
      remove: [],
    };
  },

  read(line, reading, at) {
    const event = parseLine(line, reading);
    if (!event) return;
    if (!(event.type === 'assistant' && findApiError(wordsOf(event)))) readMessage(event, reading, at);
    if (event.type === 'result') readResult(event, reading);
  },

  // A wrong option is named first, and then pushed out of the tail by the whole help text.
  readError(line, reading) {
    if (/^Unknown arguments?: /.test(line)) noteWarning(reading, usageCode, line);
  },

  close(reading, ending) {
    const usage = reading.warnings.find((warning) => warning.code === usageCode);
    reading.warnings = reading.warnings.filter((warning) => warning !== usage);
    if (reading.final !== null || !ending.byItself || ending.signal !== null || !ending.exitCode) return;
    const words = usage?.message ?? errorWords(ending, notice);
    const code = ending.exitCode === budgetExit ? 'response_timeout' : kindOfWords(words, own);
    if (words) noteFailure(reading, code, words);
  },
} as const satisfies Backend;

const quiet: Record<string, string> = { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1', QWEN_TELEMETRY_ENABLED: 'false' };
const usageCode = 'agent_usage';
/** A `--max-*` budget is used up; we give one only for time. */
const budgetExit = 55;
const notice = /^(?:warning:|ripgrep not available|operation cancel|\u26a0)/i;

/** The release that these options were tried with. */
const current = '0.24';
const isCurrent = ({ version }: StaffRequest): boolean => version !== null && !isOlder(version, current);

/**
 * `restricted`: --safe-mode reads the user's sign-in but no permission rule, hook, MCP server or extension, of the user or of the
 * project. A shell that nobody allowed is not there at all; allowing one harmless command brings it back, and each
 * command is then judged by what it does (43 ways to write a file or start something through git, find, sed, awk and others were
 * refused). Older ones have no safe mode, and find `git diff --output=f` harmless: there --bare leaves reading of files.
 * `standard`: nothing may be left to ask for, so commands and web_fetch are allowed by name.
 */
function planProfile(request: StaffRequest): string[] {
  if (request.profile === 'unrestricted') return ['--approval-mode=yolo'];
  if (request.profile === 'standard')
    return ['--approval-mode=auto-edit', '--allowed-tools=run_shell_command', '--allowed-tools=web_fetch'];
  if (isCurrent(request))
    return [
      '--safe-mode',
      '--approval-mode=default',
      ...changing.map((tool) => `--exclude-tools=${tool}`),
      '--allowed-tools=run_shell_command(git rev-parse HEAD)',
      ...(request.mode === 'research' ? ['--allowed-tools=web_fetch'] : []),
    ];
  return [
    '--bare',
    '--approval-mode=default',
    ...[...changing, 'run_shell_command'].map((tool) => `--exclude-tools=${tool}`),
  ];
}

/** Tools that change something, start another agent, or stay behind. */
const changing = [
  'agent',
  'cron_create',
  'cron_delete',
  'edit',
  'enter_worktree',
  'exit_worktree',
  'loop_wakeup',
  'monitor',
  'notebook_edit',
  'record_artifact',
  'send_message',
  'skill',
  'task_stop',
  'write_file',
];

/** Its own limit, where it has one: the user's settings may hold a shorter one. */
function planLimit(request: StaffRequest): string[] {
  return isCurrent(request) ? [`--max-wall-time=${Math.ceil(request.deadlineMs / 1000)}s`] : [];
}

/** A prompt that begins with `/` and the name of a command is taken as that command. An empty line before it makes it text. */
function planPrompt(prompt: string): string {
  return prompt.startsWith('/') ? `\n${prompt}` : prompt;
}

/** The words by which 0.15 tells a failure in the place of the answer, alone or behind what came before it broke off. */
function findApiError(words: string): string | undefined {
  const text = words.trim();
  if (/^\[API Error\b/.test(text)) return text;
  const line = text.slice(text.lastIndexOf('\n') + 1);
  const begin = line.indexOf('[API Error: ');
  return begin >= 0 && line.endsWith(']') ? line.slice(begin) : undefined;
}

function wordsOf(event: Fields): string {
  const { content } = fieldsOf(event.message);
  return Array.isArray(content) ? content.map((block) => textOf(fieldsOf(block).text)).join('') : '';
}

function readResult(event: Fields, reading: Reading): void {
  readUsage(fieldsOf(event.usage), reading);
  readDenials(event.permission_denials, reading);
  const answer = textOf(event.result);
  const apiError = findApiError(answer);
  if (event.is_error === false && event.subtype === 'success' && !apiError) {
    reading.answer = answer;
    reading.final = 'success';
    return;
  }
  reading.final = 'failure';
  const told = textOf(fieldsOf(event.error).message) || apiError || answer;
  const words = told || `qwen ended with ${textOf(event.subtype) || 'an error'}`;
  const code = kindOfWords(words, own);
  noteFailure(reading, code, words, code === 'quota' ? resetOf(words) : undefined);
}

function readUsage(usage: Fields, reading: Reading): void {
  const input = numberOf(usage.input_tokens);
  const output = numberOf(usage.output_tokens);
  reading.usage = {
    input_tokens: input,
    output_tokens: output,
    total_tokens: numberOf(usage.total_tokens) || input + output,
  };
}

const own: [JobErrorCode, RegExp][] = [
  ['session_lost', /no saved session found/i],
  ['no_final_answer', /ended with empty response text/i],
  ['auth', /\[API Error: 401\b|no auth type is selected|no saved credentials|authentication (?:failed|required)/i],
  ['quota', /\[API Error: 429\b|quota (?:has been )?exceeded/i],
];
