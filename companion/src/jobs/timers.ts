// Timers beside each other: at most 64 are armed, and a slot has one. Asked and written while the launcher holds the state folder's lock.
// In a slot the new timer is armed first, then the slot names it, then the earlier one is canceled. A launcher that dies on the way
// leaves two armed timers, never none; the next one of that slot cancels both, because it goes by the timers' own records.
import { FaultError } from '../core/errors.ts';
import { armedTimers, replaceWaitMs } from '../core/limits.ts';
import { listActive } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { readSpec } from '../store/records.ts';
import { readSlot, writeSlot } from '../store/slots.ts';
import { cancelJob } from './cancel.ts';
import type { JobRequest } from './launch-request.ts';
import { nextCommands } from './next-commands.ts';
import { refresh } from './reconcile.ts';
import { isEnded } from './view.ts';

export interface Admission {
  admit: NonNullable<JobRequest['admit']>;
  /** Ids of the armed timers of the same slot, known once it was admitted. */
  earlier: () => readonly string[];
}

export function admitTimer(root: StateRoot, slot: string | null): Admission {
  let earlier: string[] = [];
  return {
    async admit() {
      const timers = listActive(root.folder).filter((id) => id.startsWith('timer-'));
      earlier = slot === null ? [] : await inSlot(root.folder, slot, timers);
      const others = timers.filter((id) => !earlier.includes(id));
      if (others.length >= armedTimers) await requireRoom(root, others);
      return { warnings: [], told: (id) => (slot === null ? undefined : writeSlot(root.folder, slot, id)) };
    },
    earlier: () => earlier,
  };
}

/** Cancel what the slot held. One that was due meanwhile keeps its end. Gives those that were replaced. */
export async function replaceTimers(
  root: StateRoot,
  earlier: readonly string[],
  by: { id: string; owner: string | null },
): Promise<string[]> {
  const replaced: string[] = [];
  for (const id of earlier) {
    const why = `replaced by ${by.id}`;
    const { result } = await cancelJob(root.folder, id, { owner: by.owner, why }, replaceWaitMs);
    if (result !== 'ended_before') replaced.push(id);
  }
  return replaced;
}

async function inSlot(root: string, slot: string, timers: readonly string[]): Promise<string[]> {
  const named = readSlot(root, slot);
  const found: string[] = [];
  for (const id of new Set([...timers, ...(named === undefined ? [] : [named])])) {
    const spec = readSpec(jobPaths(root, id));
    if (spec.kind === 'ok' && spec.value.timer?.slot === slot && (await isArmed(root, id))) found.push(id);
  }
  return found;
}

/** Timers that came due unnoticed take no place. */
async function requireRoom(root: StateRoot, timers: readonly string[]): Promise<void> {
  const armed: string[] = [];
  for (const id of timers) if (await isArmed(root.folder, id)) armed.push(id);
  const [oldest] = armed;
  if (oldest === undefined || armed.length < armedTimers) return;
  throw new FaultError(
    'busy',
    `cannot arm another timer: ${armed.length} are armed in ${root.folder}, and ${armedTimers} is the most`,
    `list them with ${nextCommands.status(root.option)}, and cancel one, for example the oldest: ${nextCommands.cancel(oldest, root.option)}`,
  );
}

async function isArmed(root: string, id: string): Promise<boolean> {
  try {
    return !isEnded((await refresh(root, id)).state);
  } catch (error) {
    // A launcher that died half-way, or a record that is being removed.
    if (error instanceof FaultError && error.code === 'unknown_job') return false;
    throw error;
  }
}
