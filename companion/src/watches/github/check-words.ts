// What GitHub's words for one check mean. It has three sets of them: states of statuses, states and conclusions of check runs, and gh's own
// buckets; each comes in either case.

export type CheckClass = 'passed' | 'skipped' | 'failed' | 'gated' | 'running';

/** `skipped` did not run or judges nothing: it is no failure, and never what makes a verdict green. */
const classes: Record<string, CheckClass> = {
  SUCCESS: 'passed',
  PASS: 'passed',
  SKIPPED: 'skipped',
  SKIPPING: 'skipped',
  NEUTRAL: 'skipped',
  FAILURE: 'failed',
  ERROR: 'failed',
  CANCELLED: 'failed',
  CANCEL: 'failed',
  TIMED_OUT: 'failed',
  STARTUP_FAILURE: 'failed',
  // A person must let it run.
  ACTION_REQUIRED: 'gated',
  WAITING: 'gated',
};

/** A word that nobody knows is not over. */
export function classOf(word: string): CheckClass {
  const known = word.trim().toUpperCase().replace(/[ -]/g, '_');
  if (Object.hasOwn(classes, known)) return classes[known] as CheckClass;
  return known.includes('FAIL') ? 'failed' : 'running';
}

export function isPending(word: string): boolean {
  return ['gated', 'running'].includes(classOf(word));
}
