// E2b: no job of the loop is still at work, and none failed since the milestone was begun and was not made good (S3.34). A risky milestone has
// the verdict of a review (S3.47).
import type { Spec } from '../../core/job.ts';
import { quoteWords } from '../../core/shell-words.ts';
import { isEnded } from '../../jobs/view.ts';
import { selfWords } from '../../platform/self.ts';
import { lastDone } from '../files.ts';
import { readFindings } from '../findings.ts';
import { type LoopJob, loopJobs } from '../own-jobs.ts';
import { type Check, fail, pass, skipped } from './check.ts';

export const jobsQuiet: Check = {
  id: 'E2b',
  title: 'jobs of the loop',

  run({ state, place, exclude }) {
    if (!state) return skipped('the state cannot be read');
    const jobs = loopJobs(place, state.since).filter(({ spec }) => !exclude.includes(spec.id));
    const call = (verb: string, id: string) => quoteWords([...selfWords(), verb, id, ...place.root.option]);
    const live = jobs.filter((job) => !job.state || !isEnded(job.state));
    const bad = jobs.filter((job) => isBad(job) && !isMadeGood(job, jobs));
    const faults = [
      ...live.map(({ spec }) => ({
        owner: 'human' as const,
        key: `live ${spec.milestone}`,
        what: `job ${spec.id} of milestone ${spec.milestone} is still live`,
        command: call('wait', spec.id),
      })),
      ...bad.map(({ spec, state: ended }) => ({
        owner: 'developer' as const,
        key: `${spec.verb} ${ended?.error?.code}`,
        what: `job ${spec.id} of milestone ${spec.milestone} ${ended?.state}${ended?.error ? ` (${ended.error.code})` : ''}`,
        command: call('result', spec.id),
      })),
    ];
    const last = lastDone(state);
    // At its own boundary only: once the next milestone is begun, this one was let through.
    if (last?.risk === 'risky' && state.current === null && state.last_iteration === state.iteration) {
      const review = jobs.findLast(
        ({ spec, state: ended }) =>
          spec.staff?.mode === 'review' &&
          spec.milestone === last.id &&
          ended?.state === 'done' &&
          // What was mended after it, it has not seen.
          spec.created_at > (state.fixed ?? ''),
      );
      const verdict = review ? readFindings(place, review.spec.id) : undefined;
      if (!review)
        faults.push({
          owner: 'developer',
          key: 'no review',
          what: `milestone ${last.id} is risky and has no finished review`,
          command: quoteWords([
            ...selfWords(),
            'review',
            '--milestone',
            last.id,
            '--schema',
            '--prompt',
            'Review this milestone.',
            ...place.root.option,
          ]),
        });
      else if (verdict !== 'approve')
        faults.push({
          owner: 'developer',
          key: `review ${verdict}`,
          what: `the review ${review.spec.id} of risky milestone ${last.id} says ${verdict ?? 'nothing that can be read'}`,
          command: call('result', review.spec.id),
        });
    }
    if (faults.length > 0) return fail('E2b', faults);
    return pass(
      jobs.length === 0 ? 'no jobs since the milestone was begun' : `${jobs.length} jobs ended well or were made good`,
    );
  },
};

function isBad({ state }: LoopJob): boolean {
  return state !== null && isEnded(state) && state.state !== 'done';
}

/** A later one of the same milestone that was done: the same command, a continued or restarted job, another attempt of the same kind of staff. */
function isMadeGood({ spec, state }: LoopJob, jobs: readonly LoopJob[]): boolean {
  // Somebody ended it on purpose.
  if (state?.state === 'canceled') return true;
  const isSame = (other: Spec) =>
    other.lineage?.root === (spec.lineage?.root ?? spec.id) ||
    (spec.run
      ? quoteWords(other.run?.argv ?? []) === quoteWords(spec.run.argv)
      : other.kind === spec.kind && other.verb === spec.verb);
  return jobs.some(
    (other) =>
      other.state?.state === 'done' &&
      other.spec.created_at > spec.created_at &&
      other.spec.milestone === spec.milestone &&
      isSame(other.spec),
  );
}
