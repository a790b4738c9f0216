// A checkpoint is three files and a commit, and any process can be killed: what is to be is written down first, then done, then struck out. Whoever takes
// the lock next ends what was begun. The record lies where an agent can write: it counts only with the user's seal, and only for the state that it was made from.
import { FaultError } from '../core/errors.ts';
import type { LoopState } from '../core/loop.ts';
import { parseLoopState } from '../core/loop-state.ts';
import { moveAside, readJson, removeFile, writeFile, writeJson } from '../platform/files.ts';
import { realPath } from '../platform/folders.ts';
import { ensureKey, macOfShort, readKey, sameMac } from '../store/mac.ts';
import { commitAll, requireCommittable } from './commit.ts';
import { loopCommand, readLoop } from './files.ts';
import { openLoopGit } from './git.ts';
import { appendEntry, readJournal } from './journal.ts';
import type { LoopPlace } from './place.ts';

export interface BegunCheckpoint {
  /** Sealed text of state.json. */
  stateText: string;
  entry: string;
  handoff: string;
  /** Null: without a commit. */
  message: string | null;
  /** Hash of the state before it. */
  from: string;
}

export interface Finished {
  committed: boolean;
  head: string | null;
}

/** The caller holds the lock. Throws 'preflight' on a state that could not be read back, before anything is written. */
export function beginCheckpoint(place: LoopPlace, begun: BegunCheckpoint): void {
  const read = parseLoopState(JSON.parse(begun.stateText));
  if (!read.ok) throw new FaultError('preflight', `cannot make a checkpoint: ${read.faults.join('; ')}`);
  writeJson(place.begun, { ...begun, mac: macOfShort(promise(place, begun), ensureKey()) });
}

/** The caller holds the lock. Does each step only where it is not done yet. `commits`: false leaves its commit to the user. */
export function finishBegun(place: LoopPlace, commits = true): Finished | undefined {
  const record = readJson(place.begun);
  if (record.kind === 'missing') return undefined;
  const begun = record.kind === 'ok' ? genuine(place, record.value) : undefined;
  const now = readLoop(place);
  const isOfNow = now.kind === 'ok' && !now.isEdited && begun !== undefined;
  // Not ours, damaged, or of another state: it is kept under another name, and nothing is done through it.
  if (!isOfNow || (now.state.hash !== begun.from && now.state.hash !== begun.state.hash)) {
    moveAside(place.begun);
    return undefined;
  }
  const finish = commits && begun.message !== null ? committer(place, begun.message, begun.stateText) : null;
  if (!(readJournal(place.journal) ?? '').endsWith(begun.entry)) appendEntry(place.journal, begun.entry);
  writeFile(place.handoff, begun.handoff);
  writeFile(place.state, begun.stateText);
  const done = finish?.() ?? { made: false, head: null };
  removeFile(place.begun);
  return { committed: done.made, head: done.head };
}

/** Asked before the files are written, also by whoever ends what was begun: meanwhile a merge may have begun. */
function committer(place: LoopPlace, message: string, text: string): () => { made: boolean; head: string | null } {
  const git = openLoopGit(place);
  const stays = loopCommand(place, 'checkpoint', '--no-commit');
  if ('reason' in git)
    throw new FaultError('preflight', `cannot make the commit of the checkpoint: ${git.reason}`, stays);
  requireCommittable(git.git, stays);
  return () => commitAll(git.git, message, text, stays);
}

function promise(place: LoopPlace, { stateText, entry, handoff, message, from }: BegunCheckpoint): unknown {
  return { checkpoint: realPath(place.worktree), stateText, entry, handoff, message, from };
}

function genuine(
  place: LoopPlace,
  value: Record<string, unknown>,
): (BegunCheckpoint & { state: LoopState }) | undefined {
  const { stateText, entry, handoff, message, from, mac } = value;
  if (typeof stateText !== 'string' || typeof entry !== 'string' || typeof handoff !== 'string') return undefined;
  if ((message !== null && typeof message !== 'string') || typeof from !== 'string') return undefined;
  const begun: BegunCheckpoint = { stateText, entry, handoff, message, from };
  const key = readKey();
  if (key === undefined || typeof mac !== 'string' || !sameMac(macOfShort(promise(place, begun), key), mac))
    return undefined;
  const read = parseLoopState(JSON.parse(stateText));
  return read.ok ? { ...begun, state: read.state } : undefined;
}
