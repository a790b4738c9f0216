// The jobs of a loop: started with `--milestone`, or by its loop job. Told in the journal; one that lives or failed is no boundary.
import type { JobState, Spec } from '../core/job.ts';
import { listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { readSpec, readState } from '../store/records.ts';
import type { LoopPlace } from './place.ts';

export interface LoopJob {
  spec: Spec;
  /** Null: nothing is told of it yet, or its record is damaged. */
  state: JobState | null;
}

const most = 2000;

/** Of this loop since an instant (ISO; null: all), oldest first. A gate or loop job is none of them. */
export function loopJobs(place: LoopPlace, since: string | null): LoopJob[] {
  const { folder } = place.root;
  const found: LoopJob[] = [];
  for (const id of listJobs(folder).slice(0, most)) {
    const paths = jobPaths(folder, id);
    const spec = readSpec(paths);
    if (spec.kind !== 'ok' || typeof spec.value.milestone !== 'string') continue;
    if (since !== null && Date.parse(spec.value.created_at) < Date.parse(since)) continue;
    const state = readState(paths);
    found.push({ spec: spec.value, state: state.kind === 'ok' ? state.value : null });
  }
  return found.reverse();
}
