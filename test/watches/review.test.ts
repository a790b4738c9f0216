// `watch review`: the first look is the baseline, each new id is told once, whoever it is by; what comes back from the past is not new.
import assert from 'node:assert/strict';
import test from 'node:test';
import { review } from '../../companion/src/watches/review.ts';
import { follow, makeDesk, reading, view } from './github-desk.ts';

const words = ['octo/demo#7'];

/** Minutes after the hour. */
function at(minute: number): string {
  return new Date(Date.parse('2025-06-01T11:00:00Z') + minute * 60_000).toISOString();
}

function comment(id: number, minute = id, login = 'bob') {
  const url = `https://github.com/octo/demo/pull/7#issuecomment-${id}`;
  return { id: `IC_${id}`, author: { login }, body: 'text', createdAt: at(minute), url };
}

function reviewed(id: number, state: string, minute = id, login = 'ann') {
  return { id: `PRR_${id}`, author: { login }, body: '', submittedAt: at(minute), state };
}

test('the first look is armed with what it saw, and the same again is silent', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view({ comments: [comment(1), comment(2)], reviews: [reviewed(1, 'COMMENTED')] }) });
  const [first, second] = await follow(desk, review, words, 2);
  assert.deepEqual([first?.verdict, first?.word, first?.facts.seen], ['pending', 'armed', 3]);
  assert.equal(first?.evidence, 'octo/demo#7: 3 seen, nothing new');
  assert.equal(first?.key, second?.key);
  assert.equal(desk.calls('run list').length, 0);
});

test('S1.24: an approval, a request for changes and a comment of a bot each wake, and are told once', async (t) => {
  const desk = makeDesk(t);
  const old = [comment(1)];
  const fresh = {
    comments: [...old, comment(5, 5, 'ci[bot]')],
    reviews: [reviewed(2, 'APPROVED'), reviewed(3, 'CHANGES_REQUESTED')],
  };
  desk.play({ view: view({ comments: old }) }, { view: view(fresh), times: 2 });
  const [, second, third] = await follow(desk, review, words, 3);
  assert.deepEqual([second?.verdict, second?.word], ['met', 'new-activity']);
  assert.equal(second?.evidence, 'octo/demo#7: 3 new: approved by ann, changes requested by ann, comment by ci[bot]');
  assert.deepEqual(second?.facts.ids, ['review:PRR_2', 'review:PRR_3', 'comment:IC_5']);
  const [first] = (second?.facts.activity ?? []) as Record<string, unknown>[];
  assert.deepEqual(first, {
    id: 'review:PRR_2',
    kind: 'review',
    actor: 'ann',
    is_bot: null,
    state: 'approved',
    at: at(2),
    url: null,
  });
  assert.deepEqual([third?.verdict, third?.word, third?.key], ['pending', 'armed', second?.key]);
});

test('two batches are two keys', async (t) => {
  const desk = makeDesk(t);
  desk.play(
    { view: view() },
    { view: view({ comments: [comment(1)] }) },
    { view: view({ comments: [comment(1), comment(2)] }) },
  );
  const looks = await follow(desk, review, words, 3);
  assert.deepEqual(
    looks.map(({ word }) => word),
    ['armed', 'new-activity', 'new-activity'],
  );
  assert.equal(new Set(looks.map(({ key }) => key)).size, 3);
});

test('at most ten are named, the rest is counted', async (t) => {
  const desk = makeDesk(t);
  const many = Array.from({ length: 14 }, (_, id) => comment(id + 1));
  desk.play({ view: view() }, { view: view({ comments: many }) });
  const [, look] = await follow(desk, review, words, 2);
  const ids = (look?.facts.ids ?? []) as string[];
  assert.deepEqual([ids.length, ids.at(-1), look?.facts.more], [10, 'comment:IC_14', 4]);
});

test('what fell out of the last fifty is not new when it comes back, known or not', async (t) => {
  const desk = makeDesk(t);
  const many = Array.from({ length: 80 }, (_, id) => comment(id, id));
  // The newest forty are deleted: thirty that were never in the window come into it.
  desk.play(
    { view: view({ comments: many }) },
    { view: view({ comments: many.slice(0, 40) }), times: 2 },
    { view: view({ comments: [...many.slice(0, 40), comment(99, 99)] }) },
  );
  const looks = await follow(desk, review, words, 4);
  assert.deepEqual(
    looks.map(({ word }) => word),
    ['armed', 'armed', 'armed', 'new-activity'],
  );
  assert.deepEqual(looks[3]?.facts.ids, ['comment:IC_99']);
});

test('a watch remembers at most three hundred ids', async (t) => {
  const desk = makeDesk(t);
  const steps = Array.from({ length: 9 }, (_, step) => ({
    view: view({ comments: Array.from({ length: 50 }, (_, id) => comment(step * 50 + id)) }),
  }));
  desk.play(...steps);
  const looks = await follow(desk, review, words, 9);
  const seen = (looks.at(-1)?.cursor.seen ?? {}) as { ids: string[] };
  assert.equal(seen.ids.length, 300);
  assert.equal(seen.ids.at(-1), 'comment:IC_449');
});

test('a review that was not sent yet, an empty author and a comment without id do no harm', async (t) => {
  const desk = makeDesk(t);
  const odd = [{ id: '', createdAt: at(9) }, { id: 'IC_9', author: null, createdAt: 'soon' }, 7, null];
  desk.play({ view: view() }, { view: view({ reviews: [reviewed(1, 'PENDING')], comments: odd }) });
  const [, look] = await follow(desk, review, words, 2);
  assert.equal(look?.evidence, 'octo/demo#7: 1 new: comment by ghost');
});

test('--by wakes for one account only, and what others did meanwhile stays old', async (t) => {
  const desk = makeDesk(t);
  const [bob, eve] = [comment(1), comment(2, 2, 'Eve')];
  desk.play({ view: view() }, { view: view({ comments: [bob] }) }, { view: view({ comments: [bob, eve] }) });
  const looks = await follow(desk, review, [...words, '--by', '@eve'], 3);
  assert.deepEqual(
    looks.map(({ word }) => word),
    ['armed', 'armed', 'new-activity'],
  );
  assert.deepEqual(looks[2]?.facts.ids, ['comment:IC_2']);
  assert.equal(reading(review, ...words, '--by', 'eve').words, 'reviews and comments by eve on octo/demo#7');
});

test('a merge settles it as met, a close as failed, and news beside either is told', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view() }, { view: view({ state: 'MERGED' }) });
  const [, merged] = await follow(desk, review, words, 2);
  assert.deepEqual([merged?.verdict, merged?.word, merged?.isSettled], ['met', 'merged', true]);
  desk.play(
    { view: view() },
    { view: view({ state: 'CLOSED', comments: [comment(1)] }) },
    { view: view({ state: 'CLOSED', comments: [comment(1)] }) },
  );
  const [, news, closed] = await follow(desk, review, words, 3);
  assert.deepEqual([news?.verdict, news?.word, news?.isSettled], ['met', 'new-activity', true]);
  assert.deepEqual([closed?.verdict, closed?.word], ['failed', 'closed']);
});

test('names and words of others are plain text', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view() }, { view: view({ comments: [comment(1, 1, '\u001b[2J\u202eevil\nline')] }) });
  const [, look] = await follow(desk, review, words, 2);
  assert.equal(look?.evidence, 'octo/demo#7: 1 new: comment by evil line');
});
