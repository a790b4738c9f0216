// The rows of `status`: every live job, whoever started it, and the most recent finished ones. Costs O(live + shown).

import { compareIds } from '../core/ids.ts';
import type { Spec } from '../core/job.ts';
import { exists } from '../platform/folders.ts';
import { listActive, listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { refresh } from './reconcile.ts';
import { inspect, isEnded, type View } from './view.ts';

export async function listViews(root: string, options: { recent: number; owner: string | null }): Promise<View[]> {
  const live = listActive(root).filter((id) => exists(jobPaths(root, id).folder));
  const views: View[] = [];
  for (const id of live) views.push(...(await tryView(root, id)));
  let left = options.recent;
  for (const id of listJobs(root)) {
    if (left === 0) break;
    if (live.includes(id)) continue;
    const [view] = await tryView(root, id);
    if (!view) continue;
    if (!isOwnedBy(view.spec, options.owner)) continue;
    views.push(view);
    left -= 1;
  }
  return views.filter((view) => isOwnedBy(view.spec, options.owner)).sort(byLife);
}

/** The live ones first, of each the newest first. */
export function byLife(a: View, b: View): number {
  return Number(isEnded(a.state)) - Number(isEnded(b.state)) || compareIds(b.id, a.id);
}

/** A job whose end cannot be stored, or that is being removed, must not hide the others. */
export async function tryView(root: string, id: string): Promise<View[]> {
  for (const how of [refresh, inspect]) {
    try {
      return [await how(root, id)];
    } catch {
      // The next way of looking, or none.
    }
  }
  return [];
}

export function isOwnedBy(spec: Spec | null, owner: string | null): boolean {
  return owner === null || spec?.owner === owner;
}
