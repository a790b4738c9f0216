// What the words of a mode tell an agent about the place where it starts.
import { oneLine, showName } from '../../core/byte-names.ts';
import { excerpt } from '../../core/excerpt.ts';
import type { WorkspaceContext } from '../../core/staff.ts';
import { countDirty, isDirty } from './rest.ts';
import type { Entry, WorkspaceSnapshot } from './types.ts';

export { isDirty } from './rest.ts';

const lines = 50;
const lineBytes = 200;

/** Bounded and free of control characters: names of files, branches and commits are data of whoever made them. */
export function contextOf(snapshot: WorkspaceSnapshot): WorkspaceContext {
  const { cwd, at, git, entries } = snapshot;
  if (!git) return { cwd, at, git: null };
  const dirty = entries.filter(isDirty);
  return {
    cwd,
    at,
    git: {
      root: git.root,
      branch: git.branch === null ? null : excerpt(showName(git.branch), lineBytes),
      head: git.head,
      subject: git.subject === null ? null : excerpt(oneLine(git.subject), lineBytes),
      dirty: dirty.slice(0, lines).map((entry) => excerpt(dirtyLine(entry), lineBytes)),
      dirty_count: countDirty(snapshot),
    },
  };
}

/** As `git status --short` writes it. */
function dirtyLine({ xy, path, from }: Entry): string {
  const origin = from === undefined ? '' : `${showName(from)} -> `;
  const letters = xy === '??' ? xy : xy.replace('?', '.').replaceAll('.', ' ');
  return `${letters} ${origin}${showName(path)}`;
}
