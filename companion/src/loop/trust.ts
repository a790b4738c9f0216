// May the commands of this loop run? They lie in the repository, which may have come from anywhere: only when this user said so for exactly
// these commands in exactly this worktree (contract 11). The word is sealed with the user's key, because an agent can write where it lies.

import { FaultError } from '../core/errors.ts';
import type { LoopState } from '../core/loop.ts';
import { readJson, writeJson } from '../platform/files.ts';
import { realPath } from '../platform/folders.ts';
import { ensureKey, macOfShort, readKey, sameMac } from '../store/mac.ts';
import { loopCommand } from './files.ts';
import { type LoopPlace, requirePrivateFolder } from './place.ts';

/** Everything in the state that would be run, in a fixed order. */
export function commandsOf(state: Pick<LoopState, 'verify' | 'stop_conditions'>): string[] {
  const conditions = state.stop_conditions
    .filter((text) => text.startsWith('cmd:'))
    .map((text) => text.slice(4).trim());
  return [...new Set([...state.verify.map(({ cmd }) => cmd), ...conditions])].sort();
}

/** True also when there is nothing to run. */
export function isTrusted(place: LoopPlace, state: LoopState): boolean {
  if (commandsOf(state).length === 0) return true;
  const read = readJson(place.trust);
  const key = readKey();
  if (key === undefined || read.kind !== 'ok' || typeof read.value.mac !== 'string') return false;
  return sameMac(macOfShort(promise(place, state), key), read.value.mac);
}

/** The caller has shown the commands to the user, or has them from the command line; and holds the loop's lock. */
export function trust(place: LoopPlace, state: LoopState): void {
  requirePrivateFolder(place);
  writeJson(place.trust, { commands: commandsOf(state), mac: macOfShort(promise(place, state), ensureKey()) });
}

export function requireTrust(place: LoopPlace, state: LoopState): void {
  if (isTrusted(place, state)) return;
  const count = commandsOf(state).length;
  throw new FaultError(
    'preflight',
    `cannot run the ${count === 1 ? 'command' : `${count} commands`} of this loop: you have not said that you trust them here`,
    `look at them with: ${loopCommand(place, 'trust')}`,
  );
}

function promise(place: LoopPlace, state: LoopState): unknown {
  return { loop: realPath(place.worktree), commands: commandsOf(state) };
}
