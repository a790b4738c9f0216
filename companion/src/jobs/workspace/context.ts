// What the words of a mode tell an agent about the place where it starts.
import { showName } from '../../core/byte-names.ts';
import { excerpt } from '../../core/excerpt.ts';
import type { WorkspaceContext } from '../../core/staff.ts';
import type { Entry, WorkspaceSnapshot } from './types.ts';

const lines = 50;
const lineBytes = 200;

/** Bounded and free of control characters: names of files, branches and commits are data of whoever made them. */
export function contextOf({ cwd, at, git, entries, rest }: WorkspaceSnapshot): WorkspaceContext {
  if (!git) return { cwd, at, git: null };
  const dirty = entries.filter(isDirty);
  return {
    cwd,
    at,
    git: {
      root: git.root,
      branch: git.branch === null ? null : excerpt(showName(git.branch), lineBytes),
      head: git.head,
      subject: git.subject === null ? null : excerpt(plainLine(git.subject), lineBytes),
      dirty: dirty.slice(0, lines).map((entry) => excerpt(dirtyLine(entry), lineBytes)),
      dirty_count: dirty.length + (rest?.count ?? 0),
    },
  };
}

/** What git was told to overlook is dirty to nobody. */
export function isDirty(entry: Entry): boolean {
  return entry.xy !== '..';
}

/** As `git status --short` writes it. */
function dirtyLine({ xy, path, from }: Entry): string {
  const origin = from === undefined ? '' : `${showName(from)} -> `;
  const letters = xy === '??' ? xy : xy.replace('?', '.').replaceAll('.', ' ');
  return `${letters} ${origin}${showName(path)}`;
}

function plainLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim();
}
