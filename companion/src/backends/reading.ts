// What an agent's stream has told so far, and the few ways in which a backend writes into it. Bounded, whatever comes.
import { excerpt } from '../core/excerpt.ts';
import type { JobError, JobErrorCode, TokenUsage, Warning } from '../core/job.ts';
import { excerptBytes, toolCallBytes } from '../core/limits.ts';

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
