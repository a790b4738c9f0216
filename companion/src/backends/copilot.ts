// GitHub Copilot CLI (`copilot --output-format json`, watched on 1.0.102): prompt on stdin, one event per line. `result` ends the run;
// `session.error` is a failure, `abort` takes the answer back (a killed run can still tell exit code 0). Nothing but `result` names
// the conversation, so its id comes from us. No tokens are told.
import { plainText } from '../core/excerpt.ts';
import type { JobErrorCode, Profile } from '../core/job.ts';
import {
  type Backend,
  noteFailure,
  noteTool,
  noteWarning,
  parseLine,
  type Reading,
  type StaffRequest,
} from './backend.ts';
import { kindOfStatus, kindOfWords, resetOf } from './failures.ts';
import { type Fields, fieldsOf, textOf } from './fields.ts';

/**
 * `restricted` has no shell: copilot's own judgement lets `git diff --output=file` and `git branch name` pass as reads. What is not
 * listed is not even offered, tools of MCP servers and sub-agents included. Its sandbox needs programs that are rarely installed.
 */
const grants: Record<Profile, readonly string[]> = {
  restricted: ['--available-tools=view,grep,glob', '--disable-builtin-mcps'],
  standard: ['--allow-all-tools', '--disable-builtin-mcps'],
  unrestricted: ['--allow-all'],
};

export const copilot = {
  id: 'copilot',
  title: 'GitHub Copilot CLI',
  programs: ['copilot'],
  answerFrom: 'stream',
  keepsConversation: true,
  resumesElsewhere: true,
  takesFolders: true,
  profiles: {
    restricted: { adds: '--available-tools=view,grep,glob (no shell, no MCP tools)', sandbox: true },
    standard: { adds: '--allow-all-tools, file tools inside the workspace and the temp folder', sandbox: false },
    unrestricted: { adds: '--allow-all', sandbox: false },
  },
  oldest: '1.0.102',
  packages: ['@github/copilot'],
  install: 'npm install -g @github/copilot',
  signIn: {
    // Its own sign-in is in the system's keyring; the GitHub CLI's is used too.
    files: ['.config/gh/hosts.yml'],
    variables: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY'],
  },
  hostMarkers: [
    'COPILOT_AGENT_SESSION_ID',
    'COPILOT_CLI',
    'COPILOT_CLI_BINARY_VERSION',
    'COPILOT_CLI_RESOLVED_DIST_DIR',
    'COPILOT_LOADER_PID',
  ],
  runsOn: { tokens: false, cost: false },

  plan(request) {
    return {
      args: planArgs(request),
      promptBy: 'stdin',
      stdin: request.prompt,
      // A resumed conversation would otherwise move to the folder in which it began.
      environment: { COPILOT_AUTO_UPDATE: 'false', COPILOT_DISABLE_RESUME_AUTO_CD: '1' },
      conversationId: request.resume === null ? request.freshId : null,
      remove: request.profile === 'unrestricted' ? [] : wideners,
    };
  },

  read(line, reading, at) {
    const event = parseLine(line, reading);
    if (!event) return;
    const data = fieldsOf(event.data);
    switch (event.type) {
      case 'tool.execution_start':
      case 'tool.execution_complete':
        readTool(event.type === 'tool.execution_complete', data, reading, at);
        break;
      case 'session.warning':
        noteWarning(reading, 'agent_warning', textOf(data.message));
        break;
      case 'result':
        if (isId(event.sessionId)) reading.conversationId = event.sessionId;
        reading.final = event.exitCode === 0 ? 'success' : 'failure';
        break;
      default:
        // What a sub-agent says is not the agent's word.
        if (textOf(event.agentId) === '' && textOf(data.parentToolCallId) === '') readWords(event.type, data, reading);
    }
  },

  close(reading, ending) {
    if (reading.failure?.code === 'no_final_answer' && reading.denials.length > 0) {
      const message = `there is no final answer and these were refused: ${reading.denials.join(', ')}`;
      reading.failure = { code: 'permission_denied', message };
    }
    // Before the session copilot tells what is wrong on stderr only: unknown conversation, bad option, nobody signed in.
    if (reading.final !== null || !ending.byItself || ending.signal !== null || !ending.exitCode) return;
    const words = errorWords(ending.stderrTail);
    const message = words || `copilot exited with code ${ending.exitCode} and said nothing`;
    noteFailure(reading, kindOfWords(words, own), message);
  },
} as const satisfies Backend;

/** Variables that approve tools, or load hooks and servers that a repository brings along. */
const wideners = [
  'COPILOT_ALLOW_ALL',
  'GITHUB_COPILOT_PROMPT_MODE_EXTENSIONS',
  'GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS',
  'GITHUB_COPILOT_PROMPT_MODE_WORKSPACE_MCP',
];

function planArgs({ profile, writable, model, resume, freshId }: StaffRequest): string[] {
  const args = ['--output-format', 'json', '--no-auto-update', '--no-ask-user', ...grants[profile]];
  for (const folder of profile === 'standard' ? writable : []) args.push('--add-dir', folder);
  if (model !== null) args.push(`--model=${model}`);
  args.push(resume === null ? `--session-id=${freshId}` : `--resume=${resume}`);
  return args;
}

function readWords(type: unknown, data: Fields, reading: Reading): void {
  switch (type) {
    case 'assistant.turn_start':
      // One process may take several turns: the last one counts.
      if (reading.final === 'success') reading.final = null;
      break;
    case 'assistant.message_start':
      if (reading.text !== '') reading.text += '\n';
      break;
    case 'assistant.message_delta':
      reading.text += textOf(data.deltaContent);
      break;
    case 'assistant.message':
      readMessage(data, reading);
      break;
    case 'session.error':
      readFailure(data, reading);
      break;
    case 'abort':
      // Interrupted: whatever was said before is no final answer.
      if (reading.final !== 'success') reading.answer = null;
      break;
  }
}

/** Words beside a tool call are not the last ones. */
function readMessage(data: Fields, reading: Reading): void {
  const content = textOf(data.content);
  reading.model = textOf(data.model) || reading.model;
  if (content !== '' && !reading.text.endsWith(content)) reading.text += content;
  const isLast = !Array.isArray(data.toolRequests) || data.toolRequests.length === 0;
  reading.answer = isLast && content !== '' ? content : null;
}

function readTool(isEnd: boolean, data: Fields, reading: Reading, at: string): void {
  const key = textOf(data.toolCallId);
  if (!isEnd) {
    noteTool(reading, { key, name: textOf(data.toolName), input: inputOf(data.arguments), status: 'running' }, at);
    return;
  }
  const error = fieldsOf(data.error);
  const output = textOf(fieldsOf(data.result).content) || textOf(error.message) || null;
  // The end names the call by its key alone.
  const name = reading.tools.findLast((tool) => tool.key === key)?.name ?? 'tool';
  noteTool(reading, { key, name, output, status: statusOf(data, error) }, at);
}

function statusOf(data: Fields, error: Fields): 'completed' | 'failed' | 'denied' {
  // A tool that the profile takes away and the model calls all the same has no code of its own.
  const isDenied = error.code === 'denied' || /^Tool '.*' does not exist\b/.test(textOf(error.message));
  if (data.success !== true) return isDenied ? 'denied' : 'failed';
  const { exitCode } = fieldsOf(data.shellExecution);
  return typeof exitCode === 'number' && exitCode !== 0 ? 'failed' : 'completed';
}

function inputOf(value: unknown): string {
  const fields = fieldsOf(value);
  return textOf(fields.command) || textOf(fields.path) || JSON.stringify(value ?? {});
}

function readFailure(data: Fields, reading: Reading): void {
  const message = textOf(data.message) || 'the session failed without a reason';
  const status = typeof data.statusCode === 'number' ? kindOfStatus(data.statusCode) : null;
  const code = types[textOf(data.errorType)] ?? status ?? kindOfWords(message, own);
  noteFailure(reading, code, message, resetOf(message));
}

const types: Readonly<Record<string, JobErrorCode | undefined>> = {
  authentication: 'auth',
  authorization: 'auth',
  quota: 'quota',
  rate_limit: 'quota',
};

const own: [JobErrorCode, RegExp][] = [
  ['session_lost', /no session, task, or name matched/i],
  ['no_final_answer', /no response was returned/i],
  ['auth', /no authentication information found|copilot login|authentication failed/i],
];

/** Only what can stand on a command line again, and never as an option. */
function isId(id: unknown): id is string {
  return typeof id === 'string' && /^\w[\w.:-]{0,199}$/.test(id);
}

/** The last error line of stderr (help follows it), else the first line. */
function errorWords(stderrTail: string): string {
  const lines = plainText(stderrTail)
    .split('\n')
    .map((line) => line.trim());
  const told = lines.filter((line) => line !== '');
  return (told.findLast((line) => /^error\b/i.test(line)) ?? told[0] ?? '').replace(/^error:\s*/i, '');
}
