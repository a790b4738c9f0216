// Is there a reason to end the job now? Asked every second, and at once when `cancel` wakes the worker. The hard limit has a clock
// of its own (supervise.ts).
import { lingerMs } from '../core/limits.ts';
import type { EndReason } from '../core/outcome.ts';
import { monotonicMs } from '../platform/clock.ts';
import { exists } from '../platform/folders.ts';
import { readCancel } from '../store/records.ts';
import type { Agent } from './agent.ts';
import type { Claim } from './claim.ts';
import type { Follower } from './follow.ts';

export interface Due {
  reason: EndReason;
  /** What was seen. */
  detail?: string;
}

/** `stalled` is what judging.ts saw of a run; an agent is stalled when it prints nothing. */
export function makeDueLook(
  claim: Claim,
  follower: Follower,
  agent: Agent | undefined,
  stalled: () => string | undefined,
): () => Due | undefined {
  const { paths, spec } = claim;
  const begun = monotonicMs();
  let completeSince: number | undefined;
  return () => {
    if (!exists(paths.folder)) return { reason: 'state_vanished' };
    if (readCancel(paths)) return { reason: 'canceled' };
    const now = monotonicMs();
    const lastOutput = follower.lastOutputMono;
    if (spec.first_output_ms !== null && lastOutput === null && now - begun > spec.first_output_ms)
      return { reason: 'first_output_timeout' };
    if (spec.staff && spec.stall_ms !== null && now - (lastOutput ?? begun) > spec.stall_ms)
      return { reason: 'stalled' };
    const detail = stalled();
    if (detail !== undefined) return { reason: 'stalled', detail };
    if (agent?.reading.waitsForSignIn) return { reason: 'sign_in' };
    // One process may take several turns: a new one takes the final event back.
    completeSince = agent?.reading.final ? (completeSince ?? now) : undefined;
    return completeSince !== undefined && now - completeSince > lingerMs ? { reason: 'lingered' } : undefined;
  };
}
