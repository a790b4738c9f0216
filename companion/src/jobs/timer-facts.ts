// What is told of a timer beside its state: for programs, and in words.
import { formatDuration } from '../core/duration.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { TimerPart } from '../core/job.ts';
import { excerptBytes } from '../core/limits.ts';
import { nowMs } from '../platform/clock.ts';

/** `message` is an excerpt: the whole one is the result. */
export function timerFacts(timer: TimerPart): Record<string, unknown> {
  const { due_at, slot } = timer;
  return { due_at, durable: true, slot, message: excerpt(plainText(timer.message), excerptBytes) };
}

/** `2030-01-31T09:30:00.000Z, in 25m`. */
export function dueWords({ due_at }: TimerPart): string {
  const rest = Date.parse(due_at) - nowMs();
  return rest > 0 ? `${plainText(due_at)}, in ${formatDuration(Math.max(1000, rest))}` : plainText(due_at);
}
