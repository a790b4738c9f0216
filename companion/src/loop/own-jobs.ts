// The jobs of a loop: started with `--milestone`, or by its loop job. Told in the journal; one that lives or failed is no boundary.
import type { JobState, Spec } from '../core/job.ts';
import { isEnded } from '../jobs/view.ts';
import { realPath } from '../platform/folders.ts';
import { listActive, listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { readSpec, readState } from '../store/records.ts';
import type { LoopPlace } from './place.ts';

export interface LoopJob {
  spec: Spec;
  /** Null: nothing is told of it yet, or its record is damaged. */
  state: JobState | null;
}

/** Of the ended ones the newest so many are looked at. */
const most = 2000;

/** Of this loop, oldest first: all that live, and those that were made since an instant (ISO; null: all). A gate or a loop job is none of them. */
export function loopJobs(place: LoopPlace, since: string | null): LoopJob[] {
  const { folder } = place.root;
  const worktree = realPath(place.worktree);
  const live = new Set(listActive(folder));
  const ids = listJobs(folder);
  const found: LoopJob[] = [];
  for (const id of [...ids.filter((one) => live.has(one)), ...ids.filter((one) => !live.has(one)).slice(0, most)]) {
    const paths = jobPaths(folder, id);
    const spec = readSpec(paths);
    if (spec.kind !== 'ok' || typeof spec.value.milestone !== 'string' || !isIn(worktree, spec.value)) continue;
    const read = readState(paths);
    const state = read.kind === 'ok' ? read.value : null;
    const isOld = since !== null && Date.parse(spec.value.created_at) < Date.parse(since);
    // One that lives is never too old: it has to end before the loop does.
    if (!isOld || !state || !isEnded(state)) found.push({ spec: spec.value, state });
  }
  return found.sort((a, b) => (a.spec.created_at < b.spec.created_at ? -1 : 1));
}

/** Several worktrees may share a state folder. A job in a tree of its own belongs to the one that it was made from. */
function isIn(worktree: string, { cwd, worktree: own }: Spec): boolean {
  const folder = own?.from ?? cwd;
  return folder === worktree || folder.startsWith(`${worktree}/`);
}
