/** Whose business the jobs of jobs are: of the one that started them while it lives, then of whoever that one belonged to. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Outcome, Spec } from '../../companion/src/core/job.ts';
import { planClean } from '../../companion/src/jobs/clean.ts';
import { whoseJobs } from '../../companion/src/jobs/whose.ts';
import { makeJob, makePlace, makeSpec, makeState } from '../store/job-record.ts';

const idOf = (n: number): string => `run-loyw3v28-${String(n).padStart(6, '0')}`;
type Root = string;

function put(root: Root, n: number, owner: string | null, state: Outcome | 'running' = 'running'): Spec {
  const spec = makeSpec({ id: idOf(n), owner });
  const ended_at = state === 'running' ? null : '2023-11-14T22:14:20.000Z';
  const made = makeState({ id: spec.id, state, ended_at });
  makeJob(root, { spec, state: made, collected: ended_at ? '{}' : undefined }, { id: spec.id, isActive: !ended_at });
  return spec;
}

const place = (t: TestContext): Root => makePlace(t).root;

test('a job of a job is the business of that one while it lives, and then of the owner of that one', (t) => {
  const root = place(t);
  const own = put(root, 1, 'me');
  const ended = put(root, 2, 'me', 'failed');
  const [below, left] = [put(root, 3, own.id), put(root, 4, ended.id)];
  const whose = whoseJobs(root, 'me');
  assert.deepEqual([own, ended, below, left].map(whose), ['own', 'own', 'below', 'own']);
  assert.deepEqual([own, below, left].map(whoseJobs(root, 'you')), ['other', 'other', 'other']);
  assert.deepEqual([own, below, left].map(whoseJobs(root, own.id)), ['other', 'own', 'other']);
  assert.deepEqual([own, below, left].map(whoseJobs(root, null)), ['own', 'own', 'own']);
});

test('over several generations: own when all above have ended, below when one of them lives', (t) => {
  const root = place(t);
  const first = put(root, 1, 'me', 'done');
  const second = put(root, 2, first.id, 'crashed');
  const third = put(root, 3, second.id);
  const fourth = put(root, 4, third.id, 'done');
  const fifth = put(root, 5, fourth.id);
  assert.deepEqual([third, fourth, fifth].map(whoseJobs(root, 'me')), ['own', 'below', 'below']);
});

test('one that started and has no state yet lives', (t) => {
  const root = place(t);
  const spec = makeSpec({ id: idOf(1), owner: 'me' });
  makeJob(root, { spec }, { id: spec.id, isActive: true });
  assert.equal(whoseJobs(root, 'me')(put(root, 2, spec.id)), 'below');
});

test('a ring, a parent that is gone, an owner like an id of elsewhere: of nobody here; an unreadable parent: of everybody', (t) => {
  const root = place(t);
  const ring = [put(root, 1, idOf(2), 'done'), put(root, 2, idOf(1), 'done'), put(root, 3, idOf(3))];
  assert.deepEqual([...ring, put(root, 4, idOf(99))].map(whoseJobs(root, 'me')), Array(4).fill('other'));
  makeJob(root, { spec: '{' }, { id: idOf(5) });
  assert.equal(whoseJobs(root, 'me')(put(root, 6, idOf(5))), 'own');
});

test('a record that says whose a live job is is not removed', async (t) => {
  const root = place(t);
  const parent = put(root, 1, 'me', 'done');
  put(root, 2, put(root, 3, parent.id, 'done').id);
  const stranger = put(root, 4, 'me', 'done');
  const { remove } = await planClean(root, { olderThanMs: 0, keep: 0, includeUncollected: false });
  assert.ok(remove.includes(stranger.id));
  assert.ok(!remove.includes(parent.id) && !remove.includes(idOf(3)), remove.join());
});
