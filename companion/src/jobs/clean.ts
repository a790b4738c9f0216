// Removing old records. Never a live, awaited or uncollected job, nor one that a live job descends from; once-keys outlive their
// jobs. A folder is renamed away before it is deleted, so no reader meets half of one.
import path from 'node:path';
import { isId } from '../core/ids.ts';
import { startLimitMs } from '../core/limits.ts';
import { nowMs } from '../platform/clock.ts';
import { factsOf, listNames, moveFolder, removeTree } from '../platform/folders.ts';
import { jobsFolder, listActive, listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { readSpec } from '../store/records.ts';
import { isCollected } from './collected.ts';
import { refresh } from './reconcile.ts';
import { isEnded } from './view.ts';
import { isAwaited } from './waiters.ts';

export interface CleanPlan {
  remove: string[];
  keep: { id: string; why: string }[];
  /** Left-overs of launches and cleanings that died half-way. */
  debris: string[];
}

export async function planClean(
  root: string,
  options: { olderThanMs: number; keep: number; includeUncollected: boolean },
): Promise<CleanPlan> {
  const plan: CleanPlan = { remove: [], keep: [], debris: findDebris(root) };
  const ancestors = ancestorsOfLive(root);
  let finished = 0;
  for (const id of listJobs(root)) {
    const view = await refresh(root, id);
    const why = !isEnded(view.state)
      ? 'it is live'
      : view.damage !== null
        ? `its record is damaged (${view.damage})`
        : isAwaited(root, id)
          ? 'somebody waits for it'
          : ancestors.has(id)
            ? 'a live job descends from it'
            : !isCollected(view) && !options.includeUncollected
              ? 'nobody has collected its result'
              : undefined;
    if (isEnded(view.state)) finished += 1;
    const ageMs = nowMs() - Date.parse(view.state.ended_at ?? view.state.created_at);
    const isDue = ageMs >= options.olderThanMs && finished > options.keep;
    if (why !== undefined) plan.keep.push({ id, why });
    else if (isDue) plan.remove.push(id);
  }
  return plan;
}

export function removeJobs(root: string, ids: readonly string[]): string[] {
  const removed: string[] = [];
  for (const id of ids) {
    const gone = path.join(jobsFolder(root), `.gone-${id}`);
    if (!moveFolder(jobPaths(root, id).folder, gone)) continue;
    removeTree(gone);
    removeTree(jobPaths(root, id).marker);
    removed.push(id);
  }
  return removed;
}

export function removeDebris(paths: readonly string[]): void {
  for (const target of paths) removeTree(target);
}

function findDebris(root: string): string[] {
  const folder = jobsFolder(root);
  const half = listNames(folder).filter((name) => /^\.(?:new|gone)-/.test(name) && isOld(path.join(folder, name)));
  const markers = listActive(root).filter(
    (id) => !factsOf(jobPaths(root, id).folder) && isOld(jobPaths(root, id).marker),
  );
  return [...half.map((name) => path.join(folder, name)), ...markers.map((id) => jobPaths(root, id).marker)];
}

function isOld(target: string): boolean {
  const facts = factsOf(target);
  return facts !== undefined && nowMs() - facts.modifiedMs > 6 * startLimitMs;
}

function ancestorsOfLive(root: string): Set<string> {
  const result = new Set<string>();
  for (const id of listActive(root)) {
    for (let at: string | undefined = id; at !== undefined && isId(at); ) {
      const spec = readSpec(jobPaths(root, at));
      at = spec.kind === 'ok' ? spec.value.lineage?.parent : undefined;
      if (at === undefined || result.has(at)) break;
      result.add(at);
    }
  }
  return result;
}
