// What kinds that ask over a network have in common.
import { usageError } from '../core/errors.ts';
import type { Place, Tools } from './watch.ts';

/** A little less than what is left of the attempt, so that the kind can still say what did not answer. */
export function timeOf(tools: Tools): number {
  const left = tools.leftMs();
  return Math.max(1, Math.floor(left - Math.min(100, left / 20)));
}

/** What changes is measured by the first look, and one look has none before it. */
export function requireBaseline(place: Place): void {
  if (!place.isOnce) return;
  throw usageError(
    'cannot take --changed with --once: a single look has nothing to compare with; give --for D instead',
  );
}
