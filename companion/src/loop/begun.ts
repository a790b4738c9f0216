// A checkpoint is three files and a commit, and any process can be killed: what is to be is written down first, then done, then struck out. Whoever takes
// the lock next ends what was begun. The record lies where an agent can write, so it is checked, and reaches nothing but the loop's files.
import { FaultError } from '../core/errors.ts';
import type { LoopState } from '../core/loop.ts';
import { parseLoopState } from '../core/loop-state.ts';
import { moveAside, readJson, readText, removeFile, writeFile, writeJson } from '../platform/files.ts';
import { commitAll } from './commit.ts';
import { openLoopGit } from './git.ts';
import { appendEntry, readJournal } from './journal.ts';
import type { LoopPlace } from './place.ts';
import { isEdited } from './stamp.ts';

export interface BegunCheckpoint {
  state: LoopState;
  /** Sealed text of state.json. */
  stateText: string;
  entry: string;
  handoff: string;
  /** Null: without a commit. */
  message: string | null;
  /** rev of the state before it. */
  from: number;
}

export interface Finished {
  committed: boolean;
  head: string | null;
}

/** The caller holds the lock. */
export function beginCheckpoint(place: LoopPlace, begun: BegunCheckpoint): void {
  writeJson(place.begun, begun);
}

/** The caller holds the lock. Does each step only where it is not done yet. */
export function finishBegun(place: LoopPlace): Finished | undefined {
  const read = readJson(place.begun);
  if (read.kind === 'missing') return undefined;
  const begun = read.kind === 'ok' ? checked(read.value) : undefined;
  const now = stateNow(place);
  // Not ours, damaged, or of a state that is long past: it is kept under another name, and nothing is done through it.
  if (!begun || (now !== begun.state.rev && now !== begun.from)) {
    moveAside(place.begun);
    return undefined;
  }
  if (!(readJournal(place.journal) ?? '').endsWith(begun.entry)) appendEntry(place.journal, begun.entry);
  writeFile(place.handoff, begun.handoff);
  writeFile(place.state, begun.stateText);
  const done = begun.message === null ? { made: false, head: null } : commit(place, begun.message, begun.stateText);
  removeFile(place.begun);
  return { committed: done.made, head: done.head };
}

function commit(place: LoopPlace, message: string, text: string): { made: boolean; head: string | null } {
  const git = openLoopGit(place);
  if ('reason' in git) throw new FaultError('preflight', `cannot make the commit of the checkpoint: ${git.reason}`);
  return commitAll(git.git, message, text);
}

function stateNow(place: LoopPlace): number | undefined {
  try {
    const read = parseLoopState(JSON.parse(readText(place.state) ?? ''));
    return read.ok ? read.state.rev : undefined;
  } catch {
    return undefined;
  }
}

function checked(value: Record<string, unknown>): BegunCheckpoint | undefined {
  const { stateText, entry, handoff, message, from } = value;
  if (typeof stateText !== 'string' || typeof entry !== 'string' || typeof handoff !== 'string') return undefined;
  if ((message !== null && typeof message !== 'string') || typeof from !== 'number') return undefined;
  try {
    const read = parseLoopState(JSON.parse(stateText));
    if (!read.ok || isEdited(read.state)) return undefined;
    return { state: read.state, stateText, entry, handoff, message, from };
  } catch {
    return undefined;
  }
}
