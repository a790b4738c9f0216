// A linked git worktree for one job (`--worktree`): planned without a trace, made with nothing of the repository run (no hooks, no
// filters), kept as long as it holds work that is nowhere else. Never forced: git refuses what would lose something, and so do we.
// It is not locked: git itself removes no tree with changes in it, and the lock of a lost job would stay for ever.
import path from 'node:path';
import { errnoOf, FaultError } from '../core/errors.ts';
import { sha256 } from '../core/sha256.ts';
import type { WorktreeNote } from '../core/staff.ts';
import { monotonicMs } from '../platform/clock.ts';
import { dataFolder } from '../platform/env.ts';
import { createFolder } from '../platform/files.ts';
import { exists, isFolder, realPath } from '../platform/folders.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { type Git, openGit } from '../platform/git-tool.ts';
import { captureWorkspace } from './workspace/snapshot.ts';
import { branchTip, count, gitOf, headOf } from './worktree-git.ts';

export { takeOverCommands } from './take-over.ts';

/** A checkout of a large repository takes its time, and a look at it too. */
const checkoutMs = 10 * 60_000;
const lookMs = 60_000;
const tries = 3;

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

/** Is there uncommitted work in the tree, which a worktree made from it will not have? False where that cannot be told soon. */
export function isDirtyTree(root: string): boolean {
  const opened = openGit(root, { until: monotonicMs() + 2_000 });
  if ('reason' in opened) return false;
  const words = ['status', '--porcelain', '-z', '--untracked-files=normal', '--no-renames'];
  const answer = opened.git.run(words, { limit: 64 * 1024 });
  return answer.ok ? answer.bytes.length > 0 : answer.cut === 'output';
}

/** Make it. Throws 'preflight', and leaves nothing, when git cannot. */
export function addWorktree(note: WorktreeNote): void {
  makeFolders(path.dirname(note.path));
  if (exists(note.path)) throw impossible(`${note.path} exists already`);
  const git = requireGit(note.from);
  // Without files at first: which programs the configuration names can depend on the place, so they are asked for there.
  const words = ['worktree', 'add', '--quiet', '--no-checkout', '--no-track', '-b', note.branch, note.path, note.base];
  for (let tried = 1; ; tried += 1) {
    const answer = git.run(words, { timeoutMs: checkoutMs });
    if (answer.ok) break;
    undoWorktree(note);
    // Git stumbles over the half-written files of another worktree that is just being made.
    if (tried === tries || !/\bcommondir|worktrees\//.test(answer.reason)) throw impossible(answer.reason);
  }
  const reason = checkOut(note);
  if (reason === undefined) return;
  // Nobody has worked in it: nothing is lost, and nothing but git's own files is read.
  git.run(['worktree', 'remove', '--force', note.path]);
  git.run(['update-ref', '-d', `refs/heads/${note.branch}`, note.base]);
  throw impossible(reason);
}

/** Why it cannot be done. */
function checkOut(note: WorktreeNote): string | undefined {
  const opened = openGit(note.path);
  if ('reason' in opened) return opened.reason;
  const answer = opened.git.run(['reset', '--hard', '--quiet'], { timeoutMs: checkoutMs });
  return answer.ok ? undefined : answer.reason;
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
  const git = gitOf(note, { also: work.isGone ? [] : [note.path] });
  if (!git) return work.isGone;
  const tip = branchTip(note);
  // Also when the folder is gone: git may still know of it. It fails when git does not, and when there is something in it after all.
  git.run(['worktree', 'remove', note.path]);
  if (exists(note.path)) return false;
  // Only as it was when it was found to be merged.
  return tip === undefined || git.run(['update-ref', '-d', `refs/heads/${note.branch}`, tip]).ok;
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
export function realPlace(folder: string): string {
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

function countUncommitted(folder: string): number {
  const { git, entries, rest } = captureWorkspace(folder, { exclude: [], budgetMs: lookMs });
  // What git was told to overlook counts: the checkout had none of it.
  return git?.root === folder ? entries.length + (rest?.count ?? 0) : 1;
}
