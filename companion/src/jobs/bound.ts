// When the hard limit of a job is reached. It counts awake time on the monotonic clock of the boot in which the job was launched, or had
// its turn, when it was queued; a job that outlives a restart (a watch) goes on by the wall clock.
import type { RunPart, Spec, Turn } from '../core/job.ts';
import { monotonicMs, nowMs } from '../platform/clock.ts';
import { bootId } from '../platform/identity.ts';
import { hasQueue } from '../store/turn.ts';

/** The limit on this boot's monotonic clock, in ms; without an end while the job waits for its turn. */
export function boundOf(spec: Spec, turn: Turn | null): number {
  if (!turn && hasQueue(spec)) return Number.POSITIVE_INFINITY;
  const bootThen = turn?.boot_id ?? spec.launcher.boot_id;
  if (bootThen === bootId()) return turn ? turn.mono_ms + spec.deadline_ms : spec.deadline_mono_ms;
  return monotonicMs() + Date.parse(turn?.at ?? spec.created_at) + spec.deadline_ms - nowMs();
}

export function isPastBound(spec: Spec, turn: Turn | null): boolean {
  return monotonicMs() >= boundOf(spec, turn);
}

/** The same on the wall clock, in ms. */
export function wallBoundOf(spec: Spec, turn: Turn | null): number {
  if (!turn && hasQueue(spec)) return Number.POSITIVE_INFINITY;
  return Date.parse(turn?.at ?? spec.created_at) + spec.deadline_ms;
}

/** The request as it counts from the turn on: the limit, and the files that are to be new or changed. */
export function specAtTurn(spec: Spec, turn: Turn | null): Spec {
  if (!turn) return spec;
  const run = spec.run ? { ...spec.run, ...(turn.files as Partial<RunPart>) } : null;
  return { ...spec, run, deadline_mono_ms: boundOf(spec, turn) };
}
