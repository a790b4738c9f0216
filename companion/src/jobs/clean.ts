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
import { freeWorktree, type WorktreeToGo, workIn, worktreesOf } from './clean-worktree.ts';
import { isCollected } from './collected.ts';
import { refresh } from './reconcile.ts';
import { isEnded } from './view.ts';
import { isAwaited } from './waiters.ts';

export interface Kept {
  id: string;
  why: string;
}

export interface CleanPlan {
  remove: string[];
  keep: Kept[];
  /** What goes with them beside the records. */
  worktrees: WorktreeToGo[];
  /** Left-overs of launches and cleanings that died half-way. */
  debris: string[];
}

export async function planClean(
  root: string,
  options: { olderThanMs: number; keep: number; includeUncollected: boolean },
): Promise<CleanPlan> {
  const plan: CleanPlan = { remove: [], keep: [], worktrees: [], debris: findDebris(root) };
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
    const work = why === undefined && isDue ? await workIn(view.spec) : undefined;
    if (why !== undefined || work !== undefined) plan.keep.push({ id, why: why ?? (work as string) });
    else if (isDue) plan.remove.push(id);
  }
  plan.worktrees = await worktreesOf(root, plan.remove);
  return plan;
}

/** Records, and with the last record that names it a linked worktree that holds no work. `kept`: what must stay after all. */
export async function removeJobs(
  root: string,
  ids: readonly string[],
): Promise<{ removed: string[]; kept: Kept[]; worktrees: WorktreeToGo[] }> {
  const [removed, kept]: [string[], Kept[]] = [[], []];
  const planned = await worktreesOf(root, ids);
  for (const id of ids) {
    const spec = readSpec(jobPaths(root, id));
    const why = spec.kind === 'ok' ? await freeWorktree(root, spec.value) : undefined;
    if (why !== undefined) kept.push({ id, why });
    if (why !== undefined) continue;
    const gone = path.join(jobsFolder(root), `.gone-${id}`);
    if (!moveFolder(jobPaths(root, id).folder, gone)) continue;
    removeTree(gone);
    removeTree(jobPaths(root, id).marker);
    removed.push(id);
  }
  return { removed, kept, worktrees: planned.filter((one) => removed.includes(one.id)) };
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
  const open = listActive(root);
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const spec = readSpec(jobPaths(root, at));
    if (spec.kind !== 'ok') continue;
    // Whose it is says the job that started it (jobs/whose.ts).
    for (const above of [spec.value.lineage?.parent, spec.value.owner]) {
      if (!above || !isId(above) || result.has(above)) continue;
      result.add(above);
      open.push(above);
    }
  }
  return result;
}
