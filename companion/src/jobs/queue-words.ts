// Where a job stands in its queue, in words.
import type { QueueSeen } from './parts-seen.ts';

/** `place 3, behind run-...; 4 at work, at most 4 at a time`. */
export function queueWords({ place, live, max_live, behind }: QueueSeen): string {
  const limit = `at most ${max_live} at a time`;
  if (place === null) return `place not known yet, ${limit}`;
  const after = behind.length === 0 ? '' : `, behind ${behind.join(', ')}`;
  return `place ${place}${after}; ${live ?? 0} at work, ${limit}`;
}
