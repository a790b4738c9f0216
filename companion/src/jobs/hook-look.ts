// What a hook has to tell of the jobs: which have ended and nobody has collected them, and which live ones nobody waits for. Reads
// only, settles nothing, and stops in the middle when its time is over. Ids and states only: a label is text that others wrote, and
// what is told here stands beside a person's prompt.
import { hookAgeMs, hookCounted, hookJobs, hookNamed } from '../core/limits.ts';
import { nowMs } from '../platform/clock.ts';
import { exists } from '../platform/folders.ts';
import { listActive, listJobs } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { readSpec, readState } from '../store/records.ts';
import { isOwnedBy } from './listing.ts';
import { nextCommand, nextCommands } from './next-commands.ts';
import { isAwaited } from './waiters.ts';

interface Seen {
  /** Newest first. */
  finished: { id: string; state: string }[];
  /** There may be more of them. */
  isPart: boolean;
  /** Live ones that no wait, no `--foreground` and no notifier holds. */
  unheld: string[];
}

/** The lines to tell; none when there is nothing to say. `isOver` is asked between two jobs. */
export function lookForHook(root: StateRoot, owner: string | null, isOver: () => boolean): string[] {
  const live = listActive(root.folder);
  const unheld = findUnheld(root.folder, live, owner, isOver);
  return tell(root, { unheld, ...findFinished(root.folder, live, owner, isOver) });
}

function findFinished(
  root: string,
  live: readonly string[],
  owner: string | null,
  isOver: () => boolean,
): Pick<Seen, 'finished' | 'isPart'> {
  const finished: Seen['finished'] = [];
  const passing = new Set(live);
  const oldest = nowMs() - hookAgeMs;
  for (const id of listJobs(root).slice(0, hookJobs)) {
    if (isOver() || finished.length === hookCounted) return { finished, isPart: true };
    const paths = jobPaths(root, id);
    if (passing.has(id) || exists(paths.collected)) continue;
    const state = readState(paths);
    if (state.kind !== 'ok' || !isToCollect(state.value.state)) continue;
    if (Date.parse(state.value.ended_at ?? '') < oldest) continue;
    const spec = readSpec(paths);
    if (spec.kind === 'ok' && isOwnedBy(spec.value, owner)) finished.push({ id, state: state.value.state });
  }
  return { finished, isPart: false };
}

/** Whoever canceled a job was told so then. */
function isToCollect(state: string): boolean {
  return ['done', 'failed', 'timed_out', 'crashed'].includes(state);
}

/** A timer is set to look after others: that nobody waits for it counts only when there is nothing else to wait for. */
function findUnheld(root: string, live: readonly string[], owner: string | null, isOver: () => boolean): string[] {
  const own: { id: string; kind: string; isHeld: boolean }[] = [];
  for (const id of live) {
    if (isOver()) break;
    const paths = jobPaths(root, id);
    const spec = readSpec(paths);
    if (spec.kind !== 'ok' || !isOwnedBy(spec.value, owner)) continue;
    const state = readState(paths);
    if (state.kind === 'ok' && (isToCollect(state.value.state) || state.value.state === 'canceled')) continue;
    own.push({ id, kind: spec.value.kind, isHeld: Boolean(spec.value.notify) || isAwaited(root, id) });
  }
  const isLone = own.every(({ kind }) => kind === 'timer');
  return own.filter(({ kind, isHeld }) => !isHeld && (isLone || kind !== 'timer')).map(({ id }) => id);
}

function tell(root: StateRoot, { finished, isPart, unheld }: Seen): string[] {
  const lines: string[] = [];
  if (finished.length > 0) {
    const named = finished.slice(0, hookNamed);
    const least = isPart ? 'at least ' : '';
    lines.push(`job-companion: ${least}${count(finished, 'finished job')} that nobody has collected:`);
    for (const { id, state } of named) lines.push(`- ${id} (${state}): ${nextCommands.result(id, root.option)}`);
    if (named.length < finished.length)
      lines.push(`- ${least}${finished.length - named.length} more: ${nextCommands.status(root.option)}`);
  }
  if (unheld.length > 0) {
    const named = unheld.slice(0, hookNamed).join(', ');
    const more = unheld.length > hookNamed ? ` and ${unheld.length - hookNamed} more` : '';
    lines.push(
      `job-companion: ${count(unheld, 'live job')} that will wake nobody (${named}${more}). Before you go idle: ${nextCommand(root.option, 'idle-check')}`,
    );
  }
  return lines;
}

function count(list: readonly unknown[], what: string): string {
  return `${list.length} ${what}${list.length === 1 ? '' : 's'}`;
}
