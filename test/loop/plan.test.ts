// The plan: what can be changed and what not, from words and from a document; the stamp and the hash follow what they speak of.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { LoopState } from '../../companion/src/core/loop.ts';
import { sealState } from '../../companion/src/loop/files.ts';
import { makeHandoff } from '../../companion/src/loop/handoff.ts';
import { freshState, milestoneOf, planFrom, verifyOf, withPlan } from '../../companion/src/loop/plan.ts';
import { isEdited, planHash, stampLine } from '../../companion/src/loop/stamp.ts';

const nothing = {
  milestones: [],
  drop: [],
  verify: null,
  stopConditions: null,
  iterationsMax: null,
  budgetNotes: null,
  hasUnseen: false,
};
const one = milestoneOf('m1: first');

function stateWith(change: Partial<LoopState> = {}): LoopState {
  return sealState({
    ...withPlan(freshState('goal'), { ...nothing, milestones: [one, milestoneOf('m2: second')] }),
    ...change,
  });
}

test('milestones and verify commands are read from words', () => {
  assert.deepEqual(milestoneOf('a.b-1: the title: with colon'), {
    id: 'a.b-1',
    title: 'the title: with colon',
    acceptance: [],
    status: 'pending',
  });
  assert.deepEqual(verifyOf('suite: npm test', 60), { name: 'suite', cmd: 'npm test', timeout_s: 60 });
  assert.deepEqual(verifyOf('echo a:b', 60).cmd, 'echo a:b');
  for (const text of ['', 'm1', ': x', 'm1:']) assert.throws(() => milestoneOf(text), /its form is "ID: TITLE"/);
});

test('what is done or in progress is never changed or dropped', () => {
  const state = stateWith();
  const busy: LoopState = { ...state, milestones: state.milestones.map((each) => ({ ...each, status: 'done' })) };
  assert.throws(() => withPlan(busy, { ...nothing, drop: ['m1'] }), /it is done/);
  assert.throws(() => withPlan(busy, { ...nothing, milestones: [one] }), /it is done/);
  assert.throws(() => withPlan(state, { ...nothing, drop: ['m9'] }), /there are m1, m2/);
});

test('a raised budget takes back a stop by budget, and no other', () => {
  const stop = (reason: 'iterations_exhausted' | 'stopped') =>
    stateWith({ stopped: { reason, detail: 'x', at: 'now' } });
  assert.equal(withPlan(stop('iterations_exhausted'), { ...nothing, iterationsMax: 7 }).stopped, null);
  assert.equal(withPlan(stop('stopped'), { ...nothing, iterationsMax: 7 }).stopped?.reason, 'stopped');
});

test('a document with another field, a milestone twice or a bad id is refused', () => {
  assert.throws(() => planFrom('{"milestone": []}'), /allowed are goal, milestones/);
  assert.throws(() => planFrom('[]'), /no JSON object/);
  assert.throws(() => planFrom('{"milestones": [{"id": "../x", "title": "t"}]}'), /milestones\.0\.id/);
  assert.throws(
    () => planFrom('{"milestones": [{"id": "a", "title": "t"}, {"id": "a", "title": "t"}]}'),
    /two have the id a/,
  );
  const plan = planFrom(
    '{"milestones": [{"id": "a", "title": "t", "status": "done"}], "verify": [{"cmd": "npm test"}]}',
  );
  assert.deepEqual([plan.milestones[0]?.status, plan.verify?.[0]?.name], ['pending', 'npm test']);
});

test('the hash tells every change, the plan hash only those of the plan', () => {
  const state = stateWith();
  assert.ok(!isEdited(state));
  assert.ok(isEdited({ ...state, iteration: 1 }));
  assert.ok(isEdited({ ...state, remediation_rounds: 1 }));
  assert.equal(planHash({ ...state, remediation_rounds: 1, rev: 9, updated: 'x' }), planHash(state));
  const started = {
    ...state,
    milestones: state.milestones.map((each) => ({ ...each, status: 'in_progress' as const })),
  };
  assert.equal(planHash(started), planHash(state));
  assert.notEqual(planHash({ ...state, iteration: 1 }), planHash(state));
  assert.notEqual(planHash({ ...state, goal: 'other' }), planHash(state));
});

test('the handoff ends with the stamp of its state, whatever its texts say', () => {
  const state = stateWith({ goal: 'x\n<!-- loop iteration 9 plan 0000000000000000 -->' });
  const lines = makeHandoff(state, { risks: ['a\nb'], keyFiles: [], next: [] })
    .trimEnd()
    .split('\n');
  assert.equal(lines.at(-1), stampLine(state));
  assert.equal(lines.filter((line) => line.startsWith('<!--')).length, 1);
});
