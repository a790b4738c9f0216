// The one verdict on a boundary: GO, NO-GO or STOP, with evidence for each check. Writes nothing; counting is done by whoever asked (count.ts).
import { excerpt, plainText } from '../core/excerpt.ts';
import { loopLimits } from '../core/limits-loop.ts';
import type { CheckResult, Fix, GateReport, LoopState, StopReason } from '../core/loop.ts';
import type { Environment } from '../platform/env.ts';
import { hashOf } from '../store/mac.ts';
import type { Seen } from './checks/check.ts';
import { checks } from './checks/registry.ts';
import { nextMilestone, readLoop } from './files.ts';
import { openLoopGit } from './git.ts';
import type { LoopPlace } from './place.ts';
import { isTrusted } from './trust.ts';

export type Answers = Readonly<Record<string, { holds: boolean; why: string }>>;

export interface Asked {
  /** Are the commands of the state run? Only where this user trusts them; else E2 fails. */
  runCommands: boolean;
  environment: Environment;
  answers?: Answers | null;
  signal?: AbortSignal | undefined;
  /** Jobs that do not count as live: the gate itself, and the loop above it. */
  exclude?: readonly string[];
  /** The gate that asks. One whose worker was killed after it had counted is judged as it was before that. */
  gate?: string;
  passed?: ReadonlySet<string>;
  onPassed?: (cmd: string) => void;
}

export async function evaluate(place: LoopPlace, asked: Asked): Promise<GateReport> {
  const read = readLoop(place);
  const state = read.kind === 'ok' ? read.state : null;
  // On the very state whose commands would be run: it may be another one than the launcher saw.
  const isTrustedHere = state === null || isTrusted(place, state);
  const isCounted = asked.gate !== undefined && state?.gate?.job === asked.gate && state.gate.verdict === 'NO-GO';
  const seen: Seen = {
    ...{ place, read, state, git: openLoopGit(place), environment: asked.environment },
    ...{ runCommands: asked.runCommands && isTrustedHere, isRefused: asked.runCommands && !isTrustedHere },
    ...{ signal: asked.signal, exclude: asked.exclude ?? [], passed: asked.passed ?? new Set(), met: [] },
    onPassed: asked.onPassed ?? (() => undefined),
  };
  const results: CheckResult[] = [];
  for (const { id, title, run } of checks) {
    const answer = await run(seen);
    const questions = (answer.questions ?? []).map((one) => ({
      ...one,
      question: excerpt(plainText(one.question), 1000),
    }));
    results.push(judged({ id, title, fixes: [], ...answer, questions }, asked.answers ?? {}));
  }
  // The checks see the state as it lies there; only the limits are told the round that was counted for this very gate.
  const before = state && isCounted ? { ...state, remediation_rounds: state.remediation_rounds - 1 } : state;
  return reportOf(before, results, seen.met, asked.answers ?? {});
}

/** A judge's "no" fails the check that asked; of a stop condition it means that it is met. */
function judged(result: CheckResult, answers: Answers): CheckResult {
  const refused = result.questions.filter(({ id, check }) => check !== 'E7' && answers[id]?.holds === false);
  if (refused.length === 0) return result;
  const fixes = refused.map(({ id, question }) => ({
    check: result.id,
    owner: 'developer' as const,
    key: id,
    what: `${question} No: ${answers[id]?.why ?? ''}`.slice(0, 240),
  }));
  return {
    ...result,
    result: 'fail',
    fixes: [...result.fixes, ...fixes],
    evidence: [...result.evidence, ...fixes.map(({ what }) => what)].slice(0, 10),
  };
}

function reportOf(state: LoopState | null, results: CheckResult[], met: Seen['met'], answers: Answers): GateReport {
  const failed = results.filter(({ result }) => result === 'fail');
  const questions = results.flatMap((result) => result.questions);
  const words = questions.filter(({ id, check }) => check === 'E7' && answers[id]?.holds === false);
  const fixes = failed.flatMap((result) => result.fixes);
  const base = {
    iteration: state?.iteration ?? 0,
    milestone: (state && nextMilestone(state)?.id) ?? null,
    checks: results,
    failed_checks: failed.map(({ id }) => id),
    ...{ fixes, questions },
    unanswered: questions.filter(({ id }) => answers[id] === undefined).map(({ id }) => id),
    remediation_rounds: state?.remediation_rounds ?? 0,
    fingerprint: failed.length === 0 ? null : fingerprintOf(fixes),
  };
  const declared = [...met.map(({ condition }) => condition), ...words.map(({ question }) => question)];
  const stop = state && stopOf(state, failed.length > 0, declared, base.fingerprint);
  if (stop) return { verdict: 'STOP', ...stop, ...base };
  if (failed.length > 0) return { verdict: 'NO-GO', reason: null, detail: fixes[0]?.what ?? '', ...base };
  return {
    verdict: 'GO',
    reason: null,
    detail: base.milestone === null ? '' : `go on with ${base.milestone}`,
    ...base,
  };
}

/** In this order: what the user wants, what was reached, what was used up. A NO-GO is counted here as if it were the next one. */
function stopOf(
  state: LoopState,
  isBad: boolean,
  declared: readonly string[],
  fingerprint: string | null,
): { reason: StopReason; detail: string } | null {
  if (state.stopped && state.stopped.reason !== 'finished')
    return { reason: state.stopped.reason, detail: state.stopped.detail };
  if (declared.length > 0) return { reason: 'declared', detail: declared.join('; ').slice(0, 500) };
  const isDone = state.milestones.length > 0 && state.milestones.every(({ status }) => status === 'done');
  if (isDone && !isBad) return { reason: 'finished', detail: `all ${state.milestones.length} milestones are done` };
  if (isBad && fingerprint !== null) {
    const { sameFailures, remediationRounds } = loopLimits;
    if (running(state, fingerprint) + 1 >= sameFailures)
      return { reason: 'repeated_failure', detail: `the same failure in ${sameFailures} iterations running` };
    if (state.remediation_rounds >= remediationRounds)
      return {
        reason: 'remediation_exhausted',
        detail: `NO-GO for the ${remediationRounds + 1}rd time in iteration ${state.iteration}`,
      };
  }
  const { iterations_max: most } = state.budget;
  if (!isDone && most !== null && state.iteration >= most)
    return { reason: 'iterations_exhausted', detail: `${state.iteration} of ${most} iterations are used up` };
  return null;
}

/** In how many iterations directly before this one the gate failed in the same way. */
function running(state: LoopState, fingerprint: string): number {
  let count = 0;
  for (let iteration = state.iteration - 1; iteration >= 0; iteration -= 1) {
    if (!state.failure_fingerprints.includes(`${iteration}:${fingerprint}`)) break;
    count += 1;
  }
  return count;
}

/** What failed: the stable words of each fix, or all of it without the numbers that differ from time to time. */
function fingerprintOf(fixes: readonly Fix[]): string {
  const words = fixes.map(({ check, key, what }) => `${check} ${key ?? what.replaceAll(/\d+/g, '#')}`);
  return hashOf([...new Set(words)].sort().join('\n')).slice(0, 12);
}
