// What a reviewer is told to look at, and how to get it: commands for who may run them, and the same as a patch file for who
// may only read. Never the diff itself in the prompt.

import { errnoOf, FaultError } from '../core/errors.ts';
import type { StaffPart } from '../core/job.ts';
import { captureBudgetMs } from '../core/limits.ts';
import { quoteWords } from '../core/shell-words.ts';
import { monotonicMs } from '../platform/clock.ts';
import { writeFile } from '../platform/files.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { openGit } from '../platform/git-tool.ts';
import type { JobPaths } from '../store/layout.ts';
import { isDirty } from './workspace/context.ts';
import type { WorkspaceSnapshot } from './workspace/types.ts';

const patchBytes = 2 * 1024 * 1024;

/** Lines for the brief. Writes `review.diff` into the job's folder where there is a diff. */
export function prepareReview(staff: StaffPart, paths: JobPaths, before: WorkspaceSnapshot): string[] {
  const { git } = before;
  const dirty = before.entries.filter(isDirty);
  if (!git) return ['There is no git repository here: look at the files that the task names.'];
  const range = rangeOf(staff, git.head, dirty.length > 0);
  if (range === null) return ['There is no commit yet: everything here is new.'];
  const lines = [`${range.title}: ${quoteWords(['git', ...range.command])}`];
  const untracked = dirty.filter((entry) => entry.xy === '??').length;
  if (range.isDirty && untracked > 0)
    lines.push(`${untracked} new file(s) that git does not know yet are in no diff (marked ?? above): read them.`);
  const patch = readPatch(git.root, range.command);
  if (patch.kind === 'text' && patch.bytes.length > 0) {
    // Only a convenience: a disk without room for it must not keep the review from starting.
    const fault = faultOf(() => writeFile(paths.reviewDiff, patch.bytes));
    lines.push(
      fault === undefined
        ? `The same as a patch, for when you cannot run git: ${paths.reviewDiff}`
        : `There is no patch file: it could not be written (${fault}).`,
    );
  }
  if (patch.kind === 'none') lines.push(`There is no patch file: ${patch.reason}.`);
  return lines;
}

interface Range {
  title: string;
  command: string[];
  isDirty: boolean;
}

function rangeOf(staff: StaffPart, head: string | null, isDirtyTree: boolean): Range | null {
  if (staff.base)
    return {
      title: `Everything since ${staff.base.rev}, committed or not`,
      command: ['diff', staff.base.commit],
      isDirty: isDirtyTree,
    };
  if (head === null) return null;
  if (isDirtyTree) return { title: 'The uncommitted changes', command: ['diff', 'HEAD'], isDirty: true };
  return { title: 'The newest commit (nothing is uncommitted)', command: ['show', 'HEAD'], isDirty: false };
}

function readPatch(
  root: string,
  command: string[],
): { kind: 'text'; bytes: Buffer } | { kind: 'none'; reason: string } {
  const opened = openGit(root, { until: monotonicMs() + captureBudgetMs });
  if ('reason' in opened) return { kind: 'none', reason: opened.reason };
  const plain = ['--no-ext-diff', '--no-textconv', '--no-color'];
  const answer = opened.git.run([command[0] as string, ...plain, ...command.slice(1)], { limit: patchBytes });
  return answer.ok ? { kind: 'text', bytes: answer.bytes } : { kind: 'none', reason: answer.reason };
}

/** `--base REV`: where the history of HEAD left that of REV. Throws 'preflight' when there is no such commit here. */
export function requireBase(cwd: string, rev: string): NonNullable<StaffPart['base']> {
  const root = findWorktree(cwd);
  const opened = root === undefined ? { reason: 'there is no git repository here' } : openGit(root);
  if ('reason' in opened) throw noBase(rev, opened.reason);
  const { git } = opened;
  const found = git.run(['rev-parse', '--verify', '--quiet', '--end-of-options', `${rev}^{commit}`]);
  if (rev === '' || !found.ok) throw noBase(rev, 'there is no such commit');
  const commit = found.bytes.toString('latin1').trim();
  const fork = git.run(['merge-base', commit, 'HEAD']);
  if (!fork.ok) throw noBase(rev, 'it has no history in common with HEAD');
  return { rev, commit: fork.bytes.toString('latin1').trim() };
}

function noBase(rev: string, reason: string): FaultError {
  return new FaultError(
    'preflight',
    `cannot review since ${JSON.stringify(rev)}: ${reason}`,
    'name a commit or branch of this repository with --base',
  );
}

function faultOf(write: () => void): string | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    return code;
  }
}
