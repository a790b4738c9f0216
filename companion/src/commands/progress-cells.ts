// How far a job is, in a few characters each: for the table and for the line of a wait.
import { formatDuration } from '../core/duration.ts';
import { excerpt } from '../core/excerpt.ts';
import { instantOf } from '../core/recorded-time.ts';
import { checkpointOf, queueSeen, watchSeen } from '../jobs/parts-seen.ts';
import { isEnded, type View } from '../jobs/view.ts';
import { renderBar } from '../output/bar.ts';
import { nowMs } from '../platform/clock.ts';

export interface ProgressCells {
  bar: string | null;
  /** How long it will still take. */
  eta: string | null;
  /** Phase, `due in 4m`, or the newest word of a watch. */
  note: string | null;
}

const none: ProgressCells = { bar: null, eta: null, note: null };

export function progressCells(view: View, barWidth = 10): ProgressCells {
  const { spec, state } = view;
  if (isEnded(state)) return none;
  if (spec?.timer) return { ...none, note: dueIn(spec.timer.due_at) };
  const queue = queueSeen(view);
  if (queue) return { ...none, note: queue.place === null ? 'in the queue' : `place ${queue.place}` };
  const watch = watchSeen(view) as { word: string; verdict: string } | null;
  if (watch) return { ...none, note: watch.word || watch.verdict };
  const checkpoint = checkpointOf(state);
  if (!checkpoint) return none;
  const { completed, total, phase } = checkpoint;
  return {
    bar: renderBar(completed, total, barWidth),
    eta: etaOf(checkpoint.eta_seconds, checkpoint.at),
    note: phase === null ? null : excerpt(phase, 40),
  };
}

function dueIn(dueAt: unknown): string | null {
  const due = instantOf(dueAt);
  if (due === null) return null;
  const left = due - nowMs();
  return left <= 0 ? 'due' : `due in ${coarse(left)}`;
}

/** Told at the checkpoint, so what has passed since is over. */
function etaOf(seconds: number | null, at: string): string | null {
  if (seconds === null || seconds < 0 || seconds > 10 * 365 * 86_400) return null;
  const left = seconds * 1000 - Math.max(0, nowMs() - (instantOf(at) ?? nowMs()));
  return left <= 0 ? 'any moment' : coarse(left);
}

/** Two units at most: `2d3h`, `4m`, `50s`. */
function coarse(ms: number): string {
  const step = ms >= 2 * 86_400_000 ? 3_600_000 : ms >= 600_000 ? 60_000 : 1000;
  return formatDuration(Math.max(1000, Math.ceil(ms / step) * step));
}
