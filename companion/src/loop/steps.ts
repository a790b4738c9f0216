// The unattended loop as a machine: from where it is to the next place, one action at a time. Where it is lies on disk before the action is
// done (worker/run-loop.ts), and each action may be done twice: a launch has its once-key, a checkpoint is seen in the state and in git.
// So a worker may be killed at any moment, and the next one goes on with the same step. What is done here is asked of `Hands` alone.
import type { Fix, GateReport, JobError, LoopPart, LoopState, StopReason } from '../core/job.ts';
import { loopLimits } from '../core/limits-loop.ts';
import { nextMilestone } from './files.ts';
import { deficiencyPrompt } from './fix-prompt.ts';
import { firstPosition, type Position } from './position.ts';

/** How a staff job ended. */
export interface StaffOutcome {
  id: string;
  isDone: boolean;
  error: JobError | null;
  isCanceled: boolean;
}

export interface GateOutcome {
  id: string;
  /** Null: it came to no verdict. */
  report: GateReport | null;
  /** Why not. */
  message: string;
}

/** What the machine can do. A refusal is thrown as a LoopRefusal. */
export interface Hands {
  state(): LoopState;
  /** The id of this loop job: it owns the milestone. */
  readonly id: string;
  take(milestone: string): Promise<void>;
  /** The text for a milestone as it stands in the state. */
  brief(state: LoopState, milestone: string): string;
  launchStaff(position: Position): Promise<string>;
  staffEnd(id: string): Promise<StaffOutcome>;
  verify(position: Position): Promise<{ fixes: Fix[]; verified: string[] }>;
  checkpoint(position: Position): Promise<void>;
  /** Null: nothing is asked. */
  launchJudge(position: Position): Promise<{ judge: string; digest: string } | null>;
  launchGate(position: Position): Promise<string>;
  gateEnd(id: string): Promise<GateOutcome>;
  /** Write down that the loop stopped. */
  stop(reason: StopReason, detail: string): Promise<void>;
  sleepUntil(wallMs: number): Promise<void>;
  nowMs(): number;
}

/** A step that cannot be done: the loop ends, and says so. */
export class LoopRefusal extends Error {
  readonly code: JobError['code'];
  constructor(code: JobError['code'], message: string) {
    super(message);
    this.name = 'LoopRefusal';
    this.code = code;
  }
}

/** `stopped`: by the user's own word (a declared condition, `loop stop`). */
export interface LoopEnd {
  end: 'done' | 'stopped' | 'failed';
  error: JobError | null;
  detail: string;
}

export type Next = { at: Position } | { over: LoopEnd };

export async function advance(position: Position, part: LoopPart, hands: Hands): Promise<Next> {
  switch (position.step) {
    case 'orient':
      return orient(position, part, hands);
    case 'execute':
    case 'remediate':
      return work(position, hands);
    case 'verify':
      return verify(position, hands);
    case 'checkpoint':
      await hands.checkpoint(position);
      return { at: { ...position, step: 'gate', isCommitted: true, judge: null, digest: null, gate: null } };
    case 'gate':
      return gate(position, hands);
    case 'pace':
      return pace(position, part, hands);
    case 'stop':
      await hands.stop('remediation_exhausted', position.detail);
      return failed('remediation_exhausted', position.detail);
  }
}

function orient(position: Position, part: LoopPart, hands: Hands): Next {
  const state = hands.state();
  if (state.stopped) return ended(state.stopped.reason, state.stopped.detail);
  const fresh = { ...firstPosition, done: position.done, iteration: state.iteration, startedMs: hands.nowMs() };
  const next = nextMilestone(state);
  const budget = state.budget.iterations_max;
  // The gate has the last word on an end, and counts it.
  if (!next || (budget !== null && state.iteration >= budget))
    return { at: { ...fresh, step: 'gate', isCommitted: true } };
  if (part.max_iterations !== null && position.done >= part.max_iterations)
    return failed(
      'iterations_exhausted',
      `${position.done} iterations were made, as many as this run was given; next: ${next.id}`,
    );
  return { at: { ...fresh, step: 'execute', milestone: next.id, prompt: hands.brief(state, next.id) } };
}

/** First launched, then waited for: between the two the id is on disk. */
async function work(position: Position, hands: Hands): Promise<Next> {
  if (position.job === null) {
    if (position.step === 'execute' && position.milestone !== null) await hands.take(position.milestone);
    const job = await hands.launchStaff(position);
    return { at: { ...position, job, jobs: [...position.jobs.filter((id) => id !== job), job] } };
  }
  const outcome = await hands.staffEnd(position.job);
  if (outcome.isDone) return { at: { ...position, step: 'verify' } };
  if (outcome.isCanceled) return failed('nogo', `the staff job ${outcome.id} was canceled`);
  const { code = 'agent_error', message = 'not known why' } = outcome.error ?? {};
  // Nobody mends these by trying again.
  if (hopeless.includes(code)) return failed(code, `the staff job ${outcome.id} failed: ${message}`);
  const what = `the last run ended before it was finished (${code}: ${message}); look at what is there and finish it`;
  return deficient(position, [{ check: 'E2b', owner: 'developer', what }]);
}

const hopeless: readonly string[] = ['auth', 'quota', 'spawn_failed', 'permission_denied'];

async function verify(position: Position, hands: Hands): Promise<Next> {
  const { fixes, verified } = await hands.verify(position);
  if (fixes.length > 0) return deficient(position, fixes);
  return { at: { ...position, step: 'checkpoint', verified } };
}

/** Given back to the one who wrote it, twice; the third time the loop stops (S3.15). */
function deficient(position: Position, fixes: Fix[]): Next {
  const first = fixes[0]?.what ?? 'not known';
  if (position.round >= loopLimits.remediationRounds) {
    const detail = `milestone ${position.milestone} is not right after ${position.round} rounds: ${first}`;
    return { at: { ...position, step: 'stop', detail } };
  }
  const prompt = deficiencyPrompt(position, fixes);
  return {
    at: { ...position, step: 'remediate', round: position.round + 1, parent: position.job, job: null, prompt },
  };
}

async function gate(position: Position, hands: Hands): Promise<Next> {
  if (position.gate === null && position.judge === null) {
    const asked = await hands.launchJudge(position);
    if (asked) return { at: { ...position, ...asked } };
  }
  if (position.gate === null) return { at: { ...position, gate: await hands.launchGate(position) } };
  const { report, message, id } = await hands.gateEnd(position.gate);
  if (!report) return failed('nogo', `the gate ${id} came to no verdict: ${message}`);
  if (report.verdict === 'STOP') return ended(report.reason ?? 'stopped', report.detail);
  if (report.verdict === 'GO') {
    if (report.unanswered.length > 0)
      return failed(
        'nogo',
        `nobody answered these questions, and without an answer there is no GO: ${report.unanswered.join(', ')}`,
      );
    return { at: { ...position, step: 'pace' } };
  }
  const words = report.fixes.map(({ check, what }) => `${check}: ${what}`).join('; ');
  const mine = report.fixes.filter(({ owner }) => owner === 'developer');
  const isForOthers = report.fixes.some(({ owner }) => owner === 'human');
  if (mine.length === 0 || isForOthers || position.job === null)
    return failed('nogo', `the gate says NO-GO, and no agent can mend it: ${words || report.failed_checks.join(', ')}`);
  return deficient(position, mine);
}

async function pace(position: Position, part: LoopPart, hands: Hands): Promise<Next> {
  const done = position.done + 1;
  if (part.once)
    return { over: { end: 'done', error: null, detail: `one iteration, as asked: milestone ${position.milestone}` } };
  if (part.every_ms !== null) await hands.sleepUntil(position.startedMs + part.every_ms);
  return { at: { ...firstPosition, iteration: position.iteration, startedMs: position.startedMs, done } };
}

function ended(reason: StopReason, detail: string): Next {
  if (reason === 'finished') return { over: { end: 'done', error: null, detail: detail || 'all milestones are done' } };
  if (reason === 'declared' || reason === 'stopped')
    return { over: { end: 'stopped', error: null, detail: `${reason}: ${detail}` } };
  return failed(reason, detail);
}

function failed(code: JobError['code'], message: string): Next {
  return { over: { end: 'failed', error: { code, message }, detail: message } };
}
