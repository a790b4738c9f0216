// One fetch for every watch of a state folder that wants the same, its failure included.
import { FaultError } from '../../core/errors.ts';
import { ghFreshShare, ghLimitedMs } from '../../core/limits.ts';
import type { Shareable, Tools } from '../watch.ts';
import type { Failure } from './failures.ts';

/** A shared rate limit stands for all until it is over; a fault is the asker's own (its login, its PATH); another trouble heals by asking again. */
type Held<T> = (T | (Failure & { untilMs?: number })) & Shareable;

/** `isFresh`: only what is asked from now on will do, because a push a moment ago must not be judged by its old head. */
export async function shareGh<T extends object>(
  tools: Tools,
  key: string,
  isFresh: boolean,
  ask: () => Promise<T | Failure>,
): Promise<T | Failure> {
  const maxAgeMs = isFresh ? 0 : (tools.everyMs ?? 0) * ghFreshShare;
  const held = async (): Promise<Held<T>> => {
    const found = await ask();
    if (!isFailure(found)) return found;
    if (found.kind === 'fault') return { ...found, holdMs: 0 };
    if (found.cause !== 'rate_limit') return { ...found, holdMs: 1000 };
    const waitMs = found.retryAfterMs || ghLimitedMs;
    return { ...found, holdMs: waitMs, untilMs: tools.nowMs() + waitMs };
  };
  try {
    const found = await tools.shared<Held<T>>(`gh ${key}`, maxAgeMs, held);
    if (!isFailure(found)) return found;
    const { holdMs: _hold, untilMs, ...failure } = found as Failure & Shareable & { untilMs?: number };
    if (failure.kind === 'fault' || untilMs === undefined) return failure;
    return { ...failure, retryAfterMs: Math.max(0, untilMs - tools.nowMs()) };
  } catch (error) {
    if (!(error instanceof FaultError) || error.code !== 'busy') throw error;
    return {
      kind: 'trouble',
      cause: 'timeout',
      message: 'another watch still asks GitHub for this',
      retryAfterMs: null,
    };
  }
}

export function isFailure(found: object): found is Failure {
  return 'kind' in found && (found.kind === 'trouble' || found.kind === 'fault');
}
