// Is a run past what its caller expected of it (`--expect`)? It is told, and nothing else comes of it.
import { formatDuration } from '../core/duration.ts';
import { ageOf } from '../core/recorded-time.ts';
import { nowMs } from '../platform/clock.ts';
import { isEnded, type View } from './view.ts';

/** In words; null when it is not, or nothing was expected. */
export function pastExpectation({ spec, state }: Pick<View, 'spec' | 'state'>): string | null {
  const ran = ageOf(state.started_at, nowMs());
  const expected = spec?.run?.expect_ms;
  if (ran === null || typeof expected !== 'number' || ran <= expected || isEnded(state)) return null;
  return `expected to take ${formatDuration(expected)}, runs for ${formatDuration(whole(ran))}`;
}

function whole(ms: number): number {
  return ms < 1000 ? ms : Math.floor(ms / 1000) * 1000;
}
