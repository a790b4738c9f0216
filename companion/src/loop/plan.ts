// What the user plans: milestones, verify commands, stop conditions, budget. From the command line or from a JSON document; a plan changes
// only what is not done yet.
import { usageError } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import { loopLimits } from '../core/limits-loop.ts';
import type { LoopState, Milestone, VerifyCommand } from '../core/loop.ts';
import { parseLoopState } from '../core/loop-state.ts';
import { sealState } from './files.ts';

/** Each part is absent when it was not given. */
export interface Plan {
  milestones: Milestone[];
  drop: string[];
  verify: VerifyCommand[] | null;
  stopConditions: string[] | null;
  iterationsMax: number | null;
  budgetNotes: string | null;
  /** Some of its commands come from a file, which nobody may have looked at. */
  hasUnseen: boolean;
}

/** A day or an instant, ms; null for anything else (Date.parse takes `5` for a year long past). */
export function dateOf(text: string): number | null {
  const word = text.trim();
  const ms = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(word) ? Date.parse(word) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

export const planMilestone: Milestone = {
  id: 'plan',
  title: 'Write the plan of this loop',
  acceptance:
    'At least one further milestone with acceptance that a test can prove stands in the loop (added with: loop plan)',
  status: 'pending',
};

export function freshState(goal: string): LoopState {
  return {
    ...{ schema: 1, rev: 0, goal, milestones: [], iteration: 0, stop_conditions: [] },
    budget: { iterations_max: loopLimits.iterationsMax.default, notes: '' },
    ...{ updated: '', verify: [], remediation_rounds: 0, failure_fingerprints: [] },
    ...{ current: null, since: null, stopped: null, boundary: null, gate: null, hash: '' },
  };
}

/** The state with the plan in it. Throws 'usage' on what cannot be. */
export function withPlan(state: LoopState, plan: Plan): LoopState {
  const odd = plan.stopConditions?.find(
    (text) => /^\s*date:/.test(text) && dateOf(text.replace(/^\s*date:/, '')) === null,
  );
  if (odd !== undefined)
    throw usageError(
      `cannot take the stop condition ${JSON.stringify(plainText(odd))}: its form is date:YYYY-MM-DD, or with a time date:YYYY-MM-DDThh:mm:ssZ`,
    );
  const milestones = [...state.milestones];
  for (const id of plan.drop) {
    const at = milestones.findIndex((one) => one.id === id);
    requireOpen(milestones[at], id, state);
    milestones.splice(at, 1);
  }
  for (const given of plan.milestones) {
    const at = milestones.findIndex(({ id }) => id === given.id);
    if (at < 0) milestones.push(given);
    else {
      requireOpen(milestones[at], given.id, state);
      milestones[at] = { ...milestones[at], ...given };
    }
  }
  const budget = {
    ...state.budget,
    ...(plan.iterationsMax === null ? {} : { iterations_max: plan.iterationsMax }),
    ...(plan.budgetNotes === null ? {} : { notes: plan.budgetNotes }),
  };
  const isRaised =
    state.stopped?.reason === 'iterations_exhausted' && (budget.iterations_max ?? Infinity) > state.iteration;
  const next: LoopState = {
    ...state,
    milestones,
    budget,
    verify: plan.verify ?? state.verify,
    stop_conditions: plan.stopConditions ?? state.stop_conditions,
    stopped: isRaised || (state.stopped?.reason === 'finished' && plan.milestones.length > 0) ? null : state.stopped,
  };
  const read = parseLoopState(sealState(next));
  if (!read.ok) throw usageError(`cannot take this plan: ${plainText(read.faults.join('; '))}`);
  return next;
}

function requireOpen(found: Milestone | undefined, id: string, state: LoopState): void {
  if (!found) {
    const ids = state.milestones.map((one) => one.id).join(', ');
    throw usageError(`cannot drop milestone ${JSON.stringify(id)}: there is none; there are ${ids || 'none'}`);
  }
  if (found.status !== 'pending')
    throw usageError(`cannot change milestone ${id}: it is ${found.status}; only pending ones can be changed`);
}

/** `ID: TITLE` -> a pending milestone without acceptance yet. */
export function milestoneOf(text: string): Milestone {
  const [, id, title] = /^([^\s:]+):\s*(\S.*)$/s.exec(text.trim()) ?? [];
  if (id === undefined || title === undefined)
    throw usageError(`cannot take --milestone ${JSON.stringify(text)}: its form is "ID: TITLE"`);
  return { id, title: title.trim(), acceptance: [], status: 'pending' };
}

/** `NAME: CMD` or `CMD`. A name is letters, digits and dashes, so that a command with a colon stays one. */
export function verifyOf(text: string, seconds: number): VerifyCommand {
  const [, label, named] = /^([A-Za-z0-9_-]{1,40}):\s+(\S.*)$/s.exec(text.trim()) ?? [];
  const cmd = (named ?? text).trim();
  if (cmd === '') throw usageError('cannot take an empty --verify: give a command, or "NAME: COMMAND"');
  return { name: label ?? cmd.slice(0, 60), cmd, timeout_s: seconds };
}

/** `ID: TEXT`, for a milestone that is there or comes with this call. */
export function acceptanceFrom(
  texts: readonly string[],
  milestones: Milestone[],
  known: readonly Milestone[],
): Milestone[] {
  const out = [...milestones];
  const given = new Map<string, string[]>();
  for (const text of texts) {
    const [, id, what] = /^([^\s:]+):\s*(\S.*)$/s.exec(text.trim()) ?? [];
    if (id === undefined || what === undefined)
      throw usageError(`cannot take --acceptance ${JSON.stringify(text)}: its form is "ID: TEXT"`);
    given.set(id, [...(given.get(id) ?? []), what.trim()]);
  }
  for (const [id, acceptance] of given) patch(out, known, id, { acceptance }, '--acceptance');
  return out;
}

export function riskyFrom(ids: readonly string[], milestones: Milestone[], known: readonly Milestone[]): Milestone[] {
  const out = [...milestones];
  for (const id of ids) patch(out, known, id, { risk: 'risky' }, '--risky');
  return out;
}

function patch(
  out: Milestone[],
  known: readonly Milestone[],
  id: string,
  change: Partial<Milestone>,
  option: string,
): void {
  const at = out.findIndex((one) => one.id === id);
  const found = out[at] ?? known.find((one) => one.id === id);
  if (!found) throw usageError(`cannot take ${option} for ${JSON.stringify(id)}: there is no such milestone`);
  const next = { ...found, ...change };
  if (at < 0) out.push(next);
  else out[at] = next;
}

/** A JSON document with some of `milestones verify stop_conditions budget`, as in state.json; ids without a status are pending. */
export function planFrom(
  text: string,
): Pick<Plan, 'milestones' | 'verify' | 'stopConditions' | 'iterationsMax' | 'budgetNotes'> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`cannot read the plan: it is no JSON (${plainText(String(error)).slice(0, 120)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError('cannot read the plan: it is no JSON object with milestones, verify, stop_conditions or budget');
  const allowed = ['goal', 'milestones', 'verify', 'stop_conditions', 'budget'];
  const odd = Object.keys(value).find((key) => !allowed.includes(key));
  if (odd !== undefined)
    throw usageError(
      `cannot read the plan: it has ${JSON.stringify(plainText(odd))}; allowed are ${allowed.join(', ')}`,
    );
  const given = value as Record<string, unknown>;
  const milestones = list(given.milestones, 'milestones').map((one) => ({ acceptance: [], ...one, status: 'pending' }));
  const verify = list(given.verify, 'verify').map((one) => ({
    name: String(one.cmd ?? '').slice(0, 60),
    timeout_s: loopLimits.verifySeconds.default,
    ...one,
  }));
  const budget = (given.budget ?? {}) as { iterations_max?: unknown; notes?: unknown };
  const stopConditions = given.stop_conditions ?? null;
  // One check for all of it: as part of a state.
  const read = parseLoopState({
    ...sealState(freshState('x')),
    milestones,
    verify,
    stop_conditions: stopConditions ?? [],
    budget: { iterations_max: budget.iterations_max ?? null, notes: budget.notes ?? '' },
  });
  if (!read.ok) throw usageError(`cannot take the plan: ${plainText(read.faults.join('; '))}`);
  return {
    milestones: read.state.milestones,
    verify: given.verify === undefined ? null : read.state.verify,
    stopConditions: stopConditions === null ? null : read.state.stop_conditions,
    iterationsMax: read.state.budget.iterations_max,
    budgetNotes: budget.notes === undefined ? null : read.state.budget.notes,
  };
}

function list(value: unknown, what: string): Record<string, unknown>[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one)))
    return value as Record<string, unknown>[];
  throw usageError(`cannot take the plan: its ${what} is no list of objects`);
}
