// How to go on with a job that is done and says itself that the work is not: it asks something, or names what is missing. In its
// conversation where one is known; otherwise the same task once more, and then the answer must lie where the new agent finds it.
import { excerpt, plainText } from '../core/excerpt.ts';
import { isContinuable, isUnfinished } from './continuable.ts';
import { nextCommands } from './next-commands.ts';
import type { View } from './view.ts';

export interface GoingOn {
  next: { continue: string } | { restart: string };
  /** What must be known before; null for a conversation, which is told by its prompt. */
  words: string | null;
}

/** Null for every other job. */
export function goingOn(view: View, option: readonly string[]): GoingOn | null {
  const { id, spec, state, paths } = view;
  if (!isUnfinished(state)) return null;
  if (isContinuable(paths, state)) return { next: { continue: nextCommands.continue(id, option) }, words: null };
  const isAsked = state.warnings.some(({ code }) => code === 'parent_question');
  const what = isAsked ? 'the answer' : 'what is missing';
  const launch = 'into the task of a new launch';
  const where = spec?.handback
    ? `put ${what} into the hand-back folder ${excerpt(plainText(spec.handback.dir), 1000)} first, or ${launch}`
    : `${what} belongs ${launch}`;
  return {
    next: { restart: nextCommands.restart(id, option) },
    words: `it left no conversation to go on in, and a restart gets the same task as before: ${where}`,
  };
}
