// Did the user's notifier get through? What a reader is told of the newest notice that failed. The journal lies where an agent may write.
import type { JobEvent } from '../core/events.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import { readEvents } from '../store/journal.ts';
import type { View } from './view.ts';

/** Notices stand among the newest events: after each event that wakes, and after the end. */
const eventsBack = 50;
const atMost = 1_000_000;

/** `failed (end: code 9, no route)`; null when the newest one was told, or none was to be. */
export function failedNotice({ spec, state, paths }: View): string | null {
  if (!spec?.notify) return null;
  const { events } = readEvents(paths, Math.max(0, state.seq - eventsBack), atMost);
  const newest = events.findLast((event) => event.type === 'notified');
  return newest && hasFailed(newest) ? wordsOf(newest) : null;
}

function hasFailed({ how, code }: JobEvent): boolean {
  return how !== 'exited' || code !== 0;
}

function wordsOf({ key, how, code, output }: JobEvent): string {
  const what = how === 'exited' ? `code ${String(code)}` : String(how);
  const said = typeof output === 'string' && output.trim() !== '' ? `, ${output}` : '';
  return `failed (${excerpt(
    plainText(`${String(key)}: ${what}${said}`)
      .replace(/\s+/g, ' ')
      .trim(),
    300,
  )})`;
}
