// How a pull request stands, in our words.
import { type Fields, textOf } from './json.ts';

export type PullState = 'open' | 'merged' | 'closed';
export type MergeWord = 'mergeable' | 'conflicting' | 'blocked' | 'unknown';
export type ReviewDecision = 'approved' | 'changes_requested' | 'review_required' | null;

export function readState(row: Fields): PullState | undefined {
  const word = textOf(row.state).toLowerCase();
  return word === 'open' || word === 'merged' || word === 'closed' ? word : undefined;
}

/** GitHub tells conflicts (`mergeable`) apart from rules that forbid the merge (`mergeStateStatus`); it computes both a while after each push. */
export function readMerge(row: Fields): MergeWord {
  const mergeable = textOf(row.mergeable).toUpperCase();
  const status = textOf(row.mergeStateStatus).toUpperCase();
  if (mergeable === 'CONFLICTING' || status === 'DIRTY') return 'conflicting';
  if (mergeable !== 'MERGEABLE') return 'unknown';
  if (row.isDraft === true || ['BLOCKED', 'BEHIND', 'DRAFT'].includes(status)) return 'blocked';
  // UNSTABLE: a check that nobody requires has not passed.
  return ['', 'CLEAN', 'HAS_HOOKS', 'UNSTABLE'].includes(status) ? 'mergeable' : 'unknown';
}

export function readDecision(row: Fields): ReviewDecision {
  const word = textOf(row.reviewDecision).toLowerCase();
  return word === 'approved' || word === 'changes_requested' || word === 'review_required' ? word : null;
}
