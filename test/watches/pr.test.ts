// `watch pr`: merged is met, closed is failed, --mergeable waits for a green merge; a key for every change worth telling.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pr } from '../../companion/src/watches/pr.ts';
import { follow, headB, job, makeDesk, reading, view, workflowRun } from './github-desk.ts';

const words = ['octo/demo#7'];
const green = [job('unit', 'SUCCESS')];
const comment = {
  id: 'IC_1',
  author: { login: 'bob' },
  createdAt: '2025-06-01T11:30:00Z',
  url: 'https://github.com/c1',
};

test('a merge is met, a close without merge is failed, and both are settled', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view() }, { view: view({ state: 'MERGED', mergeable: 'UNKNOWN' }) });
  const [open, merged] = await follow(desk, pr, words, 2);
  assert.deepEqual([open?.verdict, open?.word, open?.isSettled], ['pending', 'open', false]);
  assert.deepEqual([merged?.verdict, merged?.word, merged?.isSettled], ['met', 'merged', true]);
  assert.match(merged?.evidence ?? '', /^octo\/demo#7 merged, /);
  desk.play({ view: view({ state: 'CLOSED' }) });
  const [closed] = await follow(desk, pr, words, 1);
  assert.deepEqual([closed?.verdict, closed?.word, closed?.isSettled], ['failed', 'closed', true]);
});

test('checks, merge, decision, head and activity each make a new key, and the same reading the same one', async (t) => {
  const desk = makeDesk(t);
  const base = { statusCheckRollup: green };
  desk.play(
    { view: view(base), times: 2 },
    { view: view({ ...base, mergeStateStatus: 'BLOCKED' }) },
    { view: view({ ...base, reviewDecision: 'APPROVED' }) },
    { view: view({ ...base, reviewDecision: 'APPROVED', comments: [comment] }), times: 2 },
    { view: view({ comments: [comment], reviewDecision: 'APPROVED', statusCheckRollup: [job('unit', 'FAILURE')] }) },
    { view: view({ comments: [comment], headRefOid: headB }) },
  );
  const looks = await follow(desk, pr, words, 8);
  const isNews = looks.map(({ key }, at) => key !== looks[at - 1]?.key);
  assert.deepEqual(isNews, [true, false, true, true, true, false, true, true]);
  assert.match(looks[2]?.evidence ?? '', /#7 open, blocked, 1 passed$/);
  assert.match(looks[3]?.evidence ?? '', /#7 open, mergeable, approved, 1 passed$/);
  assert.match(looks[4]?.evidence ?? '', /1 new: comment by bob$/);
  assert.deepEqual(looks[4]?.facts.ids, ['comment:IC_1']);
  assert.equal(looks[5]?.facts.ids, undefined);
  assert.match(looks[7]?.evidence ?? '', /head moved from aaaaaaaaaa$/);
});

test('a merge state that GitHub forgets for a while is no news', async (t) => {
  const desk = makeDesk(t);
  const unknown = view({ mergeable: 'UNKNOWN', mergeStateStatus: 'UNKNOWN' });
  desk.play({ view: view() }, { view: unknown }, { view: view() });
  const [before, during, after] = await follow(desk, pr, words, 3);
  assert.equal(before?.key, during?.key);
  assert.equal(before?.key, after?.key);
  assert.equal(during?.facts.merge, 'unknown');
});

const ready: [what: string, change: Record<string, unknown>, says: string, attention: boolean][] = [
  ['green and mergeable', { statusCheckRollup: green }, 'met mergeable', false],
  ['mergeable but still running', { statusCheckRollup: [job('unit', 'QUEUED')] }, 'pending running', false],
  ['mergeable but red', { statusCheckRollup: [job('unit', 'FAILURE')] }, 'pending failed', true],
  ['mergeable with skipped checks only', { statusCheckRollup: [job('unit', 'SKIPPED')] }, 'pending none', true],
  ['green but blocked', { statusCheckRollup: green, mergeStateStatus: 'BLOCKED' }, 'pending blocked', false],
  ['green but in conflict', { statusCheckRollup: green, mergeable: 'CONFLICTING' }, 'pending conflicting', true],
  ['merged already', { state: 'MERGED' }, 'met merged', false],
  ['closed', { state: 'CLOSED', statusCheckRollup: green }, 'failed closed', false],
];

for (const [what, change, says, attention] of ready) {
  test(`--mergeable on a pull request that is ${what} is ${says}`, async (t) => {
    const desk = makeDesk(t);
    desk.play({
      view: view(change),
      runs: [workflowRun(1, 'success')].filter(() => change.statusCheckRollup === green),
    });
    const [look] = await follow(desk, pr, [...words, '--mergeable'], 1);
    assert.deepEqual([`${look?.verdict} ${look?.word}`, look?.needsAttention], [says, attention]);
  });
}

test('--mergeable takes no checks only with --allow-none, and after the grace', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view() });
  const looks = await follow(desk, pr, [...words, '--mergeable', '--allow-none', '--no-checks-grace', '1m'], 2);
  assert.deepEqual(
    looks.map(({ verdict, word }) => `${verdict} ${word}`),
    ['pending not_yet', 'met mergeable'],
  );
});

test('the condition for people says what it waits for', () => {
  assert.equal(reading(pr, ...words).words, 'octo/demo#7 merged');
  assert.equal(reading(pr, '7', '--mergeable').words, '#7 ready to merge');
});
