// How a run, a watch or a hand-back folder stands, as lines of the page of one job.
import { formatAge } from '../core/duration.ts';
import { ageOf } from '../core/recorded-time.ts';
import { checkpointOf, handbackSeen, queueSeen, watchSeen } from '../jobs/parts-seen.ts';
import { queueWords } from '../jobs/queue-words.ts';
import { isEnded, type View } from '../jobs/view.ts';
import { nowMs } from '../platform/clock.ts';
import { progressCells } from './progress-cells.ts';

/** `[####------]  40%, 4 of 10, train, ETA 4m (checkpoint 3, 12s ago)`; null without a checkpoint. */
export function progressLine(view: View): string | null {
  const checkpoint = checkpointOf(view.state);
  if (!checkpoint) return null;
  const { completed, total, phase, n, at } = checkpoint;
  const { bar, eta } = progressCells(view);
  const count = completed === null ? null : total === null ? `${completed} done` : `${completed} of ${total}`;
  const parts = [bar, count, phase, eta === null ? null : `ETA ${eta}`].filter((part) => part !== null);
  const age = formatAge(ageOf(at, nowMs()) ?? 0);
  return `${parts.length === 0 ? 'no numbers' : parts.join(', ')} (checkpoint ${n}, ${age} ago)`;
}

/** `open: 3 checks are running`; null for a job that is no watch. */
export function watchLine(view: View): string | null {
  const seen = watchSeen(view) as { word: string; verdict: string; evidence: string } | null;
  if (!seen) return null;
  return `${seen.word || seen.verdict}${seen.evidence === '' ? '' : `: ${seen.evidence}`}`;
}

/** `place 3, behind run-...; 4 at work, at most 4`; null for a job that is not queued. */
export function queueLine(view: View): string | null {
  const seen = queueSeen(view);
  return seen && queueWords(seen);
}

/** `3 files in DIR, last told 02-ready.md`; null without a hand-back folder. */
export function handbackLine(view: View): string | null {
  const seen = handbackSeen(view);
  if (!seen) return null;
  const { told, before } = seen;
  const none = `nothing${before > 0 ? ' new' : ''}${isEnded(view.state) ? '' : ' yet'}`;
  const count = told === 0 ? none : filesOf(told);
  const newest = seen.newest === null ? '' : `, last told ${seen.newest}`;
  const notes = [
    ...(seen.frozen ? ['frozen'] : []),
    ...(told === 0 && before > 0 ? [`${filesOf(before)} ${before === 1 ? 'was' : 'were'} there before`] : []),
  ];
  return `${count} in ${seen.dir}${newest}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
}

function filesOf(count: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'}`;
}
