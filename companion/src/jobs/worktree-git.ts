// What git says of a worktree of ours and of its branch, asked from where it can be asked.
import type { WorktreeNote } from '../core/staff.ts';
import { isFolder } from '../platform/folders.ts';
import { type Git, type GitTerms, openGit } from '../platform/git-tool.ts';

/** Git in the tree that it was made from, or in the git folder when that tree is gone. */
export function gitOf(note: WorktreeNote, terms?: GitTerms): Git | undefined {
  const opened = openGit(isFolder(note.from) ? note.from : note.git_folder, terms);
  return 'git' in opened ? opened.git : undefined;
}

export function headOf(folder: string): string | undefined {
  const opened = openGit(folder);
  return 'git' in opened ? resolve(opened.git, 'HEAD') : undefined;
}

export function branchTip(note: WorktreeNote): string | undefined {
  const git = gitOf(note);
  return git && resolve(git, `refs/heads/${note.branch}`);
}

export function resolve(git: Git, name: string): string | undefined {
  const answer = git.run(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
  return answer.ok ? answer.bytes.toString('latin1').trim() : undefined;
}

/** Undefined when git cannot tell. */
export function count(git: Git, revisions: string[]): number | undefined {
  const answer = git.run(['rev-list', '--count', ...revisions, '--']);
  return answer.ok ? Number(answer.bytes.toString('latin1')) : undefined;
}
