// A timer needs nobody while it is armed: its instant stands on disk, and whoever looks after that instant settles it. Only with a
// notifier somebody must be there when it is due.
import type { JobEvent } from '../core/events.ts';
import type { Spec } from '../core/job.ts';
import { writeFile, writeJson } from '../platform/files.ts';
import { earlyState } from './early-state.ts';

export function needsWorker(spec: Pick<Spec, 'kind' | 'notify'>): boolean {
  return spec.kind !== 'timer' || Boolean(spec.notify);
}

/** The first state of a timer, as its launcher writes it before the job is in its place. */
export function writeArmed(spec: Spec, folder: string): void {
  const { id, owner, created_at, timer } = spec;
  const event: JobEvent = { seq: 1, at: created_at, job: id, owner, type: 'armed', due_at: timer?.due_at };
  writeFile(`${folder}/events.ndjson`, `${JSON.stringify(event)}\n`, { sync: false });
  const state = { ...earlyState(id, spec), state: 'running' as const, seq: 1, rev: 1, started_at: created_at };
  writeJson(`${folder}/state.json`, state);
}
