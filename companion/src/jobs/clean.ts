// Removing old records. Never a live, awaited or uncollected job, nor one that a live job descends from; once-keys outlive their
// jobs. A folder is renamed away before it is deleted, so no reader meets half of one.
import path from 'node:path';
import { isId } from '../core/ids.ts';
import type { Spec } from '../core/job.ts';
import { startLimitMs } from '../core/limits.ts';
import { nowMs } from '../platform/clock.ts';
import { factsOf, listNames, moveFolder, removeTree } from '../platform/folders.ts';
import { jobsFolder, listActive, listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { readSpec } from '../store/records.ts';
import { isCollected } from './collected.ts';
import { refresh } from './reconcile.ts';
import { isEnded } from './view.ts';
import { isAwaited } from './waiters.ts';
import { removeWorktree, worktreeWork } from './worktree.ts';

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
    const work = why === undefined && isDue ? await workIn(view.spec) : undefined;
    if (why !== undefined || work !== undefined) plan.keep.push({ id, why: why ?? (work as string) });
    else if (isDue) plan.remove.push(id);
  }
  return plan;
}

/** Records, and with the last record that names it a linked worktree that holds no work. */
export async function removeJobs(root: string, ids: readonly string[]): Promise<string[]> {
  const removed: string[] = [];
  for (const id of ids) {
    const spec = readSpec(jobPaths(root, id));
    if (spec.kind === 'ok' && !(await freeWorktree(root, spec.value))) continue;
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

/** Why the worktree of a job must stay; undefined when it may go or is none. */
async function workIn(spec: Spec | null): Promise<string | undefined> {
  if (!spec?.worktree || !(await isGenuine(spec, readKey()))) return undefined;
  const { path: folder } = spec.worktree;
  const work = worktreeWork(spec.worktree);
  if (work.isGone) return undefined;
  if (work.uncommitted > 0) return `its worktree ${folder} holds ${work.uncommitted} uncommitted change(s)`;
  if (work.commits > 0 && !work.isMerged) return `its worktree ${folder} holds ${work.commits} unmerged commit(s)`;
  return undefined;
}

/** False when it must stay after all. A record that somebody else wrote removes no worktree. */
async function freeWorktree(root: string, spec: Spec): Promise<boolean> {
  const { worktree } = spec;
  if (!worktree || !(await isGenuine(spec, readKey())) || isNamedByAnother(root, spec.id, worktree.path)) return true;
  if ((await workIn(spec)) !== undefined) return false;
  // Git may have a reason of its own to refuse (locked, in use): then the record stays too.
  return removeWorktree(worktree);
}

function isNamedByAnother(root: string, own: string, folder: string): boolean {
  return listJobs(root).some((id) => {
    const spec = id === own ? undefined : readSpec(jobPaths(root, id));
    return spec?.kind === 'ok' && spec.value.worktree?.path === folder;
  });
}
