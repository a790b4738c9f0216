// The rows of `status`: every live job, whoever started it, and the most recent finished ones. Costs O(live + shown).

import { compareIds } from '../core/ids.ts';
import type { Kind, Spec } from '../core/job.ts';
import { exists } from '../platform/folders.ts';
import { listActive, listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { readSpec } from '../store/records.ts';
import { refresh } from './reconcile.ts';
import { inspect, isEnded, type View } from './view.ts';

/** Whose, and of which kinds; null: all. */
export interface Choice {
  owner: string | null;
  kinds: readonly Kind[] | null;
  /** Goes before `owner`. */
  isMine?: (spec: Spec) => boolean;
}

export async function listViews(root: string, options: Choice & { recent: number }): Promise<View[]> {
  const live = listActive(root).filter((id) => exists(jobPaths(root, id).folder));
  const views: View[] = [];
  for (const id of live) views.push(...(await tryView(root, id)));
  let left = options.recent;
  const isLive = new Set(live);
  for (const id of left === 0 ? [] : listJobs(root)) {
    if (left === 0) break;
    if (isLive.has(id) || !mayBeChosen(root, id, options)) continue;
    const [view] = await tryView(root, id);
    if (!view || !isChosen(view.spec, options)) continue;
    views.push(view);
    left -= 1;
  }
  return views.filter((view) => isChosen(view.spec, options)).sort(byLife);
}

/** Finished ones that a table of all would show. */
export function countEnded(root: string, choice: Choice): number {
  const live = new Set(listActive(root));
  return listJobs(root).filter((id) => !live.has(id) && mayBeChosen(root, id, choice)).length;
}

/** By one small file, so that a search through many jobs of others costs little. */
function mayBeChosen(root: string, id: string, choice: Choice): boolean {
  if (choice.owner === null && choice.kinds === null) return true;
  const spec = readSpec(jobPaths(root, id));
  return spec.kind === 'ok' && isChosen(spec.value, choice);
}

export function isChosen(spec: Spec | null, { owner, kinds, isMine }: Choice): boolean {
  const isWanted = isMine && spec !== null ? isMine(spec) : isOwnedBy(spec, owner);
  return isWanted && (kinds === null || (spec !== null && kinds.includes(spec.kind)));
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
