// Reading and changing the loop's state. One writer at a time (one lock), `rev` +1, a whole new file by rename; a hand edit is never
// overwritten: it is told, and taken over only by `loop trust`.
import { FaultError } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import { loopLimits } from '../core/limits-loop.ts';
import type { LoopState } from '../core/loop.ts';
import { parseLoopState } from '../core/loop-state.ts';
import { quoteWords } from '../core/shell-words.ts';
import { isoNow } from '../platform/clock.ts';
import { readText, writeFile } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import { selfWords } from '../platform/self.ts';
import { ensureRoot } from '../store/root.ts';
import { checkLoopFolder, type LoopPlace, requirePrivateFolder } from './place.ts';
import { hashOfState, isEdited } from './stamp.ts';

export type LoopRead =
  | { kind: 'none' }
  /** What is wrong, one sentence each. */
  | { kind: 'damaged'; faults: string[] }
  | { kind: 'ok'; state: LoopState; isEdited: boolean };

/** Never changes anything. */
export function readLoop(place: LoopPlace): LoopRead {
  if (!checkLoopFolder(place)) return { kind: 'none' };
  const text = readText(place.state, loopLimits.stateBytes + 1);
  if (text === undefined) return { kind: 'damaged', faults: ['.loop has no state.json'] };
  if (text.length > loopLimits.stateBytes) return { kind: 'damaged', faults: ['state.json is larger than 1 MiB'] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'damaged', faults: [`state.json is no JSON: ${plainText(String(error)).slice(0, 160)}`] };
  }
  const read = parseLoopState(value);
  return read.ok
    ? { kind: 'ok', state: read.state, isEdited: isEdited(read.state) }
    : { kind: 'damaged', faults: read.faults.map((fault) => `state.json, ${plainText(fault)}`) };
}

/** For commands that need a loop. A hand edit is let through; whoever writes refuses it. */
export function requireLoop(place: LoopPlace): LoopState {
  const read = readLoop(place);
  if (read.kind === 'ok') return read.state;
  if (read.kind === 'none')
    throw new FaultError(
      'preflight',
      `cannot find a loop: there is no ${place.folder}`,
      loopCommand(place, 'init', '"GOAL"'),
    );
  throw new FaultError(
    'preflight',
    `cannot read the loop: ${read.faults.join('; ')}`,
    'bring it back with git (git checkout -- .loop), or mend that field',
  );
}

/**
 * Change the state under the loop's lock. `change` gets the state as it is now and gives the new one (rev, updated and hash are set here); it may
 * throw to refuse; the same object means no change. Throws `busy` when another process holds the lock, `preflight` on a state that was edited by hand.
 */
export async function changeLoop(
  place: LoopPlace,
  change: (state: LoopState) => LoopState | Promise<LoopState>,
): Promise<LoopState> {
  return lockLoop(place, async () => {
    const state = requireLoop(place);
    if (isEdited(state)) throw editedFault(place);
    const changed = await change(state);
    if (changed === state) return state;
    const next = sealState(changed);
    writeState(place, next);
    return next;
  });
}

export function editedFault(place: LoopPlace): FaultError {
  return new FaultError(
    'preflight',
    'cannot change the loop: its state.json was edited by hand (its hash does not fit)',
    `look at it and take it over with: ${loopCommand(place, 'trust')}`,
  );
}

/** Everything that writes into `.loop/` goes through here. `commits`: false ends a checkpoint that was begun without its commit. */
export async function lockLoop<T>(
  place: LoopPlace,
  fn: () => Promise<T> | T,
  { commits = true }: { commits?: boolean } = {},
): Promise<T> {
  ensureRoot(place.root.folder);
  requirePrivateFolder(place);
  return withLock(
    place.lock,
    async () => {
      // A checkpoint that was begun and not ended (its process was killed) is ended first.
      if (exists(place.begun)) (await import('./begun.ts')).finishBegun(place, commits);
      return fn();
    },
    loopLimits.lockMs,
  );
}

export function sealState(state: LoopState): LoopState {
  const next = { ...state, rev: state.rev + 1, updated: isoNow() };
  return { ...next, hash: hashOfState(next) };
}

/** The caller holds the lock, and has sealed it. */
export function writeState(place: LoopPlace, state: LoopState): void {
  writeFile(place.state, stateText(state));
}

/** For people, too: it is tracked, and its differences are read. */
export function stateText(state: LoopState): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}

/** The exact call of a verb of `loop` for this place. */
export function loopCommand(place: LoopPlace, verb: string, ...rest: string[]): string {
  const words = quoteWords([...selfWords(), 'loop', verb, ...place.root.option]);
  return [words, ...rest].join(' ');
}

/** The milestone that is worked on, else the first that is not done. */
export function nextMilestone(state: LoopState) {
  const { current } = state;
  return (
    state.milestones.find(({ id }) => id === current?.milestone) ??
    state.milestones.find(({ status }) => status !== 'done')
  );
}

/** The milestone of the last checkpoint, as far as the order of work tells. */
export function lastDone(state: LoopState) {
  return state.last === undefined ? undefined : state.milestones.find(({ id }) => id === state.last);
}
