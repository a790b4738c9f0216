// agy (Google Antigravity CLI; read from its documentation and from users of 1.1.8 to 1.4, never run here): the prompt as one line
// of JSON on stdin, one event per line, the payload under the event's name. `SUCCESS` and exit 0 prove little: a refused tool, its
// own print timeout, a background command killed at exit, a conversation silently replaced are told on stderr, and a dropped
// stream by an empty response. Usage runs on over the conversation; there is no cost.
import { plainText } from '../core/excerpt.ts';
import type { Profile } from '../core/job.ts';
import {
  asksForSignIn,
  endedInCall,
  isInterruption,
  isLostConversation,
  judgeAgyEnd,
  lostConversation,
  noteAgyFailure,
  noteRefusal,
} from './agy-end.ts';
import { agyProjectGrants, agySettings, agySharedGrants } from './agy-policy.ts';
import { type Backend, noteTool, noteWarning, parseLine, type Reading, type StaffRequest } from './backend.ts';
import { type Fields, fieldsOf, numberOf, textOf } from './fields.ts';

/**
 * Headless, agy refuses every tool that would have to ask. `plan` refuses writes that no rule allows; the user's own rules are
 * judged by the policy. Only --dangerously-skip-permissions grants tools in every version, and its --sandbox cannot be put beside
 * it: commands then became background tasks that are killed (1.2.7), or there was no sandbox at all (1.1.19).
 */
const grants: Record<Profile, readonly string[]> = {
  restricted: ['--mode', 'plan'],
  standard: ['--dangerously-skip-permissions'],
  unrestricted: ['--dangerously-skip-permissions'],
};

export const agy = {
  id: 'agy',
  title: 'Antigravity CLI',
  programs: ['agy'],
  answerFrom: 'stream',
  keepsConversation: true,
  resumesElsewhere: true,
  takesFolders: true,
  profiles: {
    restricted: { adds: '--mode plan; what would have to ask is refused', sandbox: false },
    standard: { adds: '--dangerously-skip-permissions', sandbox: false },
    unrestricted: { adds: '--dangerously-skip-permissions', sandbox: false },
  },
  // Since then it takes the prompt on stdin and keeps UTF-8 whole.
  oldest: '1.1.15',
  packages: [],
  install: 'curl -fsSL https://antigravity.google/cli/install.sh | bash',
  signIn: { files: ['.gemini/antigravity-cli/antigravity-oauth-token'], variables: ['GEMINI_API_KEY'] },
  policy: agySettings,
  morePolicies: [agySharedGrants, agyProjectGrants],
  hostMarkers: [
    'ANTIGRAVITY_AGENT',
    'ANTIGRAVITY_CLI_ALIAS',
    'ANTIGRAVITY_CONVERSATION_ID',
    'ANTIGRAVITY_SOURCE_METADATA',
    'ANTIGRAVITY_TRAJECTORY_ID',
  ],
  runsOn: { tokens: true, cost: false },

  plan(request) {
    return {
      args: planArgs(request),
      promptBy: 'stdin',
      // One line is one turn; at the end of stdin agy ends with the turn.
      stdin: `${JSON.stringify({ event: 'user', message: { content: request.prompt } })}\n`,
      environment: { AGY_CLI_DISABLE_AUTO_UPDATE: '1' },
      conversationId: null,
      remove: [],
    };
  },

  read(line, reading, at) {
    const event = parseLine(line, reading);
    if (!event) return;
    switch (event.event) {
      case 'init':
        noteConversation(event.conversation_id, reading);
        reading.model = textOf(fieldsOf(event.init).model) || reading.model;
        break;
      case 'step_update':
        readStep(fieldsOf(event.step_update), reading, at);
        break;
      case 'result':
        readResult(fieldsOf(event.result), reading);
        break;
    }
  },

  readError(line, reading) {
    const text = plainText(line).trimEnd();
    // With no time limit of its own agy waits for ever.
    if (asksForSignIn(text)) reading.waitsForSignIn = true;
    // Told once, at the beginning: the end of stderr may no longer hold it.
    if (isLostConversation(text)) noteWarning(reading, lostConversation, text);
  },

  close: judgeAgyEnd,
} as const satisfies Backend;

function planArgs({ profile, cwd, writable, deadlineMs, model, resume }: StaffRequest): string[] {
  const args = ['--output-format', 'stream-json', '--input-format', 'stream-json', '--disable-slash-commands'];
  // Ours began earlier and strikes first: an expiry inside agy looks like a success and loses the usage.
  args.push('--print-timeout', `${Math.ceil(deadlineMs / 1000)}s`);
  // Without it some versions work in a scratch folder of theirs, whatever the working folder is.
  for (const folder of [cwd, ...(profile === 'restricted' ? [] : writable)]) args.push('--add-dir', folder);
  args.push(...grants[profile]);
  if (model !== null) args.push(`--model=${model}`);
  if (resume !== null) args.push('--conversation', resume);
  return args;
}

function readStep(step: Fields, reading: Reading, at: string): void {
  const conversation = textOf(step.conversation_id);
  if (reading.conversationId === null) noteConversation(conversation, reading);
  const type = textOf(step.step_type);
  const name = textOf(step.tool_name) || textOf(fieldsOf(step.tool_info).name);
  if (type === 'tool' || name !== '') {
    const key = `${conversation}/${String(step.step_index)}`;
    if (!reading.tools.some((tool) => tool.key === key)) endedInCall.add(reading);
    noteTool(reading, { key, name: name || type, ...readCall(fieldsOf(step.tool_info)), status: statusOf(step) }, at);
    return;
  }
  // A sub-agent's words are not the agent's.
  if (conversation !== '' && conversation !== reading.conversationId) return;
  if (type !== 'agent_response' && type !== 'user_input') return;
  // The agent goes on: the result of the turn before is not the end.
  if (reading.final === 'success') reading.final = null;
  if (type === 'agent_response') readText(step, reading);
}

/** Deltas are true deltas; the last line of a step holds its last piece. */
function readText(step: Fields, reading: Reading): void {
  const words = textOf(step.text_delta);
  reading.text += words;
  if (words.trim() !== '') endedInCall.delete(reading);
  if (step.state === 'DONE' && reading.text !== '' && !reading.text.endsWith('\n')) reading.text += '\n';
}

function readCall(info: Fields): { input: string; output: string | null } {
  const parameters = fieldsOf(info.parameters);
  const names = ['CommandLine', 'TargetFile', 'AbsolutePath', 'SearchDirectory'];
  const input = names.map((name) => textOf(parameters[name])).find((text) => text !== '');
  const output = textOf(info.output) || textOf(fieldsOf(info.error).message);
  return { input: input ?? (info.parameters === undefined ? '' : JSON.stringify(parameters)), output: output || null };
}

function statusOf(step: Fields): 'running' | 'completed' | 'failed' {
  if (step.state === 'DONE') return 'completed';
  return step.state === 'ERROR' || step.state === 'CANCELED' ? 'failed' : 'running';
}

function readResult(result: Fields, reading: Reading): void {
  const error = textOf(result.error);
  // The answer was there, and then our signal ended the process.
  if (reading.final === 'success' && isInterruption(error)) return;
  // The last word on where it worked; an empty one comes with an error before the turn.
  if (isId(result.conversation_id)) reading.conversationId = result.conversation_id;
  readUsage(fieldsOf(result.usage), reading);
  const response = textOf(result.response);
  reading.answer = response.trim() === '' ? null : response;
  for (const action of Array.isArray(result.denied_actions) ? result.denied_actions.map(fieldsOf) : []) {
    noteRefusal(reading, [textOf(action.display_name), textOf(action.action)]);
  }
  if (result.status === 'SUCCESS') {
    reading.final ??= 'success';
    return;
  }
  reading.final = 'failure';
  if (error === '') noteWarning(reading, 'agent_status', `agy ended the turn with status ${String(result.status)}`);
  else noteAgyFailure(reading, result.status === 'ERROR' ? error : `${String(result.status)}: ${error}`);
}

/** Of the whole conversation, thoughts and cached input included. A run that was cut off tells zeros. */
function readUsage(usage: Fields, reading: Reading): void {
  const input = numberOf(usage.input_tokens);
  const output = numberOf(usage.output_tokens);
  const total = numberOf(usage.total_tokens) || input + output;
  if (total > 0) reading.usage = { input_tokens: input, output_tokens: output, total_tokens: total };
}

function noteConversation(id: unknown, reading: Reading): void {
  if (isId(id)) reading.conversationId ??= id;
}

/** Only what can stand on a command line again, and never as an option. */
function isId(id: unknown): id is string {
  return typeof id === 'string' && /^\w[\w.:-]{0,199}$/.test(id);
}
