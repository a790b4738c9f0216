// What a backend is: one agent CLI, seen as pure functions. A backend says how the CLI is called and folds its stream into a
// `Reading`; it never spawns, waits, kills, writes a file or judges success. The worker starts every child in the same way,
// and one function (verdict.ts) judges every `Reading` by contract 9.
//
// To fit: prompt by stdin or by argument (agy's text mode), ids given by us or reported by the CLI (copilot tells only at the
// end), text as deltas or whole, usage that runs on over resumes, failures told only on stderr, CLIs that write no stream.
import { byteLength, excerpt } from '../core/excerpt.ts';
import type { CustomBackend, JobError, JobErrorCode, Profile, TokenUsage, Warning } from '../core/job.ts';
import { excerptBytes, toolCallBytes } from '../core/limits.ts';

export interface StaffRequest {
  mode: string;
  /** The task, byte for byte. */
  prompt: string;
  model: string | null;
  profile: Profile;
  /** The conversation to go on with, or null for a new one. */
  resume: string | null;
  /** A fresh random UUID, for CLIs that take the id of a new conversation from us. */
  freshId: string;
  cwd: string;
  /** The job's hard limit in ms: a CLI with a response limit of its own gets this one. */
  deadlineMs: number;
  /** The state folder, so that a sandbox which can be told keeps it read-only. */
  stateRoot: string;
  /** A private file that holds the prompt (only when `promptBy` is `file`). */
  promptFile: string;
  custom: CustomBackend | null;
}

export interface StaffPlan {
  /** Arguments after the program. */
  args: string[];
  /** How the prompt goes in: `stdin` writes `stdin` and closes; the others close stdin at once. */
  promptBy: 'stdin' | 'file' | 'argument';
  /** The text for stdin when `promptBy` is `stdin` (some CLIs want an envelope around the prompt). */
  stdin: string;
  environment: Record<string, string>;
  /** The id that this call gives to a new conversation (`freshId`, for CLIs that take it): known before they tell it. */
  conversationId: string | null;
  /** Variables that the child must not inherit (host markers and the like). */
  remove: readonly string[];
}

export interface ToolCall {
  /** 1, 2, 3, ... in order of appearance. */
  n: number;
  /** The CLI's own id of the call, to match its end with its start. */
  key: string;
  name: string;
  input: string;
  output: string | null;
  status: 'running' | 'completed' | 'failed' | 'denied';
  started_at: string;
  ended_at: string | null;
}

/** What the stream has told so far. Backends change it in place; everything in it is data, never a command. */
export interface Reading {
  conversationId: string | null;
  /** The newest text of the agent, for progress. */
  text: string;
  /** The final answer as far as known; the last complete one wins. */
  answer: string | null;
  /** The terminal event: `success`, `failure`, or none yet. */
  final: 'success' | 'failure' | null;
  /** The structured failure; the first one of a terminal kind wins. */
  failure: JobError | null;
  /** The most recent calls (bounded by `noteTool`); `toolCount` counts all. */
  tools: ToolCall[];
  toolCount: number;
  /** Names or descriptions of refused tools. */
  denials: string[];
  /** Complaints of the CLI that are no failure. */
  warnings: Warning[];
  usage: TokenUsage | null;
  /** Model that really answers, when told. */
  model: string | null;
  /** Lines that were no JSON object; told in the record, never a failure by themselves. */
  unparsedLines: number;
  /** The CLI waits for a sign-in that nobody can give: the job is ended (contract 8). */
  waitsForSignIn: boolean;
}

export interface Ending {
  exitCode: number | null;
  signal: string | null;
  /** False when a reason of ours (limit, cancel, lingering) ended it: then its exit code says nothing. */
  byItself: boolean;
  /** The last 8 KiB of stderr. */
  stderrTail: string;
}

export interface Backend {
  id: string;
  /** What a person calls it. */
  title: string;
  /** Program names, best first, searched on PATH. Empty for `custom`. */
  programs: readonly string[];
  /** Where the answer is: folded from the stream's lines, or the whole of stdout as it is. */
  answerFrom: 'stream' | 'stdout';
  /** Can a conversation be continued? */
  keepsConversation: boolean;
  /** What each profile adds to the command line, for people; null where the CLI cannot keep that profile. */
  profiles: Readonly<Record<Profile, string | null>>;
  plan(request: StaffRequest): StaffPlan;
  /** Fold one line of stdout (without its newline) into the reading. `at` is the instant it was seen, ISO. */
  read(line: string, reading: Reading, at: string): void;
  /** Fold one line of stderr. Only for CLIs that tell something there and nowhere else. */
  readError?(line: string, reading: Reading, at: string): void;
  /** Facts that only the end shows: an exit code with a meaning, a failure told on stderr only. */
  close?(reading: Reading, ending: Ending): void;
}

export function makeReading(): Reading {
  return {
    conversationId: null,
    text: '',
    answer: null,
    final: null,
    failure: null,
    tools: [],
    toolCount: 0,
    denials: [],
    warnings: [],
    usage: null,
    model: null,
    unparsedLines: 0,
    waitsForSignIn: false,
  };
}

/** A CLI's own words in a record. */
const wordsBytes = 2048;
const keptNotes = 20;

/** Keep the first failure: what comes later is mostly its echo. */
export function noteFailure(reading: Reading, code: JobErrorCode, message: string, resets?: string): void {
  reading.failure ??= { code, message: excerpt(message, wordsBytes), ...(resets === undefined ? {} : { resets }) };
}

/** A complaint that is no failure; the same one counts once. */
export function noteWarning(reading: Reading, code: string, message: string): void {
  const words = excerpt(message, wordsBytes);
  if (words === '' || reading.warnings.length >= keptNotes) return;
  if (!reading.warnings.some((known) => known.message === words)) reading.warnings.push({ code, message: words });
}

const keptTools = 20;

/** A tool call began, or its end is told (same key). Keeps the last ones and every one that still runs, each bounded. */
export function noteTool(
  reading: Reading,
  call: { key: string; name: string; input?: string; output?: string | null; status: ToolCall['status'] },
  at: string,
): void {
  const known = reading.tools.find((tool) => tool.key === call.key && tool.ended_at === null);
  const ended = call.status === 'running' ? null : at;
  const input = excerpt(call.input ?? '', toolCallBytes);
  const output = call.output == null ? null : excerpt(call.output, toolCallBytes);
  if (known) {
    known.status = call.status;
    known.output = output ?? known.output;
    known.ended_at = ended;
    if (input) known.input = input;
  } else {
    reading.toolCount += 1;
    reading.tools.push({
      n: reading.toolCount,
      key: call.key,
      name: call.name,
      input,
      output,
      status: call.status,
      started_at: at,
      ended_at: ended,
    });
    if (reading.tools.length > keptTools) {
      const drop = reading.tools.findIndex((tool) => tool.ended_at !== null);
      reading.tools.splice(Math.max(0, drop), 1);
    }
  }
  if (call.status === 'denied') {
    const what = known?.input || input;
    noteDenial(reading, what ? `${call.name}: ${excerpt(what, excerptBytes)}` : call.name);
  }
}

export function noteDenial(reading: Reading, what: string): void {
  if (!reading.denials.includes(what) && reading.denials.length < keptNotes) reading.denials.push(what);
}

/** A stream line as an object, or undefined (blank, unparsable, no object); unparsable ones are counted. */
export function parseLine(line: string, reading: Reading): Record<string, unknown> | undefined {
  if (line.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Banners and torn lines are no events.
  }
  reading.unparsedLines += 1;
  return undefined;
}

/** Why these arguments cannot be given to any program; null when they can. Linux: 128 KiB for one, its end included. */
export function findArgumentFault(args: readonly string[]): string | null {
  if (args.some((arg) => arg.includes('\0'))) return 'an argument holds a NUL character';
  const longest = Math.max(0, ...args.map(byteLength));
  return longest < 131_072 ? null : `an argument of ${longest} bytes is too long; allowed: 131071 bytes`;
}
