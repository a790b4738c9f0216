// The words of a loop: work that outlives a context window, with a gate at every boundary (formats: state.json, journal.md, handoff.md in
// `.loop/`). Types only; field names as on disk.

export const milestoneStatuses = ['pending', 'in_progress', 'done'] as const;
export type MilestoneStatus = (typeof milestoneStatuses)[number];

export interface Milestone {
  /** Letters, digits, dot, dash and underscore; it stands in commit messages. */
  id: string;
  title: string;
  /** What must be true, so that it can be tested. */
  acceptance: string | string[];
  status: MilestoneStatus;
  /** A risky one needs the verdict of a review job before GO. */
  risk?: 'standard' | 'risky';
}

/** A command of the repository: run only when this user trusts it (loop/trust.ts). `cmd` goes to `sh -c`. */
export interface VerifyCommand {
  name: string;
  cmd: string;
  timeout_s: number;
}

/** Which milestone is being worked on, by whom and since when. */
export interface CurrentWork {
  milestone: string;
  owner: string | null;
  started: string;
  /** HEAD at the start; null outside git or before the first commit. */
  base: string | null;
  /** The loop job that works on it. */
  job?: string;
}

/** Why no further iteration is begun. `declared` and `stopped` are the user's own; the others are limits that were reached. */
export const stopReasons = [
  'finished',
  'stopped',
  'declared',
  'iterations_exhausted',
  'repeated_failure',
  'remediation_exhausted',
] as const;
export type StopReason = (typeof stopReasons)[number];

/** `.loop/state.json`: the one truth of the milestones, written only by us. */
export interface LoopState {
  schema: 1;
  /** +1 with every write. */
  rev: number;
  goal: string;
  /** In the order of work. */
  milestones: Milestone[];
  /** Checkpoints that were made. */
  iteration: number;
  /** `file:PATH`, `date:ISO`, `cmd:COMMAND`, or free words for whoever judges. */
  stop_conditions: string[];
  budget: { iterations_max: number | null; notes: string };
  /** ISO instant of the last write. */
  updated: string;
  verify: VerifyCommand[];
  /** NO-GO answers since the last checkpoint. */
  remediation_rounds: number;
  /** One for each iteration whose gate said NO-GO: `ITERATION:DIGEST`, oldest first, at most 20. */
  failure_fingerprints: string[];
  current: CurrentWork | null;
  /** When the milestone was begun that is worked on, or was finished last: jobs since then are of this boundary. */
  since: string | null;
  /** The milestone of the newest checkpoint. */
  last?: string;
  /** The iteration of that checkpoint. */
  last_iteration?: number;
  /** When code was mended after a NO-GO, since that checkpoint. */
  fixed?: string;
  stopped: { reason: StopReason; detail: string; at: string } | null;
  /** Commit of the last checkpoint's parent: lines since then are looked at by E4. Null before the first. */
  boundary: string | null;
  /** The newest gate: what it said, for which iteration, by which job. */
  gate: { verdict: Verdict; iteration: number; at: string; job: string | null } | null;
  /** SHA-256 over all other fields, 16 hex digits: tells that somebody else wrote. */
  hash: string;
}

export const verdicts = ['GO', 'NO-GO', 'STOP'] as const;
export type Verdict = (typeof verdicts)[number];

export const checkIds = ['E1', 'E2', 'E2b', 'E3', 'E4', 'E5', 'E6', 'E7'] as const;
export type CheckId = (typeof checkIds)[number];

/** Who has to act on a fix: the loop's own files, the one who writes code, or a person. */
export type FixOwner = 'loop' | 'developer' | 'human';

export interface Fix {
  check: CheckId;
  owner: FixOwner;
  /** One sentence, with file and line where there is one. */
  what: string;
  /** What stays the same when the same thing fails again, whatever its output says. */
  key?: string;
  /** The exact command, where one does it. */
  command?: string;
}

/** Only a judge can answer it. The digest of all of them binds an answer to what was asked. */
export interface Question {
  /** `E1`, `E5`, ...; with a suffix where a check asks several. */
  id: string;
  check: CheckId;
  question: string;
}

export interface CheckResult {
  id: CheckId;
  title: string;
  /** Of the mechanical half. `skipped`: an earlier failure made it pointless, or it was not asked for. */
  result: 'pass' | 'fail' | 'skipped';
  /** At most 10 lines, each plain and at most 200 characters. */
  evidence: string[];
  fixes: Fix[];
  questions: Question[];
}

export interface GateReport {
  verdict: Verdict;
  /** With STOP. */
  reason: StopReason | null;
  detail: string;
  iteration: number;
  milestone: string | null;
  checks: CheckResult[];
  failed_checks: CheckId[];
  fixes: Fix[];
  questions: Question[];
  /** Ids of questions without an answer; the unattended loop takes no GO with one. */
  unanswered: string[];
  remediation_rounds: number;
  /** Digest of what failed; null on GO. */
  fingerprint: string | null;
}

/** Of a gate job, as it was asked for. */
export interface GatePart {
  /** The worktree whose `.loop/` is looked at. */
  folder: string;
  /** Answers to the questions, as read at launch. */
  judge: Record<string, { holds: boolean; why: string }> | null;
  /** Backend of a restricted staff job that answers them. */
  judge_backend: string | null;
  repair: boolean;
}

/** Of a loop job. */
export interface LoopPart {
  folder: string;
  backend: string | null;
  model: string | null;
  profile: string | null;
  judge_backend: string | null;
  max_iterations: number | null;
  every_ms: number | null;
  once: boolean;
  /** Hard limit of each staff job. */
  staff_ms: number;
}

/** Of a loop job: where it is. */
export interface LoopNote {
  iteration: number;
  milestone: string | null;
  step: 'orient' | 'execute' | 'verify' | 'checkpoint' | 'gate' | 'remediate' | 'pace' | 'stop';
  round: number;
  /** The staff or gate job that it waits for. */
  job: string | null;
}
