// What the claims of a job are held against: the worktree that it worked in, as git knows it now, what was there at its start, and what its end
// has recorded. Looks only; a path that an agent names leads nowhere.
import path from 'node:path';
import type { Spec } from '../../core/job.ts';
import { verifyMs } from '../../core/limits.ts';
import { monotonicMs } from '../../platform/clock.ts';
import { readJson } from '../../platform/files.ts';
import { isFolder, realPath } from '../../platform/folders.ts';
import { findWorktree } from '../../platform/git-folder.ts';
import { type Git, openGit } from '../../platform/git-tool.ts';
import type { JobPaths } from '../../store/layout.ts';
import { isChanges } from '../workspace/shape.ts';
import { notInGit } from '../workspace/snapshot.ts';
import type { GitPart, WorkspaceChanges, WorkspaceSnapshot } from '../workspace/types.ts';
import { readBefore } from '../workspace-record.ts';

export interface ClaimsPlace {
  spec: Spec;
  paths: JobPaths;
  /** The work tree (outside git the folder) to which names of files are relative, and where in it the job stood. */
  root: string;
  below: string;
  /** Absolute paths by which an agent may call the repository. */
  names: ReadonlySet<string>;
  git: Git | null;
  /** Why git cannot be asked. */
  reason: string | null;
  /** Null: what was there at the start is not known (a run). */
  before: WorkspaceSnapshot | null;
  /** Tips that were there at the start; null when they are not known. */
  knownTips: string[] | null;
  changes: WorkspaceChanges | null;
}

export function placeOf(spec: Spec, paths: JobPaths): ClaimsPlace {
  const before = readBefore(paths) ?? null;
  const cwd = realOf(spec.cwd);
  const root = rootOf(spec, cwd, before?.git ?? null);
  const folder = root ?? cwd;
  const opened = openAt(spec, root);
  const isPlain = before !== null && before.git === null && before.reason === notInGit;
  return {
    spec,
    paths,
    root: folder,
    below: isBelow(cwd, folder) ? path.relative(folder, cwd) : '',
    names: new Set([folder, cwd, spec.cwd, ...(spec.worktree ? [spec.worktree.path, spec.worktree.from] : [])]),
    git: 'git' in opened ? opened.git : null,
    reason: 'git' in opened ? null : opened.reason,
    before,
    knownTips: before === null ? null : before.git ? tipsOf(before.git) : isPlain ? [] : null,
    changes: recordedChanges(paths),
  };
}

/** For `--stdin`: what these lead to and the known ones did not. */
export function since(known: readonly string[], tips: readonly string[]): string {
  return [...tips, ...known.map((tip) => `^${tip}`)].map((line) => `${line}\n`).join('');
}

/** Not a repository that the job has made inside its worktree. */
function rootOf(spec: Spec, cwd: string, before: GitPart | null): string | undefined {
  if (spec.worktree) return realOf(spec.worktree.path);
  if (before && isBelow(cwd, before.root)) return before.root;
  return findWorktree(cwd);
}

/** Of a worktree that is gone its commits are still in the repository that it was made from. */
function openAt(spec: Spec, root: string | undefined): { git: Git } | { reason: string } {
  if (root === undefined) return { reason: `${spec.cwd} is in no git work tree` };
  const folder = spec.worktree && !isFolder(root) ? spec.worktree.from : root;
  return openGit(folder, { until: monotonicMs() + verifyMs });
}

function tipsOf({ head, refs, elsewhere }: GitPart): string[] {
  const tips = [head, ...Object.values(refs ?? {}), ...Object.values(elsewhere)];
  return [...new Set(tips.filter((tip) => tip !== null))];
}

/** By whoever published the end: the agent was dead by then. */
function recordedChanges(paths: JobPaths): WorkspaceChanges | null {
  const read = readJson(paths.resultRecord);
  const changes = read.kind === 'ok' ? read.value.changes : null;
  return isChanges(changes) ? changes : null;
}

function isBelow(folder: string, root: string): boolean {
  return folder === root || folder.startsWith(`${root}/`);
}

function realOf(folder: string): string {
  try {
    return realPath(folder);
  } catch {
    return path.resolve(folder);
  }
}
