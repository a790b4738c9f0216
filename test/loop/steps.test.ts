/** The unattended loop as a machine (S3.5, S3.15, S3.22, S3.48): what follows on what, with hands that only remember. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fix, GateReport, LoopPart, LoopState } from '../../companion/src/core/job.ts';
import { firstPosition, type Position, positionOf } from '../../companion/src/loop/position.ts';
import {
  advance,
  type GateOutcome,
  type Hands,
  type LoopEnd,
  type StaffOutcome,
} from '../../companion/src/loop/steps.ts';

const loopId = 'loop-mik3x9ab-4f7q2z';
const part: LoopPart = {
  folder: '/w',
  backend: null,
  model: null,
  profile: null,
  judge_backend: null,
  max_iterations: null,
  every_ms: null,
  once: false,
  staff_ms: 1000,
};

interface Script {
  milestones?: string[];
  staff?: Partial<StaffOutcome>[];
  verify?: Fix[][];
  gate?: (Partial<GateReport> | null)[];
  part?: Partial<LoopPart>;
  state?: Partial<LoopState>;
}

const bad: Fix = { check: 'E2', owner: 'developer', what: 'test fails' };

/** Runs to the end; what was done stands in `log`. After each action the position goes through JSON, as it does on disk. */
async function play(script: Script): Promise<{ end: LoopEnd; log: string[]; last: Position }> {
  const log: string[] = [];
  const ids = script.milestones ?? ['m1', 'm2'];
  const state = {
    milestones: ids.map((id) => ({ id, title: id, acceptance: 'x', status: 'pending' })),
    iteration: 0,
    budget: { iterations_max: null, notes: '' },
    current: null,
    stopped: null,
    ...script.state,
  } as unknown as LoopState;
  let staff = 0;
  let gates = 0;
  let checks = 0;
  const hands: Hands = {
    id: loopId,
    state: () => state,
    nowMs: () => 1000,
    brief: (_state, id) => `brief ${id}`,
    async take(milestone) {
      log.push(`take ${milestone}`);
      state.current = { milestone, owner: loopId, started: '', base: null };
    },
    async launchStaff(position) {
      log.push(`${position.step} ${position.milestone} ${position.round}`);
      staff += 1;
      return `implement-mik3x9ab-00000${staff}`;
    },
    async staffEnd(id) {
      return { id, isDone: true, error: null, isCanceled: false, ...script.staff?.[staff - 1] };
    },
    async verify() {
      checks += 1;
      return { fixes: script.verify?.[checks - 1] ?? [], verified: ['tests: passed'] };
    },
    async checkpoint(position) {
      log.push(`checkpoint ${position.milestone}${position.isCommitted ? ' fix' : ''}`);
      if (position.isCommitted) return;
      state.iteration += 1;
      for (const one of state.milestones) if (one.id === position.milestone) one.status = 'done';
      state.current = null;
    },
    async launchJudge() {
      return null;
    },
    async launchGate(position) {
      log.push(`gate ${position.round}`);
      gates += 1;
      return `gate-mik3x9ab-00000${gates}`;
    },
    async gateEnd(id): Promise<GateOutcome> {
      const isOver = state.milestones.every(({ status }) => status === 'done');
      const usual = isOver ? { verdict: 'STOP', reason: 'finished', detail: '' } : { verdict: 'GO', unanswered: [] };
      const said = script.gate?.[gates - 1];
      if (said === null) return { id, report: null, message: 'timed out' };
      return { id, report: { fixes: [], failed_checks: [], ...usual, ...said } as unknown as GateReport, message: '' };
    },
    async stop(reason) {
      log.push(`stop ${reason}`);
    },
    async sleepUntil(ms) {
      log.push(`sleep until ${ms}`);
    },
  };
  let position = firstPosition;
  for (let count = 0; count < 100; count += 1) {
    const next = await advance(position, { ...part, ...script.part }, hands);
    if ('over' in next) return { end: next.over, log, last: position };
    const read = positionOf(JSON.parse(JSON.stringify(next.at)));
    assert.deepEqual(read, next.at, 'what is on disk is what was meant');
    position = next.at;
  }
  throw new Error(`no end: ${log.join(', ')}`);
}

test('each milestone is taken, worked on, verified, committed and judged, until the gate says finished', async () => {
  const { end, log } = await play({});
  assert.equal(end.end, 'done');
  assert.deepEqual(log, [
    ...['take m1', 'execute m1 0', 'checkpoint m1', 'gate 0'],
    ...['take m2', 'execute m2 0', 'checkpoint m2', 'gate 0'],
  ]);
});

test('what verification finds is mended before anything is committed', async () => {
  const { end, log } = await play({ milestones: ['m1'], verify: [[bad], []] });
  assert.equal(end.end, 'done');
  assert.deepEqual(log, ['take m1', 'execute m1 0', 'remediate m1 1', 'checkpoint m1', 'gate 0'].map(withRound(1)));
});

/** The gate of an iteration that was mended carries its round. */
function withRound(round: number): (line: string) => string {
  return (line) => (line === 'gate 0' ? `gate ${round}` : line);
}

test('two rounds of mending; then it stops, commits nothing and says why', async () => {
  const { end, log } = await play({ verify: [[bad], [bad], [bad]] });
  assert.equal(end.error?.code, 'remediation_exhausted');
  assert.match(end.error?.message ?? '', /m1 .*2 rounds: test fails/);
  assert.deepEqual(log, ['take m1', 'execute m1 0', 'remediate m1 1', 'remediate m1 2', 'stop remediation_exhausted']);
});

test('a NO-GO after the checkpoint is mended as a fix of the same iteration', async () => {
  const { end, log } = await play({
    milestones: ['m1'],
    gate: [{ verdict: 'NO-GO', fixes: [bad] }, {}],
  });
  assert.equal(end.end, 'done');
  assert.deepEqual(log, [
    ...['take m1', 'execute m1 0', 'checkpoint m1', 'gate 0'],
    ...['remediate m1 1', 'checkpoint m1 fix', 'gate 1'],
  ]);
});

test('what only a person can mend, and what has no fix, ends the loop', async () => {
  const human: Fix = { check: 'E7', owner: 'human', what: 'decide' };
  for (const fixes of [[human], [], [bad, human]]) {
    const { end } = await play({ gate: [{ verdict: 'NO-GO', fixes, failed_checks: ['E7'] }] });
    assert.equal(end.error?.code, 'nogo');
  }
});

test('no GO counts while a question has no answer', async () => {
  const { end, log } = await play({ gate: [{ verdict: 'GO', unanswered: ['E1', 'E5'] }] });
  assert.equal(end.error?.code, 'nogo');
  assert.match(end.detail, /E1, E5/);
  assert.equal(log.at(-1), 'gate 0');
});

test('each STOP ends it as the gate said', async () => {
  for (const reason of ['iterations_exhausted', 'repeated_failure', 'remediation_exhausted'] as const)
    assert.equal((await play({ gate: [{ verdict: 'STOP', reason, detail: 'x' }] })).end.error?.code, reason);
  for (const reason of ['declared', 'stopped'] as const) {
    const { end } = await play({ gate: [{ verdict: 'STOP', reason, detail: 'x' }] });
    assert.deepEqual([end.end, end.error], ['stopped', null]);
  }
});

test('a gate without a verdict is no GO', async () => {
  const { end } = await play({ gate: [null] });
  assert.equal(end.error?.code, 'nogo');
  assert.match(end.detail, /timed out/);
});

test('a stop that stands in the state ends it before anything is begun', async () => {
  const { end, log } = await play({ state: { stopped: { reason: 'stopped', detail: 'enough', at: '' } } });
  assert.deepEqual([end.end, end.detail, log], ['stopped', 'stopped: enough', []]);
});

test('nothing is begun beyond the budget of the loop, nor beyond that of this run', async () => {
  const budget = { iterations_max: 1, notes: '' };
  const stop = { verdict: 'STOP' as const, reason: 'iterations_exhausted' as const, detail: 'used up' };
  const spent = await play({ state: { budget, iteration: 1 }, gate: [stop] });
  assert.deepEqual([spent.end.error?.code, spent.log], ['iterations_exhausted', ['gate 0']]);
  const own = await play({ part: { max_iterations: 1 } });
  assert.equal(own.end.error?.code, 'iterations_exhausted');
  assert.equal(own.log.filter((line) => line.startsWith('checkpoint')).length, 1);
});

test('--once is exactly one iteration, and done', async () => {
  const { end, log } = await play({ part: { once: true } });
  assert.equal(end.end, 'done');
  assert.deepEqual(log, ['take m1', 'execute m1 0', 'checkpoint m1', 'gate 0']);
});

test('--every counts from the beginning of an iteration', async () => {
  const { log } = await play({ part: { every_ms: 500 } });
  assert.ok(log.includes('sleep until 1500'), log.join(', '));
});

test('an agent that ended early is sent on; one that cannot be helped ends the loop', async () => {
  const early = { isDone: false, error: { code: 'hard_timeout' as const, message: '60m' } };
  assert.deepEqual((await play({ milestones: ['m1'], staff: [early] })).log.slice(1, 3), [
    'execute m1 0',
    'remediate m1 1',
  ]);
  for (const code of ['auth', 'quota'] as const) {
    const { end, log } = await play({ staff: [{ isDone: false, error: { code, message: 'x' } }] });
    assert.deepEqual([end.error?.code, log.length], [code, 2]);
  }
  const canceled = await play({ staff: [{ isDone: false, isCanceled: true }] });
  assert.equal(canceled.end.error?.code, 'nogo');
});

test('a cursor of another form counts as none', () => {
  const good = { ...firstPosition, milestone: 'm1', job: 'implement-mik3x9ab-4f7q2z' };
  assert.deepEqual(positionOf(good), good);
  const others: Record<string, unknown>[] = [
    { step: 'rm' },
    { job: '../../x' },
    { milestone: 'a b' },
    { round: -1 },
    { iteration: 0.5 },
    { jobs: ['x'] },
    { prompt: 3 },
    { isCommitted: 'yes' },
    { verified: [1] },
    { judge: 'x y' },
    { digest: 'no hex' },
  ];
  for (const change of others) assert.equal(positionOf({ ...good, ...change }), undefined, JSON.stringify(change));
});
