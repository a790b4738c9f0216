// Claimed tests. Nothing that an agent names is ever run: without a command of the caller's own they are only recorded, with one its exit code
// is the judge.
import type { ClaimResult, Claims, ClaimVerdict } from '../../core/claims.ts';
import { excerpt, plainText } from '../../core/excerpt.ts';
import type { Rerun } from './rerun.ts';

type Judgement = { result: ClaimResult; detail: string };

export function judgeTests({ tests, status }: Claims, rerun: Rerun | null): ClaimVerdict[] {
  const hasFailure = tests.some(({ result }) => result === 'fail');
  const check = rerun ? `${rerun.command} ends with 0` : 'none: no command was named with --rerun';
  const verdicts = tests.map(({ name: title, result }): ClaimVerdict => {
    const claim = `${excerpt(plainText(title).replace(/\s+/g, ' '), 200)}: ${result}`;
    return { kind: 'test', claim, check, ...judgeTest(result, rerun, hasFailure) };
  });
  if (!rerun || tests.length > 0) return verdicts;
  // The caller asked for it: that no test is claimed does not make it pass.
  const otherwise = status === 'done' ? 'contradicted' : 'unverifiable';
  const { isPassed, reason } = rerun;
  const judged: Judgement =
    isPassed === null
      ? { result: 'unverifiable', detail: reason }
      : { result: isPassed ? 'verified' : otherwise, detail: reason };
  return [{ kind: 'test', claim: `no test is claimed, the work is ${status}`, check, ...judged }];
}

function judgeTest(claimed: 'pass' | 'fail' | 'skip', rerun: Rerun | null, hasFailure: boolean): Judgement {
  if (rerun === null) return { result: 'recorded', detail: 'not run again' };
  const { isPassed, reason: detail } = rerun;
  if (claimed === 'skip') return { result: 'recorded', detail: 'said to be skipped' };
  if (isPassed === null) return { result: 'unverifiable', detail };
  if (claimed === 'fail') return { result: isPassed ? 'contradicted' : 'verified', detail };
  if (isPassed) return { result: 'verified', detail };
  // One exit code stands for all of them.
  return hasFailure
    ? { result: 'unverifiable', detail: `${detail}, as the claimed failure makes it` }
    : { result: 'contradicted', detail };
}
