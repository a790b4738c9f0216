// The five exit codes of contract 2, by name. Only this file has the numbers; only main.ts hands one to the process.
import type { State } from './job.ts';

export const exitCodes = {
  done: 0,
  fault: 1,
  pending: 2,
  unsuccessful: 3,
  canceled: 4,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const codeOfState: Record<State, ExitCode> = {
  queued: exitCodes.pending,
  starting: exitCodes.pending,
  running: exitCodes.pending,
  stopping: exitCodes.pending,
  done: exitCodes.done,
  failed: exitCodes.unsuccessful,
  timed_out: exitCodes.unsuccessful,
  crashed: exitCodes.unsuccessful,
  canceled: exitCodes.canceled,
};

/** The code that `wait`, `observe`, `status ID` and `result` give for a job in this state. */
export function exitCodeOf(state: State): ExitCode {
  return codeOfState[state];
}

/** The code for all of several ended jobs: 3 if any is 3, else 4 if any is 4, else 0 (contract 2). */
export function exitCodeOfAll(states: readonly State[]): ExitCode {
  const codes = states.map(exitCodeOf);
  for (const code of [exitCodes.pending, exitCodes.unsuccessful, exitCodes.canceled]) {
    if (codes.includes(code)) return code;
  }
  return exitCodes.done;
}
