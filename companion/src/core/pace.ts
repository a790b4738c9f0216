// How fast `completed` advances, and so how long the rest takes (formats 2.1: from advancing completed/total checkpoints). Two neighbours are
// not enough for a steady answer: steps do not line up with checkpoints, and one interval may show 1 step and the next one 2. So the rate is that
// of the straight line through the newest advances, and of a few only when those differ from the rest. Pure.
import type { ProbeReading } from './probe-answer.ts';

export interface Pace {
  phase: string | null;
  total: number | null;
  /** The beginning, then each checkpoint at which `completed` was higher than ever in this count. */
  points: readonly Point[];
  /** When the newest of them was seen last. */
  stillMs: number;
}

interface Point {
  atMs: number;
  completed: number;
}

/** An old advance says little of today; and so few new ones in a row show another rate. */
const mostAdvances = 24;
const fewAdvances = 4;
/** A new rate is one when it differs by more than that, and by more than one step. */
const tolerance = 0.2;
/** Stood still for so many times the longest time between two advances: a halt, which is no part of the rate. */
const haltShare = 2;

/** The pace after one more answer. An answer that leaves something out leaves the older word on it. */
export function paceAfter(before: Pace | null, now: ProbeReading, atMs: number): Pace | null {
  if (now.completed === null) return before;
  const point = { atMs, completed: now.completed };
  const newest = before?.points.at(-1);
  const phase = now.phase ?? before?.phase ?? null;
  const total = now.total ?? before?.total ?? null;
  const next = (points: readonly Point[]): Pace => ({ phase, total, points, stillMs: atMs });
  if (!before || !newest || point.completed < newest.completed) return next([point]);
  const { points, stillMs } = before;
  if (before.total !== null && total !== before.total) {
    // Another phase with another total counts something else; a total that was found to be another one still has the step before it.
    const isSameCount = phase === before.phase && point.completed > newest.completed;
    return next(isSameCount ? [newest, point] : [point]);
  }
  // A wait before the first step is no part of the rate.
  if (point.completed === newest.completed) return next(points.length === 1 ? [point] : points);
  if (wasHalted(points, stillMs)) return next([{ ...newest, atMs: stillMs }, point]);
  return next(trimmed([...points, point]));
}

/** Null when it did not advance at this checkpoint. Never negative, never endless. */
export function secondsLeft(pace: Pace | null, now: ProbeReading | null, atMs: number): number | null {
  if (!pace || !now || now.completed === null || now.total === null) return null;
  if (pace.points.length < 2 || pace.points.at(-1)?.atMs !== atMs) return null;
  const rate = rateOf(pace.points);
  const left = Math.round((now.total - now.completed) / rate / 1000);
  return rate > 0 && Number.isFinite(rate) && Number.isSafeInteger(left) && left >= 0 ? left : null;
}

function wasHalted(points: readonly Point[], stillMs: number): boolean {
  // After a first advance alone nobody knows what is long.
  if (points.length < 3) return false;
  const gaps = points.slice(1).map(({ atMs }, index) => atMs - (points[index] as Point).atMs);
  return stillMs - (points.at(-1) as Point).atMs > haltShare * Math.max(...gaps);
}

/** Without what is too old, and without all that was before the rate changed. */
function trimmed(points: readonly Point[]): readonly Point[] {
  const long = points.slice(-mostAdvances - 1);
  const few = points.slice(-fewAdvances - 1);
  const [first, last] = [few[0] as Point, few.at(-1) as Point];
  const expected = rateOf(long) * (last.atMs - first.atMs);
  const isSteady = Math.abs(last.completed - first.completed - expected) <= 1 + tolerance * expected;
  return isSteady ? long : few;
}

/** Steps per millisecond: the slope of the line with the least squares. */
function rateOf(points: readonly Point[]): number {
  const middle = (of: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + of(point) / points.length, 0);
  const [atMs, completed] = [middle((point) => point.atMs), middle((point) => point.completed)];
  let [product, square] = [0, 0];
  for (const point of points) {
    product += (point.atMs - atMs) * (point.completed - completed);
    square += (point.atMs - atMs) ** 2;
  }
  return product / square;
}
