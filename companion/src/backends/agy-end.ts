// What the end of an agy run means: everything that it tells on stderr only, or not at all in its exit code. Marks are looked for
// on stderr alone, for an answer may quote them, and hold whoever ended the process; words that our own signal can cause (an exit
// code, AGY_ERROR) count only when it ended by itself.
import { plainText } from '../core/excerpt.ts';
import type { JobErrorCode } from '../core/job.ts';
import {
  type Asked,
  type Ending,
  noteDenial,
  noteFailure,
  noteWarning,
  type Reading,
  type ToolCall,
} from './backend.ts';
import { kindOfWords, resetOf } from './failures.ts';
import { fieldsOf, textOf } from './fields.ts';

export function judgeAgyEnd(reading: Reading, ending: Ending, asked: Asked): void {
  if (!ending.byItself) forgetOurSignal(reading);
  forgiveRepeatedError(reading, ending, asked);
  const lines = plainText(ending.stderrTail)
    .split('\n')
    .map((line) => line.trim());
  noteUnaskedTool(reading, lines);
  // Newer versions stop at the first refusal: the response is then what was said before it.
  if (reading.denials.length > 0 && endedInCall.has(reading)) reading.answer = null;
  noteCut(reading, lines);
  noteLostConversation(reading, asked);
  if (ending.byItself) noteExit(reading, ending, lines);
  noteSignIn(reading, lines);
  if (reading.final === 'failure' && reading.denials.length > 0) {
    noteFailure(reading, 'permission_denied', `agy stopped at a tool that was refused: ${reading.denials.join(', ')}`);
  }
}

/** The readings in which no words of the agent followed the newest tool call. */
export const endedInCall = new WeakSet<Reading>();

/** Ended by us, agy tells "interrupted" as the error of the turn: that is no word on what went wrong. */
function forgetOurSignal(reading: Reading): void {
  if (!isInterruption(reading.failure?.message ?? '')) return;
  reading.failure = null;
  reading.final = null;
}

export function isInterruption(error: string): boolean {
  return /^interrupted\b/i.test(error);
}

const own: [JobErrorCode, RegExp][] = [
  ['auth', /authentication (?:required|timed out|failed)|not signed in|api key not valid/i],
  ['session_lost', /\bconversation .*not found/i],
  ['response_timeout', /timeout waiting for response|print timeout after/i],
];

/** A failure in agy's own words. */
export function noteAgyFailure(reading: Reading, words: string): void {
  noteFailure(reading, kindOfWords(words, own), words, resetOf(words));
}

/** agy names a refused action by its permission (`command`) or a display name (`RunCommand`); the call itself says more. */
export function noteRefusal(reading: Reading, names: readonly string[]): void {
  const plain = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '');
  const call = reading.tools.findLast(
    (tool) => hasFailed(tool) && names.some((name) => name !== '' && plain(tool.name).includes(plain(name))),
  );
  if (call) call.status = 'denied';
  const what = call ? `${call.name}: ${call.input}` : names.find((name) => name !== '');
  noteDenial(reading, what ?? 'a tool that has no name');
}

/** A refused call ends as failed in older versions, as done without output in newer ones. */
function hasFailed({ status, output }: ToolCall): boolean {
  return status !== 'completed' || output === null;
}

export const lostConversation = 'conversation_not_found';

export function isLostConversation(line: string): boolean {
  return /^warning: conversation\b.*\bnot found/i.test(line);
}

export const repeatedError = 'earlier_error_repeated';

/**
 * After one error in a conversation agy 1.2.6 and 1.2.11 tell every later turn as `ERROR` with the old text, beside a good
 * answer and exit 0. The warning is that text as it is, so that the next turn can be compared with it again.
 */
function forgiveRepeatedError(reading: Reading, ending: Ending, asked: Asked): void {
  const { failure, answer } = reading;
  if (asked.resume === null || asked.earlierError === null || failure?.message !== asked.earlierError) return;
  if (answer === null || (ending.byItself && ending.exitCode !== 0)) return;
  reading.failure = null;
  reading.final = 'success';
  noteWarning(reading, repeatedError, failure.message);
}

/** Older versions name a refused tool in no event. */
function noteUnaskedTool(reading: Reading, lines: readonly string[]): void {
  const line = lines.findLast((text) => /^jetski:.*\bauto-denied\b/.test(text));
  if (line === undefined || reading.denials.length > 0) return;
  noteRefusal(reading, [/"([\w ]+)" permission/.exec(line)?.[1] ?? '']);
}

/** The two ways in which agy cuts a run short and calls it a success. */
function noteCut(reading: Reading, lines: readonly string[]): void {
  const timeout = lines.find((line) => /\bprint timeout after\b.*\breturning partial output\b/.test(line));
  if (timeout !== undefined) noteFailure(reading, 'response_timeout', timeout);
  // The second line alone is a stray process that nobody waited for.
  const waited = lines.find((line) => /\broot agent idle; waiting up to\b.*\bbackground task/.test(line));
  const killed = lines.find((line) => /\bterminating \d+ background task\(s\) on exit\b/.test(line));
  if (waited === undefined || killed === undefined) return;
  noteFailure(reading, 'agent_error', `agy ended commands that it had left running: ${waited}; ${killed}`);
}

/** It asked for a sign-in and came no further. */
function noteSignIn(reading: Reading, lines: readonly string[]): void {
  if (!reading.waitsForSignIn || reading.final === 'success') return;
  noteFailure(reading, 'auth', lines.find(asksForSignIn) ?? 'agy waits for a sign-in');
}

/** Only at the beginning of a line: a message may quote the words. */
export function asksForSignIn(line: string): boolean {
  return /^authentication required\b/i.test(line);
}

/** Asked for an unknown conversation, agy warns and begins a new one. */
function noteLostConversation(reading: Reading, asked: Asked): void {
  const warning = reading.warnings.find((one) => one.code === lostConversation);
  if (!warning || asked.resume === null || reading.conversationId === asked.resume) return;
  reading.warnings = reading.warnings.filter((one) => one !== warning);
  noteFailure(reading, 'session_lost', warning.message);
}

function noteExit(reading: Reading, ending: Ending, lines: readonly string[]): void {
  const isClean = ending.exitCode === 0 && ending.signal === null;
  // An error that it got over is told there too.
  if (isClean && reading.final === 'success') return;
  const told = lines.findLast((line) => line.startsWith('AGY_ERROR:'));
  if (told !== undefined) noteStructuredError(reading, told.slice('AGY_ERROR:'.length).trim());
  // Without a result it was refused before the turn: sign-in (1), options (2), a broken server.
  if (reading.final !== null || ending.signal !== null || isClean) return;
  noteAgyFailure(reading, errorWords(lines) || `agy exited with code ${ending.exitCode} and said nothing`);
}

function noteStructuredError(reading: Reading, text: string): void {
  const words = wordsOf(text);
  const known = reading.failure;
  // The event's words stay (a later turn may repeat them), the kind may be told here only.
  if (known?.code === 'agent_error') {
    const resets = resetOf(words);
    reading.failure = { ...known, code: kindOfWords(words, own), ...(resets === undefined ? {} : { resets }) };
  } else {
    noteAgyFailure(reading, words);
  }
}

/** `{"short_error"|"status"|"error_code", "retryable", "error_id"}`, each of them perhaps missing. */
function wordsOf(text: string): string {
  try {
    const { short_error, status, error_code } = fieldsOf(JSON.parse(text));
    const words = [short_error, status, error_code].map((part) =>
      typeof part === 'number' ? `code ${part}` : textOf(part),
    );
    return words.filter((part) => part !== '').join(' ') || text;
  } catch {
    return text;
  }
}

/** The last error line; else the first line, which the usage help follows. */
function errorWords(lines: readonly string[]): string {
  const told = lines.filter((line) => line !== '');
  return (told.findLast((line) => /^error\b/i.test(line)) ?? told[0] ?? '').replace(/^error:\s*/i, '');
}
