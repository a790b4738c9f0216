// Codex (`codex exec --json`, watched on 0.171.0): prompt on stdin, one JSON event per line. `turn.completed` or
// `turn.failed` decides; `error` events and items before it are complaints only (retries, unknown model). Texts come
// whole, never as deltas. `usage` runs on over the whole thread, resumes included. The failure texts vary with the
// provider, so they are only sorted into kinds here and told in codex's own words.
import { plainText } from '../core/excerpt.ts';
import type { JobErrorCode, Profile } from '../core/job.ts';
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
import { kindOfWords, resetOf } from './failures.ts';
import { type Fields, fieldsOf, numberOf, textOf } from './fields.ts';

const sandboxes: Record<Profile, string> = {
  restricted: 'read-only',
  standard: 'workspace-write',
  unrestricted: 'danger-full-access',
};

export const codex = {
  id: 'codex',
  title: 'Codex',
  programs: ['codex'],
  answerFrom: 'stream',
  keepsConversation: true,
  resumesElsewhere: true,
  takesFolders: true,
  profiles: {
    restricted: { adds: '-s read-only', sandbox: true },
    standard: { adds: 'sandbox_mode workspace-write (no network), the state folder read-only', sandbox: true },
    unrestricted: { adds: '-s danger-full-access', sandbox: false },
  },
  oldest: '0.171.0',
  packages: ['@openai/codex'],
  install: 'npm install -g @openai/codex',
  signIn: { files: ['.codex/auth.json'], variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'] },
  hostMarkers: [
    'CODEX_CI',
    'CODEX_INTERNAL_ORIGINATOR_OVERRIDE',
    'CODEX_SANDBOX',
    'CODEX_SANDBOX_NETWORK_DISABLED',
    'CODEX_SESSION_ID',
    'CODEX_THREAD_ID',
    'CODEX_TOOL_CALL_ID',
  ],
  runsOn: { tokens: true, cost: false },

  plan(request) {
    // After `resume` codex knows neither -s nor the model.
    const args = ['exec', '--json', '--skip-git-repo-check', ...planSandbox(request)];
    if (request.model !== null) args.push(`--model=${request.model}`);
    if (request.resume !== null) args.push('resume', request.resume);
    args.push('-');
    return {
      args,
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
    switch (event.type) {
      case 'thread.started':
        // Only what can stand on a command line again, and never as an option.
        if (/^\w[\w.:-]{0,199}$/.test(textOf(event.thread_id))) reading.conversationId ??= textOf(event.thread_id);
        break;
      case 'turn.started':
        // One process may run several turns (a goal that goes on): the last one counts.
        if (reading.final === 'success') reading.final = null;
        break;
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        readItem(fieldsOf(event.item), event.type === 'item.completed', reading, at);
        break;
      case 'error':
        readComplaint(textOf(event.message), reading);
        break;
      case 'turn.completed':
        readUsage(fieldsOf(event.usage), reading);
        reading.final ??= 'success';
        reading.warnings = reading.warnings.filter((warning) => warning.code !== retryCode);
        break;
      case 'turn.failed':
        readFailure(textOf(fieldsOf(event.error).message), reading);
        break;
    }
  },

  close(reading, ending) {
    // Without a turn codex tells what is wrong on stderr only: unknown thread, bad option (exit 2), bad config.
    if (reading.final !== null || !ending.byItself || ending.signal !== null || !ending.exitCode) return;
    const words = errorWords(ending);
    noteFailure(
      reading,
      kindOfWords(words, own),
      words || `codex exited with code ${ending.exitCode} and said nothing`,
    );
  },
} as const satisfies Backend;

/**
 * `-s workspace-write` would let the agent write into the state folder: it protects `.git` and no other subfolder. A
 * permission profile (codex 0.138 and later) can, but `-s` switches profiles off, so both are given by `-c`, which beats
 * the user's config files: an older codex heeds the mode, a newer one the profile. The price: what the user's config
 * adds to workspace-write (`[sandbox_workspace_write]`: network, more folders) does not count in a profile.
 */
function planSandbox({ profile, stateRoot, writable }: StaffRequest): string[] {
  if (profile !== 'standard') return ['-s', sandboxes[profile]];
  // Such a path would be read as a pattern and refused. Rare enough to do without the rule.
  if ([stateRoot, ...writable].some((folder) => /[*?[\]{}]/.test(folder)))
    return ['-s', sandboxes[profile], ...writable.flatMap((folder) => ['--add-dir', folder])];
  // A JSON string is a TOML string.
  const rules = [
    `${JSON.stringify(stateRoot)}="read"`,
    ...writable.map((folder) => `${JSON.stringify(folder)}="write"`),
  ];
  const settings = [
    `sandbox_mode="${sandboxes[profile]}"`,
    'default_permissions="job-companion"',
    'permissions.job-companion.extends=":workspace"',
    `permissions.job-companion.filesystem={${rules.join(',')}}`,
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}

function readItem(item: Fields, completed: boolean, reading: Reading, at: string): void {
  const type = textOf(item.type);
  if (type === 'agent_message') {
    reading.text = textOf(item.text) || reading.text;
    if (completed) reading.answer = textOf(item.text);
  } else if (type === 'error') {
    readComplaint(textOf(item.message), reading);
  } else if (Object.hasOwn(calls, type)) {
    const status = statusOf(item.status, completed);
    noteTool(reading, { key: textOf(item.id), name: type, ...calls[type]?.(item), status }, at);
  }
}

/** The items that are tool calls. Plans (todo_list), thoughts (reasoning) and what later versions add are none. */
const calls: Record<string, (item: Fields) => { input: string; output?: string | null }> = {
  command_execution: (item) => ({ input: textOf(item.command), output: textOf(item.aggregated_output) || null }),
  file_change: (item) => ({ input: listOf(item.changes).map(changeText).join(', ') }),
  mcp_tool_call: (item) => ({
    input: `${textOf(item.server)}.${textOf(item.tool)} ${JSON.stringify(item.arguments ?? {})}`,
    output: resultOf(item) || null,
  }),
  web_search: (item) => ({ input: textOf(item.query) }),
  collab_tool_call: (item) => ({ input: `${textOf(item.tool)} ${textOf(item.prompt)}`.trim() }),
};

function statusOf(status: unknown, completed: boolean): 'running' | 'completed' | 'failed' | 'denied' {
  if (status === 'declined') return 'denied';
  if (status === 'failed') return 'failed';
  return completed ? 'completed' : 'running';
}

function changeText(change: Fields): string {
  return `${textOf(change.kind)} ${textOf(change.path)}`;
}

function resultOf(item: Fields): string {
  const texts = listOf(fieldsOf(item.result).content).map((part) => textOf(part.text));
  return textOf(fieldsOf(item.error).message) || texts.join('\n');
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

const retryCode = 'agent_retried';

function readComplaint(message: string, reading: Reading): void {
  const isRetry = /^reconnecting\b/i.test(message);
  // The newest retry tells it all.
  if (isRetry) reading.warnings = reading.warnings.filter((warning) => warning.code !== retryCode);
  noteWarning(reading, isRetry ? retryCode : 'agent_warning', message);
}

function readFailure(message: string, reading: Reading): void {
  reading.final = 'failure';
  // An `error` event has told the same before.
  reading.warnings = reading.warnings.filter((warning) => warning.message !== message);
  noteFailure(reading, kindOfWords(message, own), message || 'the turn failed without a reason', resetOf(message));
}

function readUsage(usage: Fields, reading: Reading): void {
  const input = numberOf(usage.input_tokens);
  const output = numberOf(usage.output_tokens);
  reading.usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

const own: [JobErrorCode, RegExp][] = [['session_lost', /no rollout found/i]];

/** `... or try again at Dec 3rd, 2026 4:06 PM.` and `Try again in 5 days 2 hours.` */
/** The error line of stderr (the usage help follows it), else the last line that is no mere notice. */
function errorWords(ending: Ending): string {
  const lines = plainText(ending.stderrTail)
    .split('\n')
    .map((line) => line.trim());
  const told = lines.filter((line) => line !== '' && !/^(?:warning:|reading additional input)/i.test(line));
  return (told.findLast((line) => /^error\b/i.test(line)) ?? told.at(-1) ?? '').replace(/^error:\s*/i, '');
}
