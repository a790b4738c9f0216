// What a hook has to tell of the jobs: which have ended and nobody has collected them, and for which live ones `idle-check` would say no. Reads
// only, settles nothing, and stops in the middle when its time is over. Ids and states only: a label is text that others wrote, and
// what is told here stands beside a person's prompt.
import { hookAgeMs, hookCounted, hookJobs, hookMs, hookNamed } from '../core/limits.ts';
import { nowMs } from '../platform/clock.ts';
import { exists } from '../platform/folders.ts';
import { listActive, listJobs } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { readSpec, readState } from '../store/records.ts';
import { isFaulty, judgeSeen } from './idle.ts';
import { lookForLive } from './idle-seen.ts';
import { nextCommand, nextCommands } from './next-commands.ts';
import { whoseJobs } from './whose.ts';

interface Seen {
  /** Newest first. */
  finished: { id: string; state: string }[];
  /** There may be more of them. */
  isPart: boolean;
  /** Live ones that nobody would be woken by, or with nothing behind that. */
  unsafe: string[];
  /** Live ones are left that nobody looked at. */
  isCut: boolean;
}

/**
 * The lines to tell; none when there is nothing to say. `isOver` is asked between two jobs, but not of the first few: a busy machine
 * must not make a hook say nothing.
 */
export async function lookForHook(root: StateRoot, owner: string | null, isOver: () => boolean): Promise<string[]> {
  const live = listActive(root.folder);
  const unsafe = await findUnsafe(root, live, owner, isOver);
  return tell(root, { ...unsafe, ...findFinished(root.folder, owner, isOver) });
}

/** A look that is not over in time is given up: silence would be taken for "all is well". */
export async function hookLines(root: StateRoot, look: Promise<string[]>, over: Promise<void>): Promise<string[]> {
  const late = over.then(() => (listActive(root.folder).length > 0 ? [noTime(root)] : []));
  return Promise.race([look, late]);
}

function noTime(root: StateRoot): string {
  return `job-companion: no time to look at the jobs (${hookMs} ms); ask: ${nextCommand(root.option, 'idle-check')}`;
}

function findFinished(root: string, owner: string | null, isOver: () => boolean): Pick<Seen, 'finished' | 'isPart'> {
  const finished: Seen['finished'] = [];
  const whose = whoseJobs(root, owner);
  const oldest = nowMs() - hookAgeMs;
  let opened = 0;
  for (const id of listJobs(root).slice(0, hookJobs)) {
    if ((opened >= hookNamed && isOver()) || finished.length === hookCounted) return { finished, isPart: true };
    const paths = jobPaths(root, id);
    // That it has ended is what counts, not its marker: a worker that was killed in between leaves that behind.
    if (exists(paths.collected)) continue;
    opened += 1;
    const state = readState(paths);
    if (state.kind !== 'ok' || !isToCollect(state.value.state)) continue;
    if (Date.parse(state.value.ended_at ?? '') < oldest) continue;
    const spec = readSpec(paths);
    if (spec.kind === 'ok' && whose(spec.value) === 'own') finished.push({ id, state: state.value.state });
  }
  return { finished, isPart: false };
}

/** Whoever canceled a job was told so then. */
function isToCollect(state: string): boolean {
  return ['done', 'failed', 'timed_out', 'crashed'].includes(state);
}

/** Those for which `idle-check` would say no, as far as there is time to look. */
async function findUnsafe(root: StateRoot, live: readonly string[], owner: string | null, isOver: () => boolean) {
  let looks = 0;
  let isCut = false;
  const seen = await lookForLive(root.folder, live, owner, () => {
    isCut = ++looks > hookNamed && isOver();
    return isCut;
  });
  const { jobs, timers, unreadable } = judgeSeen(seen, owner, root.option);
  const faulty = [...jobs.filter(isFaulty), ...timers.filter(({ isFault }) => isFault)];
  return { unsafe: [...faulty.map(({ view }) => view.id), ...unreadable.map(({ id }) => id)], isCut };
}

function tell(root: StateRoot, { finished, isPart, unsafe, isCut }: Seen): string[] {
  const lines: string[] = [];
  if (finished.length > 0) {
    const named = finished.slice(0, hookNamed);
    const least = isPart ? 'at least ' : '';
    lines.push(`job-companion: ${least}${count(finished, 'finished job')} that nobody has collected:`);
    for (const { id, state } of named) lines.push(`- ${id} (${state}): ${nextCommands.result(id, root.option)}`);
    if (named.length < finished.length)
      lines.push(`- ${least}${finished.length - named.length} more: ${nextCommands.status(root.option)}`);
  }
  if (unsafe.length > 0) {
    const named = unsafe.slice(0, hookNamed).join(', ');
    // Not all of them were looked at, perhaps.
    const more = unsafe.length > hookNamed ? ' and others' : '';
    const command = nextCommand(root.option, 'idle-check');
    lines.push(`job-companion: not safe to go idle, because of ${named}${more}. What is missing says: ${command}`);
  } else if (isCut) {
    lines.push(noTime(root));
  }
  return lines;
}

function count(list: readonly unknown[], what: string): string {
  return `${list.length} ${what}${list.length === 1 ? '' : 's'}`;
}
