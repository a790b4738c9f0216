// A linked git worktree for one job (`--worktree`): planned without a trace, made with nothing of the repository run (no hooks, no
// filters), kept as long as it holds work that is nowhere else. Never forced: git refuses what would lose something, and so do we.
// It is not locked: git itself removes no tree with changes in it, and the lock of a lost job would stay for ever.
import path from 'node:path';
import { errnoOf, FaultError } from '../core/errors.ts';
import { sha256 } from '../core/sha256.ts';
import { quoteWords } from '../core/shell-words.ts';
import type { WorktreeNote } from '../core/staff.ts';
import { dataFolder } from '../platform/env.ts';
import { createFolder } from '../platform/files.ts';
import { exists, isFolder, realPath } from '../platform/folders.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { type Git, openGit } from '../platform/git-tool.ts';
import { captureWorkspace } from './workspace/snapshot.ts';
import type { WorkspaceChanges } from './workspace/types.ts';

/** A checkout of a large repository takes its time. */
const checkoutMs = 10 * 60_000;

/**
 * What would be made for this job; nothing is made. `cwd` is the caller's subfolder in it (its root where the commit has no such
 * folder). What is uncommitted in the caller's tree is not carried over. Throws 'preflight' outside git, before the first commit,
 * in a bare repository, and where no place can be found.
 */
export function planWorktree(repoCwd: string, id: string): WorktreeNote & { cwd: string } {
  const at = realPath(repoCwd);
  const root = findWorktree(at);
  if (root === undefined) throw impossible(`${repoCwd} is not in a git work tree`);
  const git = requireGit(root);
  const top = ask(git, ['rev-parse', '--show-toplevel']);
  if (top !== root) throw impossible(`the work tree of ${root} is ${top}`);
  const base = ask(git, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], 'there is no commit yet');
  const folder = path.resolve(root, ask(git, ['rev-parse', '--git-common-dir']));
  const below = path.relative(root, at);
  const isThere = below === '' || git.run(['rev-parse', '--verify', '--quiet', `${base}:${below}/`]).ok;
  const place = path.join(placeFor(root, realPath(folder)), id);
  return {
    path: place,
    branch: `job-companion/${id}`,
    base,
    from: root,
    git_folder: realPath(folder),
    cwd: isThere ? path.join(place, below) : place,
  };
}

/** Make it. Throws 'preflight', and leaves nothing, when git cannot. */
export function addWorktree(note: WorktreeNote): void {
  makeFolders(path.dirname(note.path));
  if (exists(note.path)) throw impossible(`${note.path} exists already`);
  const git = requireGit(note.from);
  const branch = ['worktree', 'add', '--quiet', '--no-track', '-b', note.branch, note.path, note.base];
  const answer = git.run(branch, { timeoutMs: checkoutMs });
  if (answer.ok) return;
  undoWorktree(note);
  throw impossible(answer.reason);
}

/** After a launch that failed: as `removeWorktree`, because nobody knows how far it got. */
export function undoWorktree(note: WorktreeNote): void {
  removeWorktree(note);
}

export interface WorktreeWork {
  /** Paths that are not as its HEAD has them; at least 1 when that cannot be told. */
  uncommitted: number;
  /** Commits since it was made. */
  commits: number;
  /** All of them are reachable from elsewhere: another branch, a tag, what was pushed, HEAD of the tree it was made from. */
  isMerged: boolean;
  /** Its folder is not there any more. (Its branch may be.) */
  isGone: boolean;
}

export function worktreeWork(note: WorktreeNote): WorktreeWork {
  const isGone = !isFolder(note.path);
  const tips = [isGone ? undefined : headOf(note.path), branchTip(note)].filter((tip) => tip !== undefined);
  const uncommitted = isGone ? 0 : countUncommitted(note.path);
  const git = tips.length === 0 ? undefined : gitOf(note);
  if (!git) return { uncommitted, commits: 0, isMerged: tips.length === 0, isGone };
  const elsewhere = [`--exclude=${note.branch}`, '--branches', '--remotes', '--tags', 'HEAD'];
  const commits = count(git, [...tips, '--not', note.base]);
  const lonely = count(git, [...tips, '--not', ...elsewhere]);
  return { uncommitted, commits: commits ?? 1, isMerged: lonely === 0, isGone };
}

/** Remove tree and branch when nothing in them is only there. True when neither is left. */
export function removeWorktree(note: WorktreeNote): boolean {
  const work = worktreeWork(note);
  if (work.uncommitted > 0 || !work.isMerged) return false;
  const git = gitOf(note);
  if (!git) return work.isGone;
  const tip = branchTip(note);
  // Also when the folder is gone: git may still know of it. It fails when git does not, and when there is something in it after all.
  git.run(['worktree', 'remove', note.path]);
  if (exists(note.path)) return false;
  // Only as it was when it was found to be merged.
  return tip === undefined || git.run(['update-ref', '-d', `refs/heads/${note.branch}`, tip]).ok;
}

/** Command lines for a shell, in order, that bring all of the work into the tree that it was made from. Empty: there is none. */
export function takeOverCommands(note: WorktreeNote, changes: WorkspaceChanges): string[] {
  const { branch, head, commit_count, dirty_after } = changes;
  const inTree = (...words: string[]) => quoteWords(['git', '-C', note.path, ...words]);
  const merge = (what: string) => quoteWords(['git', '-C', note.from, 'merge', what]);
  if (dirty_after === 0) return commit_count === 0 ? [] : [merge(branch.after ?? head.after ?? note.branch)];
  const own = branch.after ?? `${note.branch}-work`;
  return [
    ...(branch.after === null ? [inTree('switch', '-c', own)] : []),
    inTree('add', '--all'),
    inTree('commit', '-m', `Work of ${path.basename(note.path)}`),
    merge(own),
  ];
}

function impossible(reason: string): FaultError {
  return new FaultError('preflight', `cannot make a worktree for the job; ${reason}`, 'go on without --worktree');
}

function requireGit(root: string): Git {
  const opened = openGit(root);
  if ('reason' in opened) throw impossible(opened.reason);
  return opened.git;
}

function ask(git: Git, args: string[], otherwise?: string): string {
  const answer = git.run(args);
  if (!answer.ok) throw impossible(otherwise ?? answer.reason);
  return answer.bytes.toString('utf8').replace(/\n$/, '');
}

/** One folder for each repository, outside of it. */
function placeFor(root: string, gitFolder: string): string {
  const own = dataFolder();
  if (own === undefined) throw impossible('there is no place for it: HOME and XDG_STATE_HOME are not set');
  const hash = Buffer.from(sha256(Buffer.from(gitFolder))).toString('hex');
  const name = path
    .basename(root)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 40);
  const place = realPlace(path.join(own, 'worktrees', `${name}-${hash.slice(0, 8)}`));
  const around = findWorktree(place) ?? (`${place}/`.startsWith(`${gitFolder}/`) ? gitFolder : undefined);
  if (around !== undefined)
    throw impossible(`its place ${place} lies inside the repository ${around}; set XDG_STATE_HOME to a folder outside`);
  return place;
}

/** The real path of what there is of a path. */
function realPlace(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (isFolder(at) || at === path.dirname(at)) return path.join(realPath(at), path.relative(at, folder));
  }
}

function makeFolders(folder: string): void {
  if (isFolder(folder)) return;
  try {
    makeFolders(path.dirname(folder));
    createFolder(folder);
  } catch (error) {
    if (error instanceof FaultError) throw error;
    throw impossible(`the folder ${folder} cannot be made (${errnoOf(error) ?? 'error'})`);
  }
}

/** Git in the tree that it was made from, or in the git folder when that tree is gone. */
function gitOf(note: WorktreeNote): Git | undefined {
  const opened = openGit(isFolder(note.from) ? note.from : note.git_folder);
  return 'git' in opened ? opened.git : undefined;
}

function headOf(folder: string): string | undefined {
  const opened = openGit(folder);
  return 'git' in opened ? resolve(opened.git, 'HEAD') : undefined;
}

function branchTip(note: WorktreeNote): string | undefined {
  const git = gitOf(note);
  return git && resolve(git, `refs/heads/${note.branch}`);
}

function resolve(git: Git, name: string): string | undefined {
  const answer = git.run(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
  return answer.ok ? answer.bytes.toString('latin1').trim() : undefined;
}

function countUncommitted(folder: string): number {
  const { git, entries, rest } = captureWorkspace(folder, { exclude: [] });
  // What git was told to overlook counts: the checkout had none of it.
  return git?.root === folder ? entries.length + (rest?.count ?? 0) : 1;
}

/** Undefined when git cannot tell. */
function count(git: Git, revisions: string[]): number | undefined {
  const answer = git.run(['rev-list', '--count', ...revisions, '--']);
  return answer.ok ? Number(answer.bytes.toString('latin1')) : undefined;
}
