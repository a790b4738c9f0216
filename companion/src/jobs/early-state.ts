// The state of a job that has not written one yet, and of one whose record cannot be used.
import { idTimeMs } from '../core/ids.ts';
import type { JobState, Spec } from '../core/job.ts';
import { isoOf } from '../platform/clock.ts';
import { hasQueue } from '../store/turn.ts';

/** Before the worker's first word: the launcher's spec is all there is. */
export function earlyState(id: string, spec: Spec | null): JobState {
  return {
    schema: 1,
    id,
    rev: 0,
    // Its worker says when its turn has come.
    state: spec && hasQueue(spec) ? 'queued' : 'starting',
    health: 'unknown',
    attention_kind: null,
    seq: 0,
    created_at: spec?.created_at ?? isoOf(idTimeMs(id)),
    started_at: null,
    ended_at: null,
    duration_ms: null,
    exit_code: null,
    signal: null,
    signal_certain: null,
    error: null,
    warnings: spec?.warnings ?? [],
    conversation: null,
    reconciled: false,
    output: null,
    usage: null,
  };
}

/** What a damaged record is to its caller: over, and not a success. Never written down. */
export function damagedState(id: string, damage: string): JobState {
  const error = { code: 'state_damaged' as const, message: `the record of this job cannot be used: ${damage}` };
  return { ...earlyState(id, null), state: 'failed', error };
}
