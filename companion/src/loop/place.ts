// Where a loop lies: `.loop/` at the worktree's root (tracked, so that it travels with the code), and beside the jobs what must not travel:
// the lock, what this user trusts, a checkpoint that was begun.
import path from 'node:path';
import { FaultError } from '../core/errors.ts';
import { createFolder } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { rootPaths, type StateRoot } from '../store/layout.ts';

export interface LoopPlace {
  /** The worktree's root; the current folder outside git. Absolute. */
  worktree: string;
  isGit: boolean;
  folder: string;
  state: string;
  journal: string;
  handoff: string;
  root: StateRoot;
  /** Private: `.job-state/loop`. */
  lock: string;
  trust: string;
  begun: string;
}

export function loopPlace(cwd: string, root: StateRoot): LoopPlace {
  const found = findWorktree(cwd);
  const worktree = found ?? cwd;
  const folder = path.join(worktree, '.loop');
  const own = rootPaths(root.folder).loop;
  return {
    worktree,
    isGit: found !== undefined,
    folder,
    state: path.join(folder, 'state.json'),
    journal: path.join(folder, 'journal.md'),
    handoff: path.join(folder, 'handoff.md'),
    root,
    lock: path.join(own, 'lock'),
    trust: path.join(own, 'trust.json'),
    begun: path.join(own, 'checkpoint.json'),
  };
}

/** The private folder, made where it is missing. A link or a stranger's folder in its place is refused. */
export function requirePrivateFolder(place: LoopPlace): void {
  const folder = path.dirname(place.lock);
  createFolder(folder);
  const facts = factsOf(folder);
  if (facts?.kind === 'folder' && facts.uid === process.getuid?.()) return;
  throw new FaultError('state_unusable', `cannot use ${folder}: it is no folder of ours`);
}

/** A link in its place could lead our writing elsewhere. False when there is no loop yet. */
export function checkLoopFolder(place: LoopPlace): boolean {
  const facts = factsOf(place.folder);
  if (!facts) return false;
  const reason =
    facts.kind === 'link'
      ? 'it is a symbolic link'
      : facts.kind !== 'folder'
        ? 'it is no folder'
        : facts.uid !== process.getuid?.()
          ? `it belongs to user ${facts.uid}`
          : undefined;
  if (reason !== undefined) throw new FaultError('preflight', `cannot use the loop folder ${place.folder}: ${reason}`);
  for (const file of [place.state, place.journal, place.handoff]) {
    const inner = factsOf(file);
    if (inner && inner.kind !== 'file') throw new FaultError('preflight', `cannot use ${file}: it is no regular file`);
  }
  return true;
}
