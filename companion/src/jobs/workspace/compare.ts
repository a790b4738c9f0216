// What changed in a workspace between two looks: the truth that an agent's own words are held against. A path is changed when
// its content, its mode or its existence is another one than before, whoever committed or staged it meanwhile.
import { readableName } from '../../core/byte-names.ts';
import { excerpt } from '../../core/excerpt.ts';
import { type Git, openGit } from '../../platform/git-tool.ts';
import { makeLooker } from '../../platform/raw-content.ts';
import { isDirty } from './context.ts';
import { readMove, readNewCommits, readTreeChanges, type TreeChange } from './history.ts';
import { comparePlain } from './plain.ts';
import { pairRenames } from './renames.ts';
import { isSnapshot } from './shape.ts';
import { type Change, comparePaths, entriesOf } from './sides.ts';
import { captureWorkspace } from './snapshot.ts';
import { nameOf } from './status.ts';
import type { FileChange, GitPart, GitSnapshot, WorkspaceChanges, WorkspaceSnapshot } from './types.ts';

export { isChanges } from './shape.ts';
export type { FileChange, WorkspaceChanges } from './types.ts';

const listed = { files: 200, dirty: 50, refs: 50, nameBytes: 1_000 };

/**
 * To be called right after the second look: the work tree is looked at once more, where a path was dirty and is no longer told.
 * Starts git only when HEAD or a branch moved. A first look that lost its form (it lies where an agent may write) gives `reason`.
 */
export function compareWorkspace(before: WorkspaceSnapshot, after: WorkspaceSnapshot): WorkspaceChanges {
  if (!isSnapshot(before)) return untold('the record of the workspace at the start is damaged', null, null);
  const { git, cwd, exclude } = before;
  if (git === null) {
    const now = after.git === null && after.cwd === cwd ? after : captureWorkspace(cwd, { exclude, plain: true });
    const changes = comparePlain(before, now);
    const exact = before.exact && now.exact;
    return finish({ ...nothingMoved(null, null), changes, untouched: [], exact, reason: before.reason });
  }
  // The folder may be gone, or hold a repository of its own by now.
  const now = after.git?.root === git.root ? after : captureWorkspace(git.root, { exclude });
  if (now.git?.root !== git.root) return untold(now.reason ?? 'the repository is gone', git, null);
  return compareGit({ ...before, git }, { ...now, git: now.git });
}

function compareGit(before: GitSnapshot, after: GitSnapshot): WorkspaceChanges {
  const [was, is] = [before.git, after.git];
  const opened = openGit(is.root);
  if ('reason' in opened) return untold(opened.reason, was, is);
  const { git } = opened;
  const moved = readMove(git, was.head, is.head);
  const tree = moved === null ? new Map<string, TreeChange>() : readTreeChanges(git, is.hash, head(was, is));
  const commits = readNewCommits(git, was, is);
  const looker = makeLooker(is.root);
  const overlooked = newlyOverlooked(git, before, after);
  const moments = { before, after, tree: tree ?? new Map(), looker, overlooked };
  const { changes, untouched } = comparePaths(moments);
  return finish({
    ...nothingMoved(was, is),
    changes,
    untouched,
    dirty_after: after.entries.filter(isDirty).length + (after.rest?.count ?? 0),
    commits: commits?.commits ?? [],
    commit_count: commits?.commit_count ?? 0,
    head: { ...head(was, is), moved },
    refs_changed: changedRefs(was.refs, is.refs),
    index_changed: isIndexChanged(before, after, moments.tree),
    exact: before.exact && after.exact && tree !== undefined && commits !== undefined,
    isMore: before.rest?.digest !== after.rest?.digest,
    reason: null,
  });
}

function head(was: GitPart, is: GitPart): { before: string | null; after: string | null } {
  return { before: was.head, after: is.head };
}

/** In the earlier HEAD: what git was told to overlook only after the first look. */
function newlyOverlooked(git: Git, was: GitSnapshot, is: GitSnapshot): Map<string, string> {
  const known = entriesOf(was);
  const names = is.entries.filter(({ path, xy }) => xy === '..' && !known.has(path)).map(({ path }) => path);
  if (names.length === 0 || was.git.head === null) return new Map();
  const answer = git.run(['ls-tree', '-r', '-z', '--full-tree', was.git.head]);
  const wanted = new Set(names);
  const lines = answer.ok ? answer.bytes.toString('latin1').split('\0') : [];
  return new Map(
    lines.flatMap((line) => {
      const [, mode, name, path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      return mode !== undefined && wanted.has(nameOf(path)) ? [[nameOf(path), `${mode} ${name}`]] : [];
    }),
  );
}

/** Where a snapshot says nothing of a path, its index has what its HEAD has. */
function isIndexChanged(was: GitSnapshot, is: GitSnapshot, tree: Map<string, TreeChange>): boolean {
  const [known, now] = [entriesOf(was), entriesOf(is)];
  const isCut = was.rest !== null || is.rest !== null;
  return [...new Set([...known.keys(), ...now.keys(), ...tree.keys()])].some((name) => {
    const [b, a, t] = [known.get(name), now.get(name), tree.get(name)];
    if (b?.xy === '..' || a?.xy === '..' || (isCut && !(a && b))) return false;
    const before = b ? b.index : t ? t.before : (a?.head ?? null);
    const after = a ? a.index : t ? t.after : (b?.head ?? null);
    return before !== after;
  });
}

/** A list that may have been cut tells only of the names in both. */
function changedRefs(was: Record<string, string>, is: Record<string, string>): string[] {
  const isCut = [was, is].some((refs) => Object.keys(refs).length >= 500);
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
  return names.filter((name) => was[name] !== is[name] && (!isCut || (name in was && name in is)));
}

interface Findings
  extends Omit<WorkspaceChanges, 'files' | 'file_count' | 'dirty_before' | 'dirty_before_count' | 'unchanged'> {
  changes: Change[];
  untouched: string[];
  /** Something changed beyond what a snapshot lists. */
  isMore: boolean;
}

function nothingMoved(
  was: GitPart | null,
  is: GitPart | null,
): Omit<Findings, 'changes' | 'untouched' | 'exact' | 'reason'> {
  return {
    commits: [],
    commit_count: 0,
    dirty_after: 0,
    head: { before: was?.head ?? null, after: is?.head ?? null, moved: null },
    branch: { before: was?.branch ?? null, after: is?.branch ?? null },
    refs_changed: [],
    index_changed: false,
    isMore: false,
  };
}

function untold(reason: string, was: GitPart | null, is: GitPart | null): WorkspaceChanges {
  const changes = finish({ ...nothingMoved(was, is), changes: [], untouched: [], exact: false, reason });
  return { ...changes, unchanged: false };
}

function finish({ changes, untouched, isMore, ...rest }: Findings): WorkspaceChanges {
  const files = pairRenames(changes);
  const { head, branch, commit_count, refs_changed, index_changed } = rest;
  const isStill = head.before === head.after && branch.before === branch.after && !index_changed && !isMore;
  return {
    files: files.slice(0, listed.files).map(fileChange),
    file_count: files.length,
    dirty_before: untouched.slice(0, listed.dirty).map(shortName),
    dirty_before_count: untouched.length,
    ...rest,
    refs_changed: refs_changed.slice(0, listed.refs).map(shortName),
    unchanged: isStill && files.length === 0 && commit_count === 0 && refs_changed.length === 0,
  };
}

function fileChange({ path, was, is, from, was_dirty, committed }: Change): FileChange {
  const change = from !== undefined ? 'renamed' : !was ? 'added' : !is ? 'deleted' : 'modified';
  return {
    path: shortName(path),
    change,
    ...(from === undefined ? {} : { from: shortName(from) }),
    was_dirty,
    committed,
  };
}

function shortName(name: string): string {
  return excerpt(readableName(name), listed.nameBytes);
}
