// What `clean` may do with the worktree of a job: nothing as long as it holds work, or jobs of its own, or git refuses.
import type { Spec } from '../core/job.ts';
import { exists, isFolder } from '../platform/folders.ts';
import { listActive, listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { readSpec } from '../store/records.ts';
import { checkRoot, locateRoot } from '../store/root.ts';
import { isCollected } from './collected.ts';
import { refresh } from './reconcile.ts';
import { isEnded, type View } from './view.ts';
import { removeWorktree, worktreeWork } from './worktree.ts';

/** Why the worktree of a job must stay; undefined when it may go or is none. */
export async function workIn(spec: Spec | null): Promise<string | undefined> {
  if (!spec?.worktree || !(await isGenuine(spec, readKey()))) return undefined;
  const { path: folder, branch } = spec.worktree;
  const work = worktreeWork(spec.worktree);
  if (work.isGone)
    return work.isMerged
      ? undefined
      : `its worktree is gone, and its branch ${branch} holds ${work.commits} unmerged commit(s): merge it, or delete it with git branch -D`;
  if (work.uncommitted > 0) return `its worktree ${folder} holds ${work.uncommitted} uncommitted change(s)`;
  if (work.commits > 0 && !work.isMerged) return `its worktree ${folder} holds ${work.commits} unmerged commit(s)`;
  return jobsIn(folder);
}

/** An agent can start jobs of its own: their records lie in the worktree, where git does not see them. */
async function jobsIn(folder: string): Promise<string | undefined> {
  const { folder: root } = locateRoot({ cwd: folder });
  if (!root.startsWith(`${folder}/`) || !exists(root)) return undefined;
  try {
    if (!checkRoot(root)) return undefined;
    for (const id of new Set([...listActive(root), ...listJobs(root)])) {
      if (!exists(jobPaths(root, id).folder)) continue;
      const why = keeps(await refresh(root, id));
      if (why !== undefined) return `its worktree ${folder} has a job of its own, ${id}: ${why}`;
    }
    return undefined;
  } catch (error) {
    return `its worktree ${folder} has a state folder that cannot be read (${error instanceof Error ? error.message : 'error'})`;
  }
}

function keeps(view: View): string | undefined {
  if (view.damage !== null) return `its record is damaged (${view.damage})`;
  if (!isEnded(view.state)) return 'it is live';
  if (!isCollected(view)) return 'nobody has collected its result';
  const inner = view.spec?.worktree?.path;
  return inner !== undefined && isFolder(inner) ? `its worktree ${inner} is still there` : undefined;
}

/** Why it must stay after all; undefined when it is gone, or is not this job's alone. A record that somebody else wrote removes none. */
export async function freeWorktree(root: string, spec: Spec): Promise<string | undefined> {
  const { worktree } = spec;
  if (!worktree || !(await isGenuine(spec, readKey()))) return undefined;
  if (namers(root, worktree.path).some((id) => id !== spec.id)) return undefined;
  const why = await workIn(spec);
  if (why !== undefined) return why;
  return removeWorktree(worktree) ? undefined : `git refuses to remove its worktree ${worktree.path}`;
}

export interface WorktreeToGo {
  /** The last job that names it. */
  id: string;
  path: string;
  branch: string;
}

/** Which worktrees go with these jobs, in this order. */
export async function worktreesOf(root: string, ids: readonly string[]): Promise<WorktreeToGo[]> {
  const found = new Map<string, WorktreeToGo>();
  for (const id of ids) {
    const spec = readSpec(jobPaths(root, id));
    if (spec.kind !== 'ok' || !spec.value.worktree || !(await isGenuine(spec.value, readKey()))) continue;
    const { path, branch } = spec.value.worktree;
    if (namers(root, path).every((one) => ids.includes(one))) found.set(path, { id, path, branch });
  }
  return [...found.values()];
}

/** Jobs whose record names this worktree. */
function namers(root: string, folder: string): string[] {
  return listJobs(root).filter((id) => {
    const spec = readSpec(jobPaths(root, id));
    return spec.kind === 'ok' && spec.value.worktree?.path === folder;
  });
}
