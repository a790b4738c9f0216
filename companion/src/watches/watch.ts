// What a watch kind is: how its words are read, and one look at its condition. Everything else - the interval, the bound, tolerance,
// news, events, the end - belongs to worker/run-watch.ts, which treats all kinds alike. A kind keeps nothing in memory between
// two looks: what it must remember goes into the cursor, which is on disk.
import type { Given, OptionTable, Parsable } from '../core/option-table.ts';
import type { WatchVerdict } from '../core/waiting.ts';
import type { Environment } from '../platform/env.ts';
import type { ToolAnswer, ToolCall } from '../platform/tool.ts';

/** Plain JSON. */
export type Input = Record<string, unknown>;
export type Cursor = Record<string, unknown>;

export interface Watch {
  /** The word after `watch`. */
  id: string;
  summary: string;
  /** What follows the kind in the usage line. */
  form: string;
  words: Parsable['words'];
  options: OptionTable;
  /** More for its help page. */
  notes?: string;
  examples: readonly string[];
  /** Asked over a network: the interval is at least 5 s instead of 1 s. */
  isRemote: boolean;
  /**
   * The caller's words as what a look needs, frozen into the spec: paths absolute, patterns compiled once, numbers in their units. Throws
   * 'usage' or 'preflight' for what can never be looked at. `words`: the condition for people, one line.
   */
  read(given: Given, place: Place): { input: Input; words: string };
  /**
   * For kinds that tell changes of something on this machine: how it is at the launch, as the cursor of the first look, so that a change
   * between the launch and that look is not lost. `restart` asks again.
   */
  start?(input: Input): Cursor;
  /**
   * Never throws for what the world does; what it throws is a fault of ours. `cursor` is what the look before returned (null or `start`'s at
   * the first). It comes from a file that others may have written into: check what you take from it.
   */
  look(input: Input, tools: Tools, cursor: Cursor | null): Promise<Look | Trouble | Fault>;
  /**
   * Something that tells of a change before the interval is over (a file watcher, a FIFO): `wake` makes the next look come now. It may come
   * for nothing. Returns how to stop.
   */
  early?(input: Input, wake: () => void, tools: Tools): () => void;
}

/** Where the caller stands. */
export interface Place {
  cwd: string;
  /** The state folder. */
  stateRoot: string;
  /** Asked for one look only: no job will be made, and what holds (or can never hold) already is told, not refused. */
  isOnce: boolean;
  /** Is there a job of this (whole or shortened) id? Throws 'unknown_job' or 'ambiguous_id'. */
  jobId(text: string): string;
}

/** The condition could be looked at. */
export interface Look {
  kind: 'look';
  verdict: Exclude<WatchVerdict, 'error'>;
  /** The kind's own word for it (`exists`, `passed`, `armed`); part of what is published. */
  word: string;
  /** One line for people, at most 200 characters. */
  evidence: string;
  /** What is news: the same key is never told twice in a row. */
  key: string;
  /** For programs; small. */
  facts: Record<string, unknown>;
  cursor: Cursor;
  /** With --repeat: nothing can come after this. */
  isSettled?: boolean;
  /** When this is news, somebody should look: it also wakes those who wait for attention. */
  needsAttention?: boolean;
  /** Worth another look after this long, in ms, when that is sooner than the interval (at least 1 s). */
  againMs?: number;
}

/** It could not be looked at this time: the network, a server's 5xx, a rate limit. Tried again, later and later. */
export interface Trouble {
  kind: 'trouble';
  cause: 'timeout' | 'network' | 'rate_limit' | 'server' | 'shape' | 'failed';
  message: string;
  /** Not before this long, in ms (Retry-After, a rate limit's reset); null when nobody said. */
  retryAfterMs: number | null;
}

/** It can never be looked at: a missing program, a refused login, a repository that is not there. Ends the watch at once. */
export interface Fault {
  kind: 'fault';
  cause: 'tool_missing' | 'auth' | 'not_found' | 'refused';
  message: string;
}

export interface Tools {
  /** One small program within the attempt's bound, in the caller's environment and in the folder of the job. */
  run(call: ToolRequest): Promise<ToolAnswer>;
  /** The path of a program in an absolute folder of PATH, or undefined. */
  find(name: string): string | undefined;
  cwd: string;
  /** What is left of this attempt, in ms. */
  leftMs(): number;
  /** The interval of the watch; absent when it looks once. */
  everyMs?: number;
  /** Wall clock, ms. */
  nowMs(): number;
  /** This attempt is over: its time is up, or the watch ends. */
  signal: AbortSignal;
  /** How a job of this state folder stands; one whose worker was lost is settled or gets a new worker, as `wait` does. */
  job(id: string): Promise<JobStand | undefined>;
  /** Call `wake` when somebody lets go of that job. Returns how to stop. */
  onJobEnd(id: string, wake: () => void): () => void;
  /**
   * Ask once for all watches of this state folder that want the same within `maxAgeMs`; `ask` is called by one of them. Plain JSON
   * (store/shared.ts; who looks once just calls `ask`).
   */
  shared<T extends Shareable>(key: string, maxAgeMs: number, ask: () => Promise<T>): Promise<T>;
}

export interface ToolRequest
  extends Pick<ToolCall, 'program' | 'args'>,
    Partial<Pick<ToolCall, 'input' | 'limit' | 'cwd'>> {
  /** Added to the caller's. */
  environment?: Environment;
  /** Less than what is left of the attempt. */
  timeoutMs?: number;
}

export interface Shareable {
  /** How long it may stand for others, instead of their `maxAgeMs`: 0 for what concerns nobody else, until the reset for a rate limit. */
  holdMs?: number;
}

export interface JobStand {
  state: string;
  isEnded: boolean;
  /** The exit code that `wait` would give. */
  code: number;
  seq: number;
  /** Why it did not succeed, in one line. */
  error: string | null;
}
