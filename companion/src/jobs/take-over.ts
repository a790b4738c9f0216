// How the work in a worktree of ours comes into the tree that it was made from: told from what that tree and its branches hold now,
// whichever job did it, and never from what others committed meanwhile.
import path from 'node:path';
import { captureBudgetMs } from '../core/limits.ts';
import { quoteWords } from '../core/shell-words.ts';
import type { WorktreeNote } from '../core/staff.ts';
import { monotonicMs } from '../platform/clock.ts';
import { type Git, openGit } from '../platform/git-tool.ts';
import type { WorkspaceChanges } from './workspace/types.ts';
import { count, gitOf, headOf, resolve } from './worktree-git.ts';

/** Command lines for a shell, in order, that bring all of the work into the tree that it was made from. Empty: there is none. */
export function takeOverCommands(note: WorktreeNote, changes: WorkspaceChanges): string[] {
  const until = monotonicMs() + captureBudgetMs;
  const opened = openGit(note.path, { until });
  const git = 'git' in opened ? opened.git : gitOf(note, { until });
  const tips = git ? tipsOf(git, note, changes, 'git' in opened) : [];
  const held = git ? unmerged(git, note, tips) : [];
  const merge = (what: string) => quoteWords(['git', '-C', note.from, 'merge', what]);
  if (changes.dirty_after === 0) return held.map(({ name }) => merge(name));
  const inTree = (...words: string[]) => quoteWords(['git', '-C', note.path, ...words]);
  const own = changes.branch.after ?? `${note.branch}-work`;
  return [
    ...(changes.branch.after === null ? [inTree('switch', '-c', own)] : []),
    inTree('add', '--all'),
    inTree('commit', '-m', `Work of ${path.basename(note.path)}`),
    merge(own),
    ...held.filter(({ isHead }) => !isHead).map(({ name }) => merge(name)),
  ];
}

interface Tip {
  /** Of the branch, or the commit itself. */
  name: string;
  commit: string;
  isHead: boolean;
}

/** HEAD, the branch that was made with the tree, and every branch on which a commit was made in the tree. */
function tipsOf(git: Git, note: WorktreeNote, changes: WorkspaceChanges, isTree: boolean): Tip[] {
  const branches = listBranches(git);
  const head = isTree ? resolve(git, 'HEAD') : undefined;
  const current = isTree ? currentBranch(git) : undefined;
  const made = isTree ? madeHere(git) : [];
  // Without a log of HEAD there is only what moved meanwhile.
  const isMade = ({ name, commit }: Tip) =>
    name === note.branch ||
    (made.length > 0 ? made.includes(commit) : changes.refs_changed.includes(`refs/heads/${name}`));
  const others = branches.filter((tip) => tip.name !== current && isMade(tip));
  const own = others.filter(({ name }) => name === note.branch);
  return [
    ...(head === undefined ? [] : [{ name: current ?? head, commit: head, isHead: true }]),
    ...own,
    ...others.filter((tip) => !own.includes(tip)),
  ];
}

function listBranches(git: Git): Tip[] {
  const answer = git.run(['for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads']);
  const lines = answer.ok ? answer.bytes.toString('latin1').split('\n') : [];
  return lines.flatMap((line) => {
    const [, commit, name] = /^([0-9a-f]{40,64}) (.+)$/.exec(line) ?? [];
    if (commit === undefined || name === undefined) return [];
    return [{ name: isPlain(name) ? name : commit, commit, isHead: false }];
  });
}

/** A name that a shell on any terminal takes as it is written. */
function isPlain(name: string): boolean {
  return /^[\x21-\x7e]+$/.test(name);
}

function currentBranch(git: Git): string | undefined {
  const answer = git.run(['symbolic-ref', '--quiet', '--short', 'HEAD']);
  const name = answer.ok ? answer.bytes.toString('latin1').trim() : '';
  return isPlain(name) ? name : undefined;
}

/** Where HEAD of this tree was put by a commit, a merge and the like: not where it only went to. */
function madeHere(git: Git): string[] {
  const answer = git.run(['log', '--walk-reflogs', '--max-count=10000', '--format=%H %gs', 'HEAD', '--']);
  const lines = answer.ok ? answer.bytes.toString('latin1').split('\n') : [];
  return lines.flatMap((line) => {
    const [, commit, words = ''] = /^([0-9a-f]{40,64}) (.*)$/.exec(line) ?? [];
    return commit === undefined || /^(?:checkout|reset|branch):/.test(words) ? [] : [commit];
  });
}

/** Those that hold a commit which neither the start, nor the tree that it was made from, nor another of them holds. */
function unmerged(git: Git, note: WorktreeNote, tips: Tip[]): Tip[] {
  const known = [note.base, headOf(note.from)].filter((commit) => commit !== undefined);
  return tips.filter(({ commit }, at) => {
    if (tips.findIndex((tip) => tip.commit === commit) < at) return false;
    const others = tips.map((tip) => tip.commit).filter((other) => other !== commit);
    return (count(git, [commit, '--not', ...known, ...others]) ?? 1) > 0;
  });
}
