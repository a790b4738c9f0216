// What changed in a workspace between two looks: the truth that an agent's own words are held against. A path is changed when
// its content, its mode or its existence is another one than before, whoever committed or staged it meanwhile.
import { readableName } from '../../core/byte-names.ts';
import { excerpt } from '../../core/excerpt.ts';
import { captureBudgetMs } from '../../core/limits.ts';
import { monotonicMs } from '../../platform/clock.ts';
import { type Git, openGit } from '../../platform/git-tool.ts';
import { makeLooker } from '../../platform/raw-content.ts';
import { limits } from './entries.ts';
import { readMove, readNewCommits, readTreeChanges, type TreeChange } from './history.ts';
import { comparePlain, compareUnasked } from './plain.ts';
import { compareRefs, refLimits } from './refs.ts';
import { pairRenames } from './renames.ts';
import { countDirty, entriesOf, isCutOff } from './rest.ts';
import { isSnapshot } from './shape.ts';
import { type Change, comparePaths, type PathChanges } from './sides.ts';
import { captureWorkspace, notInGit } from './snapshot.ts';
import { nameOf } from './status.ts';
import type { FileChange, GitPart, GitSnapshot, WorkspaceChanges, WorkspaceSnapshot } from './types.ts';

export { isChanges } from './shape.ts';
export type { FileChange, WorkspaceChanges } from './types.ts';

const listed = { files: 200, dirty: 50, refs: 50, nameBytes: 1_000 };

/**
 * To be called right after the second look: the work tree is looked at once more, where a path was dirty and is no longer told.
 * A first look that lost its form (it lies where an agent may write) gives `reason`. `mostFiles` are named. Takes `budgetMs` at most, and as much again
 * when the second look was not at the same work tree.
 */
export function compareWorkspace(
  before: WorkspaceSnapshot,
  after: WorkspaceSnapshot,
  { budgetMs = captureBudgetMs, mostFiles = listed.files }: { budgetMs?: number; mostFiles?: number } = {},
): WorkspaceChanges {
  const changes = compareAll(before, after, budgetMs);
  return { ...changes, files: changes.files.slice(0, mostFiles) };
}

/** The same with every file. */
function compareAll(before: WorkspaceSnapshot, after: WorkspaceSnapshot, budgetMs: number): WorkspaceChanges {
  if (!isSnapshot(before)) return untold('the record of the workspace at the start is damaged', null, null);
  const { git, cwd, exclude } = before;
  if (git === null) {
    const now =
      after.git === null && after.cwd === cwd ? after : captureWorkspace(cwd, { exclude, plain: true, budgetMs });
    const changes = comparePlain(before, now);
    const exact = before.exact && now.exact;
    return finish({ ...nothingMoved(null, null), ...noPaths, changes, exact, reason: before.reason });
  }
  // The folder may be gone, or hold a repository of its own by now. A git that was too slow is not asked again.
  const isElsewhere = after.git ? after.git.root !== git.root : after.reason === notInGit;
  const now = isElsewhere ? captureWorkspace(git.root, { exclude, budgetMs }) : after;
  if (now.git?.root === git.root)
    return compareGit({ ...before, git }, { ...now, git: now.git }, monotonicMs() + budgetMs);
  const reason = now.reason ?? 'the repository is gone';
  return untold(reason, git, null, reason === notInGit ? noPaths : compareUnasked({ ...before, git }));
}

function compareGit(before: GitSnapshot, after: GitSnapshot, until: number): WorkspaceChanges {
  const [was, is] = [before.git, after.git];
  const opened = openGit(is.root, { until });
  if ('reason' in opened) return untold(opened.reason, was, is);
  const { git } = opened;
  const moved = readMove(git, was.head, is.head);
  const tree = moved === null ? new Map<string, TreeChange>() : readTreeChanges(git, is.hash, head(was, is));
  const refs = compareRefs(was, is);
  const commits = readNewCommits(git, was, is, refs.tips);
  const looker = makeLooker(is.root, until);
  const overlooked = newlyOverlooked(git, before, after);
  const moments = { before, after, tree: tree ?? new Map(), looker, overlooked };
  const isMore = before.rest?.digest !== after.rest?.digest && (isCutOff(before) || isCutOff(after));
  const isKnown = tree !== undefined && commits !== undefined && refs.exact && monotonicMs() < until;
  return finish({
    ...nothingMoved(was, is),
    ...comparePaths(moments),
    dirty_after: countDirty(after),
    commits: commits?.commits ?? [],
    commit_count: commits?.commit_count ?? 0,
    head: { ...head(was, is), moved },
    refs_changed: refs.changed,
    index_changed: isIndexChanged(before, after, moments.tree),
    exact: before.exact && after.exact && isKnown,
    beyond: [
      ...(isMore ? [`uncommitted files beyond the first ${limits.entries + limits.brief}`] : []),
      ...(refs.isMore ? [`branches beyond the first ${refLimits.names}`] : []),
    ],
    reason: after.reason ?? before.reason,
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
  const isCut = isCutOff(was) || isCutOff(is);
  return [...new Set([...known.keys(), ...now.keys(), ...tree.keys()])].some((name) => {
    const [b, a, t] = [known.get(name), now.get(name), tree.get(name)];
    if (b?.xy === '..' || a?.xy === '..' || (isCut && !(a && b))) return false;
    if (b?.isBrief || a?.isBrief) return isStaged(b) !== isStaged(a);
    const before = b ? b.index : t ? t.before : (a?.head ?? null);
    const after = a ? a.index : t ? t.after : (b?.head ?? null);
    return before !== after;
  });
}

/** All that is known of the index of a brief entry. */
function isStaged(entry: { xy: string } | undefined): boolean {
  return entry !== undefined && !/^[.?]/.test(entry.xy);
}

type Listed =
  | 'files'
  | 'file_count'
  | 'dirty_before'
  | 'dirty_before_count'
  | 'dirty_committed'
  | 'dirty_committed_count';
type Findings = Omit<WorkspaceChanges, Listed | 'unchanged'> & PathChanges;

const noPaths: PathChanges = { changes: [], untouched: [], swallowed: [] };

function nothingMoved(was: GitPart | null, is: GitPart | null): Omit<Findings, keyof PathChanges | 'exact' | 'reason'> {
  return {
    commits: [],
    commit_count: 0,
    dirty_after: 0,
    head: { before: was?.head ?? null, after: is?.head ?? null, moved: null },
    branch: { before: was?.branch ?? null, after: is?.branch ?? null },
    refs_changed: [],
    index_changed: false,
    beyond: [],
  };
}

function untold(reason: string, was: GitPart | null, is: GitPart | null, paths = noPaths): WorkspaceChanges {
  const changes = finish({ ...nothingMoved(was, is), ...paths, exact: false, reason });
  return { ...changes, unchanged: false };
}

function finish({ changes, untouched, swallowed, ...rest }: Findings): WorkspaceChanges {
  const files = pairRenames(changes);
  const { head, branch, commit_count, refs_changed, index_changed, beyond } = rest;
  const isStill = head.before === head.after && branch.before === branch.after && !index_changed && beyond.length === 0;
  return {
    files: files.map(fileChange),
    file_count: files.length,
    dirty_before: untouched.slice(0, listed.dirty).map(shortName),
    dirty_before_count: untouched.length,
    dirty_committed: swallowed.slice(0, listed.dirty).map(shortName),
    dirty_committed_count: swallowed.length,
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
