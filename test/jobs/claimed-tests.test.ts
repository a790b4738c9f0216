// Claimed tests are judged by the exit code of the caller's own command, and without one they are only recorded.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Claims } from '../../companion/src/core/claims.ts';
import type { Rerun } from '../../companion/src/jobs/claims/rerun.ts';
import { judgeTests } from '../../companion/src/jobs/claims/tests.ts';

type Result = Claims['tests'][number]['result'];

function judge(results: Result[], isPassed: boolean | null | undefined, status: Claims['status'] = 'done'): string[] {
  const tests = results.map((result) => ({ name: 'one', result, note: null }));
  const rerun = isPassed === undefined ? null : ({ command: 'make test', isPassed, reason: 'it ended' } as Rerun);
  return judgeTests({ tests, status } as Claims, rerun).map(({ result }) => result);
}

const cases: [claimed: Result[], rerun: boolean | null | undefined, judged: string[]][] = [
  [['pass', 'fail', 'skip'], undefined, ['recorded', 'recorded', 'recorded']],
  [['pass', 'skip'], true, ['verified', 'recorded']],
  [['pass', 'fail'], true, ['verified', 'contradicted']],
  [['pass', 'pass'], false, ['contradicted', 'contradicted']],
  [['pass', 'fail'], false, ['unverifiable', 'verified']],
  [['pass', 'fail', 'skip'], null, ['unverifiable', 'unverifiable', 'recorded']],
  [[], undefined, []],
  [[], true, ['verified']],
  [[], false, ['contradicted']],
  [[], null, ['unverifiable']],
];
for (const [claimed, rerun, judged] of cases) {
  test(`claims ${JSON.stringify(claimed)} with a rerun that says ${rerun} are ${JSON.stringify(judged)}`, () => {
    assert.deepEqual(judge(claimed, rerun), judged);
  });
}

test('of work that is said to be partial a failing command contradicts nothing, and is not passed over', () => {
  assert.deepEqual(judge([], false, 'partial'), ['unverifiable']);
});
