/**
 * What one agent CLI is expected to do in the cases of matrix.ts, as data, and the one function that compares.
 */
import assert from 'node:assert/strict';
import type { JobErrorCode, JobState, Profile } from '../../companion/src/core/job.ts';
import type { LabPlace } from '../lab/agents/profile.ts';

export interface Expected {
  outcome: 'done' | 'failed' | 'timed_out';
  /** `error.code`; absent for `done`. */
  code?: JobErrorCode;
  /** In `error.message`: the words of the CLI. */
  words?: RegExp;
  /** In the answer. */
  answer?: RegExp;
  /** A warning with this code (and, in its message, these words). */
  warning?: [code: string, words: RegExp];
}

export const failureCases = ['e401', 'e429', 'e500', 'cut', 'empty'] as const;
export type FailureCase = (typeof failureCases)[number];

export interface Expectations {
  /** The names that the CLI gives its shell tool in `observe`. */
  shellTool: RegExp;
  /** False: it tells of a tool only when that has ended. */
  tellsToolStart: boolean;
  failures: Record<FailureCase, Expected>;
  /** Where it keeps its conversations, below the home folder. */
  store: readonly string[];
  /** A conversation that its store has lost. */
  lost: Expected;
  /** A write under `restricted`, by the shell and by its own tool; null where it cannot have that profile. */
  denied: { shell: Expected; file: Expected } | null;
  /** A tool that `restricted` does not offer, and what comes of a model that calls it all the same. */
  unoffered?: { tool: string; expected: Expected };
  /** Settings of the user and of the project that allow everything, to see that they do not widen `restricted`. */
  widen?(place: LabPlace): void;
  /** After a SIGKILL in the middle of a tool: does the conversation hold the turn that was cut off? */
  keepsCutTurn: boolean;
  /** False: it tells no numbers. */
  tellsUsage?: false;
  /** Warnings that a clean success has, by profile. */
  cleanWarnings?: Partial<Record<Profile, readonly string[]>>;
}

/** `answer`: what `wait` printed. */
export function compare(state: JobState, answer: string, expected: Expected): void {
  const shown = JSON.stringify({ state: state.state, error: state.error, warnings: state.warnings, answer });
  assert.deepEqual([state.state, state.error?.code], [expected.outcome, expected.code], shown);
  if (expected.words) assert.match(state.error?.message ?? '', expected.words, shown);
  if (expected.answer) assert.match(answer, expected.answer, shown);
  if (expected.warning) {
    const [code, words] = expected.warning;
    assert.ok(
      state.warnings.some((one) => one.code === code && words.test(one.message)),
      `no warning ${code} ${words}: ${shown}`,
    );
  }
  // A failed job prints its report, which tells the reason and how to go on.
  if (expected.outcome !== 'done') {
    assert.ok(answer.includes(state.error?.message.split('\n')[0] ?? '?'), shown);
    assert.match(answer, new RegExp(`restart ${state.id}`), shown);
    if (state.conversation) assert.match(answer, new RegExp(`continue --job ${state.id}`), shown);
  }
}
