// When the hard limit of a job is reached. It counts awake time on the monotonic clock of the boot in which the job was launched; a job
// that outlives a restart (a watch) goes on by the wall clock.
import type { Spec } from '../core/job.ts';
import { monotonicMs, nowMs } from '../platform/clock.ts';
import { bootId } from '../platform/identity.ts';

/** The limit on this boot's monotonic clock, in ms. */
export function boundOf(spec: Spec): number {
  if (spec.launcher.boot_id === bootId()) return spec.deadline_mono_ms;
  return monotonicMs() + Date.parse(spec.created_at) + spec.deadline_ms - nowMs();
}

export function isPastBound(spec: Spec): boolean {
  return monotonicMs() >= boundOf(spec);
}
