// Another job of the same state folder: a backstop with a bound of its own, or one wait that several things hang on.

import { seen } from './local.ts';
import type { Input, Watch } from './watch.ts';

export const job = {
  id: 'job',
  summary: 'the end of another job',
  form: 'ID [--any-end]',
  words: { min: 1, max: 1 },
  options: { 'any-end': { kind: 'flag', help: 'every end is what is waited for, not only success' } },
  notes:
    'Met when the job is done; failed when it ended otherwise (with --any-end that is met too). It never touches the other job; one whose worker was lost is looked after as by `wait`.',
  examples: ['watch job run-mik3x9ab-4f7q2z --for 30m', 'watch job run-mik3x9ab-4f7q2z --any-end --for 1d'],
  isRemote: false,

  read(given, place) {
    const id = place.jobId(given.words[0] as string);
    const anyEnd = given.has('any-end');
    return { input: { job: id, any_end: anyEnd }, words: `job ${id}: ${anyEnd ? 'ended' : 'done'}` };
  },

  async look(input, tools) {
    const id = String(input.job);
    const stand = await tools.job(id);
    if (!stand)
      return { kind: 'fault', cause: 'not_found', message: `job ${id} is not there any more (its record was removed)` };
    const { state, code, error } = stand;
    const more = { facts: { job: id, job_state: state, job_exit: code } };
    const evidence = `job ${id} is ${state}${error ? ` (${error})` : ''}`;
    if (!stand.isEnded) return seen('pending', state, evidence, more);
    const isMet = code === 0 || input.any_end === true;
    return { ...seen(isMet ? 'met' : 'failed', state, evidence, more), isSettled: true };
  },

  early: (input: Input, wake, tools) => tools.onJobEnd(String(input.job), wake),
} as const satisfies Watch;
