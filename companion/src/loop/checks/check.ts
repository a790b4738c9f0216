// What a check is: one question about the loop at its boundary, answered from evidence. The mechanical half is decided here; what only a judge
// can say comes as questions.
import { excerpt, plainText } from '../../core/excerpt.ts';
import type { CheckId, CheckResult, Fix, LoopState, Question } from '../../core/loop.ts';
import type { Environment } from '../../platform/env.ts';
import type { LoopRead } from '../files.ts';
import type { LoopGit } from '../git.ts';
import type { LoopPlace } from '../place.ts';

export interface Seen {
  place: LoopPlace;
  read: LoopRead;
  /** Null when it cannot be read. */
  state: LoopState | null;
  git: LoopGit;
  /** Run the commands of the state? They are trusted then. */
  runCommands: boolean;
  /** They were to be run, and this user does not trust them. */
  isRefused: boolean;
  /** What they get. */
  environment: Environment;
  signal: AbortSignal | undefined;
  /** The job that asks: it is no live job of the loop in its own eyes. */
  exclude: readonly string[];
  /** A command that passed before, for this very tree; by its text. */
  passed: ReadonlySet<string>;
  onPassed: (cmd: string) => void;
  /** Kept between the checks of one evaluation: which stop condition is met. */
  met: { condition: string; evidence: string }[];
}

export interface Check {
  id: CheckId;
  title: string;
  run(seen: Seen): CheckAnswer | Promise<CheckAnswer>;
}

export type CheckAnswer = Pick<CheckResult, 'result' | 'evidence'> & { fixes?: Fix[]; questions?: Question[] };

export function pass(...evidence: string[]): CheckAnswer {
  return { result: 'pass', evidence: tidy(evidence) };
}

export function skipped(...evidence: string[]): CheckAnswer {
  return { result: 'skipped', evidence: tidy(evidence) };
}

/** Each fault is evidence and fix in one. */
export function fail(check: CheckId, fixes: Omit<Fix, 'check'>[]): CheckAnswer {
  return {
    result: 'fail',
    evidence: tidy(fixes.map(({ what }) => what)),
    fixes: fixes.slice(0, 50).map((fix) => ({ check, ...fix, what: excerpt(plainText(fix.what), 240) })),
  };
}

function tidy(lines: readonly string[]): string[] {
  const shown = lines.slice(0, 10).map((line) => excerpt(plainText(line), 200));
  return lines.length > 10 ? [...shown.slice(0, 9), `and ${lines.length - 9} more`] : shown;
}
