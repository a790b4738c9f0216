// Two agents that write in one worktree (contract 4): `implement` beside a live `implement` is refused unless the caller says
// --share or --worktree; any other pair of writing roles starts, and both records say so. The launcher looks while it holds the
// state folder's lock, so of two that start at once the second sees the first.
import { FaultError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import type { Spec, StaffPart, Warning } from '../core/job.ts';
import { isWriter } from '../core/modes.ts';
import { createFile, createFolder } from '../platform/files.ts';
import { isFolder, listNames, realPath } from '../platform/folders.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { listActive } from '../store/catalog.ts';
import { type JobPaths, jobPaths, type StateRoot } from '../store/layout.ts';
import { readSpec } from '../store/records.ts';
import { nextCommands } from './next-commands.ts';
import { inspect, isEnded } from './view.ts';

/** Ids of the live jobs that may write where this one will. Throws 'busy' when the two may not be beside each other. */
export function findNeighbours(root: StateRoot, staff: StaffPart, cwd: string, isShared: boolean): string[] {
  if (!isWriter(staff.profile)) return [];
  const place = placeOf(cwd);
  const others = liveStaff(root.folder).filter((spec) => isWriter(spec.staff.profile) && placeOf(spec.cwd) === place);
  const rival = others.find((spec) => spec.staff.mode === 'implement');
  if (rival && staff.mode === 'implement' && !isShared) {
    throw new FaultError(
      'busy',
      `cannot start a second implement job in ${place}: job ${rival.id} is writing there`,
      `wait for it (${nextCommands.wait(rival.id, root.option)}), or give this one its own tree with --worktree, or accept both with --share`,
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
      createFile(`${folder}/${own}`, '', { sync: false });
    } catch {
      // Its folder is being removed, or is not ours to write.
    }
  }
}

/** What a job's record says of those who began to write beside it. */
export function neighbourWarnings(root: string, paths: JobPaths): Warning[] {
  const ids = listNames(paths.neighbours).filter(isId).slice(0, 20);
  return ids.map((id) => neighbourWarning(id, modeOf(root, id)));
}

export function neighbourWarning(id: string, mode: string | undefined): Warning {
  const what = mode === undefined ? 'a job' : `a ${mode} job`;
  return { code: 'two_writers', message: `${what}, ${id}, may write in the same worktree at the same time` };
}

export function modeOf(root: string, id: string): string | undefined {
  const spec = readSpec(jobPaths(root, id));
  return spec.kind === 'ok' ? spec.value.staff?.mode : undefined;
}

function liveStaff(root: string): (Spec & { staff: StaffPart })[] {
  return listActive(root).flatMap((id) => {
    const spec = readSpec(jobPaths(root, id));
    if (spec.kind !== 'ok' || !spec.value.staff || isEnded(inspect(root, id).state)) return [];
    return [{ ...spec.value, staff: spec.value.staff }];
  });
}

/** The worktree that holds a folder, links resolved; outside git the folder itself. */
function placeOf(cwd: string): string {
  const real = isFolder(cwd) ? realPath(cwd) : cwd;
  return findWorktree(real) ?? real;
}
