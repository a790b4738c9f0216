// Is there a conversation to go on with? An id that we gave to a new conversation counts only when the agent ever said something:
// a program that never started, or ended without a word, has none.
import type { JobState } from '../core/job.ts';
import { readEvents } from '../store/journal.ts';
import type { JobPaths } from '../store/layout.ts';

export function isContinuable(paths: JobPaths, state: JobState): boolean {
  if (!state.conversation || state.error?.code === 'spawn_failed') return false;
  // A record that does not say how much was printed.
  if (state.output === null || state.output.stdout?.bytes > 0) return true;
  return readEvents(paths, 0, 1000).events.some((event) => event.type === 'conversation');
}

/** It is done, and says itself that the work is not: it asks something, or names what is missing. */
export function isUnfinished({ state, warnings }: JobState): boolean {
  return state === 'done' && warnings.some(({ code }) => code === 'parent_question' || code === 'not_finished');
}
