// What an ended job amounts to. The first reason wins: it is written down before the first signal, and what happens later does
// not change it. Pure.
import type { ExitRecord, JobError, JobErrorCode, Kind, Outcome } from './job.ts';

/** Why the job ended: by itself, or the first reason of ours. */
export type EndReason =
  | 'exited'
  /** An agent stayed alive after its final event. */
  | 'lingered'
  | 'canceled'
  | 'hard_timeout'
  | 'first_output_timeout'
  | 'stalled'
  | 'sign_in'
  | 'state_vanished'
  | 'spawn_failed'
  | 'never_started'
  | 'worker_lost'
  | 'host_restarted'
  /** A watch came to its verdict; a timer to its instant. */
  | 'met'
  | 'watch_failed'
  | 'watch_error'
  | 'due'
  /** A gate or a loop came to its own end (`ownError`). */
  | 'judged';

const reasons: readonly EndReason[] = [
  'exited',
  'lingered',
  'canceled',
  'hard_timeout',
  'first_output_timeout',
  'stalled',
  'sign_in',
  'state_vanished',
  'spawn_failed',
  'never_started',
  'worker_lost',
  'host_restarted',
];

/**
 * The word in `started/reason`, as the shim's guard or a worker wrote it: why a tree is being ended. A verdict and an instant end no
 * tree, so their words there come from somebody else.
 */
export function parseReason(text: string | undefined): EndReason | undefined {
  return reasons.find((reason) => reason === text);
}

export interface EndFacts {
  reason: EndReason;
  exit: ExitRecord | undefined;
  /** Name of the signal that the exit code stands for, if it stands for one. */
  signal: string | null;
  successExit: number;
  /** For staff: what the stream says. Null error is success. */
  staffError?: JobError | null;
  /** Of a gate or a loop that came to its end: null is success. */
  ownError?: JobError | null;
  kind: Kind;
  /** `--success-file`s that are neither new nor changed, each with its reason. */
  missingFiles?: readonly string[];
  survivors: number[];
  deadlineText: string;
  /** More about the reason, in the system's words. */
  detail?: string | undefined;
}

export interface Verdict {
  outcome: Outcome;
  error: JobError | null;
}

export function judgeEnd(facts: EndFacts): Verdict {
  if (facts.survivors.length > 0) {
    return failed('failed', 'survivors', `these processes outlived SIGKILL: ${facts.survivors.join(', ')}`);
  }
  switch (facts.reason) {
    case 'canceled':
      return { outcome: 'canceled', error: null };
    case 'met':
    case 'due':
      return { outcome: 'done', error: null };
    case 'judged':
      return facts.ownError ? { outcome: 'failed', error: facts.ownError } : { outcome: 'done', error: null };
    case 'watch_failed':
      return failed('failed', 'watch_failed', facts.detail ?? 'the condition cannot hold any more');
    case 'watch_error':
      return failed('failed', 'watch_error', facts.detail ?? 'the condition cannot be looked at');
    case 'exited':
    case 'lingered':
      return judgeExit(facts);
    case 'hard_timeout':
      if (isStaff(facts) && facts.staffError === null) return { outcome: 'done', error: null };
      if (facts.kind === 'watch')
        return failed('timed_out', 'watch_expired', `the bound of ${facts.deadlineText} was reached${detailOf(facts)}`);
      return failed('timed_out', 'hard_timeout', `the hard limit of ${facts.deadlineText} was reached${told(facts)}`);
    case 'first_output_timeout':
      return failed('failed', 'first_output_timeout', 'nothing was printed within --first-output');
    case 'stalled':
      return failed('failed', 'stalled', `nothing happened for the time given by --stall-after${detailOf(facts)}`);
    case 'sign_in':
      return failed(
        'failed',
        'auth',
        facts.staffError?.message ?? 'the agent waits for a sign-in that nobody can give',
      );
    case 'state_vanished':
      return failed('crashed', 'worker_lost', 'the state folder vanished');
    case 'spawn_failed':
      return failed('failed', 'spawn_failed', `the program could not be started: ${facts.detail ?? 'not known why'}`);
    case 'never_started':
      return failed('failed', 'never_started', 'the launcher died before a worker existed');
    case 'worker_lost':
      return failed(
        'crashed',
        'worker_lost',
        'the processes that supervise the command were killed; how it ended is not known',
      );
    case 'host_restarted':
      return failed('crashed', 'host_restarted', 'the machine was restarted while the job ran');
  }
}

function judgeExit(facts: EndFacts): Verdict {
  const { exit } = facts;
  if (exit?.spawn_failed)
    return failed('failed', 'spawn_failed', `the program could not be executed (exit code ${exit.exit_code})`);
  if (isStaff(facts)) {
    return facts.staffError ? { outcome: 'failed', error: facts.staffError } : { outcome: 'done', error: null };
  }
  if (!exit) return failed('crashed', 'worker_lost', 'how the command ended is not known');
  if (exit.exit_code === facts.successExit) return judgeFiles(facts);
  if (facts.signal !== null && exit.signaled) return failed('failed', 'signal', signalMessage(facts.signal));
  return failed('failed', 'exit_nonzero', `the command exited with code ${exit.exit_code}`);
}

/** The exit code says success: the files that must be there decide. */
function judgeFiles({ missingFiles = [] }: EndFacts): Verdict {
  if (missingFiles.length === 0) return { outcome: 'done', error: null };
  const named = missingFiles.slice(0, 3).join(', ');
  const more = missingFiles.length > 3 ? ` and ${missingFiles.length - 3} more` : '';
  return failed('failed', 'artifact_missing', `neither new nor changed at the end: ${named}${more}`);
}

function isStaff({ kind }: EndFacts): boolean {
  return kind === 'staff';
}

function detailOf({ detail }: EndFacts): string {
  return detail === undefined ? '' : `; ${detail}`;
}

/** What the agent had told by then: a limit that strikes while it waits out a quota should say so. */
function told({ staffError }: EndFacts): string {
  const isWord = staffError && ['auth', 'quota', 'agent_error', 'response_timeout'].includes(staffError.code);
  return isWord ? `; the agent had told: ${staffError.message}` : '';
}

function signalMessage(signal: string): string {
  const hint = signal === 'SIGKILL' ? ' (not by us: often the kernel, when memory runs out)' : '';
  return `the command was ended by ${signal}${hint}`;
}

function failed(outcome: Outcome, code: JobErrorCode, message: string): Verdict {
  return { outcome, error: { code, message } };
}
