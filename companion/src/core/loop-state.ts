// The form of `.loop/state.json`: strict in what it must hold, because a repository may bring it along; unknown fields are kept.
import * as z from 'zod/mini';
import { loopLimits } from './limits-loop.ts';
import { type LoopState, milestoneStatuses, stopReasons, verdicts } from './loop.ts';

const line = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
export const milestoneId = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/));
const text = z.string().check(z.maxLength(loopLimits.textChars));

export const milestoneForm = z.looseObject({
  id: milestoneId,
  title: line(200),
  acceptance: z.union([text, z.array(text).check(z.maxLength(50))]),
  status: z.enum(milestoneStatuses),
  risk: z.optional(z.enum(['standard', 'risky'])),
});

export const verifyForm = z.looseObject({
  name: line(100),
  cmd: line(loopLimits.textChars),
  timeout_s: z.int().check(z.minimum(1), z.maximum(loopLimits.verifySeconds.max)),
});

const commit = z.string().check(z.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/));
const count = z.int().check(z.minimum(0), z.maximum(1_000_000));

export const stateForm = z.looseObject({
  schema: z.literal(1),
  rev: count,
  goal: line(loopLimits.textChars),
  milestones: z.array(milestoneForm).check(z.maxLength(loopLimits.milestones)),
  iteration: count,
  stop_conditions: z.array(line(loopLimits.textChars)).check(z.maxLength(50)),
  budget: z.looseObject({ iterations_max: z.nullable(count), notes: text }),
  updated: z.string(),
  verify: z.array(verifyForm).check(z.maxLength(50)),
  remediation_rounds: count,
  failure_fingerprints: z.array(line(100)).check(z.maxLength(20)),
  current: z.nullable(
    z.looseObject({
      milestone: milestoneId,
      owner: z.nullable(z.string()),
      started: z.string(),
      base: z.nullable(commit),
      job: z.optional(z.string()),
    }),
  ),
  since: z.nullable(z.string()),
  last: z.optional(milestoneId),
  last_iteration: z.optional(count),
  fixed: z.optional(z.string()),
  stopped: z.nullable(z.looseObject({ reason: z.enum(stopReasons), detail: text, at: z.string() })),
  boundary: z.nullable(commit),
  gate: z.nullable(
    z.looseObject({ verdict: z.enum(verdicts), iteration: count, at: z.string(), job: z.nullable(z.string()) }),
  ),
  hash: z.string(),
});

/** The state, or what is wrong with it: one sentence for each fault, with the field. */
export function parseLoopState(value: unknown): { ok: true; state: LoopState } | { ok: false; faults: string[] } {
  const read = stateForm.safeParse(value);
  if (!read.success) {
    const faults = read.error.issues.map(
      ({ path, message }) => `${path.map(String).join('.') || 'the document'}: ${message}`,
    );
    return { ok: false, faults: faults.slice(0, 10) };
  }
  const state = read.data as unknown as LoopState;
  const ids = state.milestones.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) return { ok: false, faults: [`milestones: two have the id ${twice}`] };
  return { ok: true, state };
}
