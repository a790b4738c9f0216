// What this job alone cost, when the agent's numbers run on over its conversation (contract 9; which ones do is a fact of the backend).
import type { TokenUsage } from '../core/job.ts';

/**
 * `usage` of this job and `usage_total` as told. A resumed conversation whose earlier total is not known gives null: the part of
 * this job cannot be told. Numbers that went down did not run on after all.
 */
export function usageOf(
  told: TokenUsage | null,
  runsOn: { tokens: boolean; cost: boolean },
  resumed: { earlier: TokenUsage | null } | null,
): { usage: TokenUsage | null; usage_total: TokenUsage | null } {
  if (told === null || (!runsOn.tokens && !runsOn.cost)) return { usage: told, usage_total: null };
  if (resumed === null) return { usage: told, usage_total: told };
  const { earlier } = resumed;
  if (earlier === null) return { usage: runsOn.tokens ? null : withoutCost(told), usage_total: told };
  const less = (now: number, before: number): number => (now >= before ? now - before : now);
  const usage: TokenUsage = { ...told };
  if (runsOn.tokens) {
    usage.input_tokens = less(told.input_tokens, earlier.input_tokens);
    usage.output_tokens = less(told.output_tokens, earlier.output_tokens);
    usage.total_tokens = less(told.total_tokens, earlier.total_tokens);
  }
  if (runsOn.cost && told.cost_usd !== undefined) usage.cost_usd = rounded(less(told.cost_usd, earlier.cost_usd ?? 0));
  return { usage, usage_total: told };
}

function withoutCost({ cost_usd: _cost, ...tokens }: TokenUsage): TokenUsage {
  return tokens;
}

/** Differences of decimal fractions: no more digits than money needs (a millionth of a dollar). */
function rounded(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6;
}
