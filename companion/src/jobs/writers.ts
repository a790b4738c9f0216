// Two agents that write in one worktree (contract 4): `implement` beside a live `implement` is refused unless the caller says
// --share or --worktree; any other pair of writing roles starts, and both records say so. The launcher looks while it holds the
// state folder's lock, so of two that start at once the second sees the first.
import { FaultError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import type { Spec, StaffPart, Warning } from '../core/job.ts';
import { isWriter } from '../core/modes.ts';
import { createFile, createFolder } from '../platform/files.ts';
import { factsOf, isFolder, listNames, realPath } from '../platform/folders.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { listActive } from '../store/catalog.ts';
import { type JobPaths, jobPaths, type StateRoot } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { readSpec } from '../store/records.ts';
import { nextCommands } from './next-commands.ts';
import { isSettleable, refreshUnasked } from './reconcile.ts';
import { type Condition, conditionOf, inspect } from './view.ts';

/** Ids of the live jobs that may write where this one will. Throws 'busy' when the two may not be beside each other. */
export async function findNeighbours(
  root: StateRoot,
  staff: StaffPart,
  cwd: string,
  may: { share: boolean; isolate: boolean },
): Promise<string[]> {
  if (!isWriter(staff.profile)) return [];
  const place = placeOf(cwd);
  const others = (await liveStaff(root.folder)).filter(
    (spec) => isWriter(spec.staff.profile) && overlaps(placeOf(spec.cwd), place),
  );
  const rival = others.find((spec) => spec.staff.mode === 'implement');
  if (rival && staff.mode === 'implement' && !may.share) {
    throw new FaultError(
      'busy',
      `cannot start a second implement job in ${place.folder}: job ${rival.id} is writing there`,
      `wait for it (${nextCommands.wait(rival.id, root.option)}), ${may.isolate ? 'or give this one its own tree with --worktree, ' : ''}or accept both with --share`,
    );
  }
  return others.map((spec) => spec.id);
}

/** Leave word in the record of each neighbour. Best effort: a neighbour that ends just now needs none. */
export function tellNeighbours(root: string, ids: readonly string[], own: string): void {
  for (const id of ids) {
    try {
      const folder = jobPaths(root, id).neighbours;
      createFolder(folder);
      // It lies where an agent may write: nothing is made through a link.
      if (factsOf(folder)?.kind !== 'folder') continue;
      createFile(`${folder}/${own}`, '', { sync: false });
    } catch {
      // Its folder is being removed, or is not ours to write.
    }
  }
}

/** What a job's record says of those who began to write beside it. */
export function neighbourWarnings(root: string, paths: JobPaths): Warning[] {
  if (factsOf(paths.neighbours)?.kind !== 'folder') return [];
  const ids = listNames(paths.neighbours).filter(isId).slice(0, 20);
  return ids.map((id) => neighbourWarning(id, modeOf(root, id)));
}

export function neighbourWarning(id: string, mode: string | undefined): Warning {
  const what = mode === undefined ? 'a job' : `${/^[aeiou]/.test(mode) ? 'an' : 'a'} ${mode} job`;
  return { code: 'two_writers', message: `${what}, ${id}, may write in the same worktree at the same time` };
}

export function modeOf(root: string, id: string): string | undefined {
  const spec = readSpec(jobPaths(root, id));
  return spec.kind === 'ok' ? spec.value.staff?.mode : undefined;
}

/** Publish the ends that are due, before anybody is refused because of a job that is over. Takes no lock of the state folder. */
export async function settleLost(root: string): Promise<void> {
  for (const id of listActive(root)) await unlessGone(() => refreshUnasked(root, id));
}

/** A launcher that was late takes its own record back at any moment. */
async function unlessGone<T>(look: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof FaultError && error.code === 'unknown_job') return undefined;
    throw error;
  }
}

/** Records that others wrote do not count, nor do jobs of which nothing lives. */
export async function liveStaff(root: string): Promise<(Spec & { staff: StaffPart })[]> {
  const key = readKey();
  const found: (Spec & { staff: StaffPart })[] = [];
  for (const id of listActive(root)) {
    const spec = readSpec(jobPaths(root, id));
    if (spec.kind !== 'ok' || !spec.value.staff || !(await isGenuine(spec.value, key)) || isOver(root, id)) continue;
    found.push({ ...spec.value, staff: spec.value.staff });
  }
  return found;
}

/** Also when its end could not be published from here. */
export function isOver(root: string, id: string): boolean {
  let condition: Condition;
  try {
    condition = conditionOf(inspect(root, id));
  } catch (error) {
    if (error instanceof FaultError && error.code === 'unknown_job') return true;
    throw error;
  }
  return condition === 'ended' || condition === 'damaged' || isSettleable(condition);
}

interface Place {
  folder: string;
  isWorktree: boolean;
}

/** The worktree that holds a folder, links resolved; outside git the folder itself. */
function placeOf(cwd: string): Place {
  const real = isFolder(cwd) ? realPath(cwd) : cwd;
  const worktree = findWorktree(real);
  return worktree === undefined ? { folder: real, isWorktree: false } : { folder: worktree, isWorktree: true };
}

/** Worktrees are places of their own, also one inside another; plain folders hold all that is below them. */
function overlaps(a: Place, b: Place): boolean {
  if (a.folder === b.folder) return true;
  const isBelow = (inner: Place, outer: Place): boolean =>
    inner.folder.startsWith(`${outer.folder.replace(/\/$/, '')}/`);
  return !a.isWorktree && !b.isWorktree && (isBelow(a, b) || isBelow(b, a));
}
