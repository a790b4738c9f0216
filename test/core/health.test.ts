// The judgement of a run at an interval: every row of its table, what holds together, the estimate, and that one cause wakes once.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Activity } from '../../companion/src/core/activity.ts';
import { freshMemory, type HealthMemory, type Judgement, judgeHealth } from '../../companion/src/core/health.ts';
import { type ProbeAnswer, type ProbeReading, parseProbe } from '../../companion/src/core/probe-answer.ts';

const hour = 3_600_000;
const asleep: Activity = {
  spanMs: hour,
  cpuMs: 0,
  hasOutput: false,
  outputBytes: 0,
  hasLog: false,
  descendants: 0,
  changed: [],
};
const waiting: Activity = { ...asleep, descendants: 3 };
const busy: Activity = { ...asleep, cpuMs: hour / 2 };
const talking: Activity = { ...asleep, hasOutput: true, outputBytes: 2048 };
const moved: Activity = { ...asleep, changed: ['/w/out.bin'] };
const nothingSaid: ProbeReading = {
  kind: 'ok',
  status: null,
  phase: null,
  completed: null,
  total: null,
  etaSeconds: null,
  message: null,
};
const says = (fields: Partial<ProbeReading>): ProbeReading => ({ ...nothingSaid, ...fields });
const at = (completed: number, total = 10): ProbeReading => says({ completed, total });
const broken: ProbeAnswer = { kind: 'trouble', why: 'the probe took longer than 30s' };

interface Step {
  activity?: Activity;
  probe?: ProbeAnswer | null;
}

/** One checkpoint an hour. */
function judgeAll(
  steps: Step[],
  { expectMs = null as number | null, memory = freshMemory as HealthMemory } = {},
): Judgement[] {
  let before = memory;
  return steps.map(({ activity = asleep, probe = null }, index) => {
    const n = index + 1;
    const iso = new Date(n * hour).toISOString();
    const seen = { n, at: iso, elapsedMs: n * hour, expectMs, everyMs: hour, probe, activity };
    const judgement = judgeHealth(before, seen);
    before = judgement.memory;
    return judgement;
  });
}

const states = (judged: Judgement[]) => judged.map(({ checkpoint }) => checkpoint.state);
const last = (judged: Judgement[]) => (judged.at(-1) as Judgement).checkpoint;
const news = (judged: Judgement[]) => judged.map(({ isNews }) => isNews);

test('row 1: a probe that reports failure is a cause for attention', () => {
  const { state, attention_kind, reason, fingerprint } = last(
    judgeAll([{ probe: says({ status: 'Failed', phase: 'train', message: 'NaN loss' }), activity: busy }]),
  );
  assert.deepEqual([state, attention_kind], ['attention', 'task_attention']);
  assert.equal(reason, 'the probe reports failure (status "Failed", phase "train", "NaN loss")');
  assert.match(fingerprint ?? '', /^probe_failed@[0-9a-f]{8}$/);
});

test('row 2: more time than expected is a cause for attention, also while it advances', () => {
  const judged = judgeAll([{ probe: at(1) }, { probe: at(2) }, { probe: at(3) }], { expectMs: 2 * hour });
  assert.deepEqual(states(judged), ['unknown', 'progressing', 'attention']);
  assert.equal(last(judged).fingerprint, 'over_expected');
  assert.match(
    last(judged).reason,
    /^over the expected duration of 2h: it runs for 3h \(meanwhile: completed went from 2 to 3 of 10\)$/,
  );
  assert.equal(last(judged).eta_seconds, 7 * 3600);
});

test('row 3: an advance, another phase or a changed result path is progress, and the reason says which', () => {
  assert.match(last(judgeAll([{ probe: at(1) }, { probe: at(2) }])).reason, /^completed went from 1 to 2 of 10$/);
  const phases = judgeAll([{ probe: says({ phase: 'load' }) }, { probe: says({ phase: 'train' }) }]);
  assert.deepEqual(states(phases), ['unknown', 'progressing']);
  assert.match(last(phases).reason, /phase changed from "load" to "train"/);
  const files = judgeAll([{ activity: { ...asleep, changed: ['/w/a', '/w/b'] } }]);
  assert.deepEqual([states(files), last(files).reason], [['progressing'], '/w/a and 1 more changed']);
  for (const { attention_kind, fingerprint } of [last(phases), last(files)])
    assert.deepEqual([attention_kind, fingerprint], [null, null]);
});

test('row 3: growth of output or log, CPU and life are no progress and no completion', () => {
  for (const activity of [busy, talking, waiting, { ...asleep, hasLog: true }])
    assert.deepEqual(states(judgeAll([{ activity }])), ['unknown']);
  const done = judgeAll([{ probe: says({ status: 'done', completed: 10, total: 10 }) }]);
  assert.deepEqual(states(done), ['unknown']);
});

test('row 4: asleep with nobody below it for two checkpoints is a dead wait', () => {
  const judged = judgeAll([{}, {}]);
  assert.deepEqual(states(judged), ['unknown', 'attention']);
  assert.match(last(judged).reason, /^dead_wait: for 2 checkpoints in a row no observable change, no CPU/);
  assert.equal(last(judged).fingerprint, 'dead_wait+no_change@0');
});

test('row 4: asleep with descendants is a wait, and says with how many', () => {
  const judged = judgeAll([{ activity: waiting }, { activity: waiting }]);
  assert.deepEqual(states(judged), ['unknown', 'attention']);
  assert.match(last(judged).reason, /^no observable change .*asleep with 3 descendants$/);
  assert.equal(last(judged).fingerprint, 'no_change@0');
});

test('row 4: work in one of the two intervals is work', () => {
  assert.deepEqual(states(judgeAll([{ activity: busy }, {}, {}])), ['unknown', 'unknown', 'attention']);
  assert.deepEqual(states(judgeAll([{ activity: talking }, {}, {}])), ['unknown', 'unknown', 'attention']);
});

test('row 4: a job that works in silence is not called still, and its figures are told', () => {
  const judged = judgeAll([{ activity: busy }, { activity: busy }, { activity: busy }]);
  assert.deepEqual(states(judged), ['unknown', 'unknown', 'unknown']);
  assert.match(last(judged).reason, /^not enough evidence: .*1h of CPU \(50%\)/);
  assert.match(last(judgeAll([{ activity: talking }, { activity: talking }])).reason, /4\.0 KiB of output/);
});

test('row 4: work does not help when the numbers of a good probe stand still for two checkpoints', () => {
  const still = { probe: at(5), activity: busy };
  const judged = judgeAll([still, still, still]);
  assert.deepEqual(states(judged), ['unknown', 'unknown', 'attention']);
  assert.match(last(judged).reason, /^no observable change by the probe .*\(5 of 10\), but it works \(.*50%/);
});

test('row 4: a probe that tells no numbers and no phase does not judge a working job', () => {
  const chat = { probe: says({ message: 'hello' }), activity: busy };
  const judged = judgeAll([chat, chat, chat, chat]);
  assert.deepEqual(states(judged), ['unknown', 'unknown', 'unknown', 'unknown']);
  assert.match(last(judged).reason, /the probe says "hello"/);
});

test('row 4: where CPU cannot be told no dead wait is claimed', () => {
  const blind = { activity: { ...asleep, cpuMs: null } };
  const judged = judgeAll([blind, blind, blind]);
  assert.deepEqual(states(judged), ['unknown', 'unknown', 'unknown']);
  assert.match(last(judged).reason, /CPU not known/);
});

test('row 4: an interval of which only a part was seen is no evidence', () => {
  const part = { activity: { ...asleep, spanMs: hour / 10 } };
  assert.deepEqual(states(judgeAll([part, part, part, {}, {}])), [
    'unknown',
    'unknown',
    'unknown',
    'unknown',
    'attention',
  ]);
});

test('row 5: a first interval without a change is unknown, and so is the first answer of a probe', () => {
  assert.match(last(judgeAll([{}])).reason, /^not enough evidence: no CPU, no output, no descendants$/);
  const first = last(judgeAll([{ probe: at(4) }]));
  assert.match(first.reason, /^not enough evidence: first answer of the probe, 4 of 10/);
  assert.deepEqual([first.completed, first.total, first.eta_seconds], [4, 10, null]);
});

test('row 5: trouble with the probe makes its checkpoint unknown and is named; other causes count', () => {
  const judged = judgeAll([{ probe: broken }, { probe: broken }]);
  assert.deepEqual(states(judged), ['unknown', 'unknown']);
  assert.match(last(judged).reason, /the probe took longer than 30s$/);
  assert.deepEqual(states(judgeAll([{ probe: broken }], { expectMs: 1 })), ['attention']);
  const files = judgeAll([{ probe: broken, activity: moved }]);
  assert.deepEqual(states(files), ['progressing']);
  assert.match(last(files).reason, /^\/w\/out\.bin changed; the probe took longer than 30s$/);
});

test('an answer in which nothing is known is trouble like any other: unknown twice, then it hides no dead wait', () => {
  const bounds = { timeoutMs: 30_000, bytes: 65_536 };
  const steps = [1, 2, 3].map((step) => ({
    probe: parseProbe({ how: 'exited', code: 0, reason: null, stdout: JSON.stringify({ step }), stderr: '' }, bounds),
  }));
  const judged = judgeAll(steps);
  assert.deepEqual(states(judged), ['unknown', 'unknown', 'attention']);
  for (const { checkpoint } of judged) assert.match(checkpoint.reason, /; the probe printed none of .*it has: step\)$/);
});

test('what a good probe has in vain stands in the reason', () => {
  const note = 'the probe printed total without completed';
  assert.match(last(judgeAll([{ probe: says({ total: 10, phase: 'a', note }) }])).reason, new RegExp(`; ${note}$`));
});

test('a probe that is always in trouble does not hide a dead wait', () => {
  const judged = judgeAll([{ probe: broken }, { probe: broken }, { probe: broken }]);
  assert.deepEqual(states(judged), ['unknown', 'unknown', 'attention']);
  assert.match(last(judged).reason, /^dead_wait: .*; the probe took longer than 30s$/);
});

test('after trouble the next good answer is compared with the last good one', () => {
  const judged = judgeAll([{ probe: at(1) }, { probe: broken }, { probe: at(3) }]);
  assert.deepEqual(states(judged), ['unknown', 'unknown', 'progressing']);
  assert.equal(last(judged).eta_seconds, 7 * 3600);
});

test('numbers that go back are no advance, and are told', () => {
  const judged = judgeAll([{ probe: at(9) }, { probe: at(2), activity: busy }, { probe: at(3) }]);
  assert.deepEqual(states(judged), ['unknown', 'unknown', 'progressing']);
  assert.match(judged[1]?.checkpoint.reason ?? '', /^completed went back from 9 to 2/);
  assert.equal(judged[1]?.checkpoint.eta_seconds, null);
});

test('causes hold together: each is named, in the reason and in the fingerprint', () => {
  const judged = judgeAll([{}, { probe: says({ status: 'error' }) }], { expectMs: hour });
  const { reason, fingerprint } = last(judged);
  assert.match(reason, /^dead_wait: .*; the probe reports failure .*; over the expected duration/);
  assert.match(fingerprint ?? '', /^dead_wait\+no_change@0\+over_expected\+probe_failed@[0-9a-f]{8}$/);
});

test('one cause wakes once; a new one beside it wakes again; one that goes away does not', () => {
  const judged = judgeAll([{}, {}, {}, {}, { activity: moved }, {}, {}, {}], { expectMs: 3 * hour });
  assert.deepEqual(states(judged), [
    'unknown',
    ...['attention', 'attention'],
    'attention',
    ...['attention', 'attention', 'attention', 'attention'],
  ]);
  //                            dead        over         over alone    dead again
  assert.deepEqual(news(judged), [false, true, false, true, false, false, true, false]);
  assert.equal(judged[4]?.checkpoint.fingerprint, 'over_expected');
  assert.equal(last(judged).fingerprint, 'dead_wait+no_change@5+over_expected');
});

test('a still job that works for one interval without a change is in the same episode', () => {
  const judged = judgeAll([{}, {}, { activity: busy }, {}, {}]);
  assert.deepEqual(states(judged), ['unknown', 'attention', 'unknown', 'unknown', 'attention']);
  assert.deepEqual(news(judged), [false, true, false, false, false]);
});

test('a wait that becomes a dead wait wakes again', () => {
  const judged = judgeAll([{ activity: waiting }, { activity: waiting }, {}, {}]);
  assert.deepEqual(news(judged), [false, true, false, true]);
  assert.equal(last(judged).fingerprint, 'dead_wait+no_change@0');
});

test('a change ends the episode: afterwards a dead wait is news again, also when a wait was told before it', () => {
  const still = { activity: waiting };
  const judged = judgeAll([{}, {}, { activity: moved }, still, still, {}, {}]);
  assert.deepEqual(news(judged), [false, true, false, false, true, false, true]);
});

test('a failure in another phase is another cause; a probe that is well again ends the first', () => {
  const fails = (phase: string) => ({ probe: says({ status: 'failed', phase }), activity: busy });
  const judged = judgeAll([fails('a'), fails('a'), fails('b'), { probe: says({ phase: 'b' }) }, fails('b')]);
  assert.deepEqual(news(judged), [true, false, true, false, true]);
});

test('trouble of the probe ends no failure that it reported', () => {
  const fails = { probe: says({ status: 'failed' }), activity: busy };
  assert.deepEqual(news(judgeAll([fails, { probe: broken, activity: busy }, fails])), [true, false, false]);
});

test('the estimate is the own of the probe, else from two advancing checkpoints, else null', () => {
  const second = (n: number, probe: ProbeAnswer) => ({
    ...{ n, at: '', elapsedMs: n * 1000, expectMs: null, everyMs: 1000, probe, activity: { ...asleep, spanMs: 1000 } },
  });
  const one = judgeHealth(freshMemory, second(1, at(10, 100)));
  assert.equal(one.checkpoint.eta_seconds, null);
  const two = judgeHealth(one.memory, second(2, at(20, 100)));
  assert.equal(two.checkpoint.eta_seconds, 8);
  assert.equal(judgeHealth(two.memory, second(3, at(20, 100))).checkpoint.eta_seconds, null);
  assert.equal(judgeHealth(two.memory, second(3, at(100, 100))).checkpoint.eta_seconds, 0);
  assert.equal(judgeHealth(two.memory, second(3, says({ completed: 30 }))).checkpoint.eta_seconds, null);
  assert.equal(judgeHealth(two.memory, second(3, { ...at(30, 100), etaSeconds: 99 })).checkpoint.eta_seconds, 99);
  // Another phase with another total counts something else.
  assert.equal(
    judgeHealth(two.memory, second(3, says({ phase: 'b', completed: 30, total: 50 }))).checkpoint.eta_seconds,
    null,
  );
});

test('the estimate is never negative and never endless, whatever a probe says', () => {
  const values = [0, 1e-300, 0.1, 1, 7, 1e6, Number.MAX_SAFE_INTEGER];
  for (const before of values)
    for (const now of values)
      for (const total of values) {
        const judged = judgeAll([{ probe: at(before, total) }, { probe: at(now, total) }]);
        const eta = last(judged).eta_seconds;
        assert.ok(eta === null || (Number.isSafeInteger(eta) && eta >= 0), `${before} ${now} ${total}: ${eta}`);
      }
});

test('after another worker took over, its first checkpoint compares with nothing, and the told causes stay told', () => {
  const memory = { ...freshMemory, n: 4, since: 2, told: ['dead_wait', 'no_change@2'] };
  const judged = judgeAll([{ probe: at(5) }, { probe: at(5) }], { memory });
  assert.deepEqual(states(judged), ['unknown', 'attention']);
  assert.deepEqual(news(judged), [false, false]);
});

test('a reason is one bounded line, whatever the probe and the paths are', () => {
  const long = 'x'.repeat(100);
  const step = {
    probe: says({ status: 'failed', phase: long, message: long }),
    activity: { ...asleep, changed: [`/${'p'.repeat(4000)}`, '/b'] },
  };
  const { reason } = last(judgeAll([step], { expectMs: 1 }));
  assert.ok(Buffer.byteLength(reason) <= 600, String(reason.length));
  assert.doesNotMatch(reason, /\n/);
});

test('over random sequences every checkpoint is well formed, and nothing asks for an end', () => {
  let seed = 11;
  const pick = <T>(values: readonly T[]): T => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return values[Math.floor((seed / 2 ** 31) * values.length)] as T;
  };
  const activities = [asleep, waiting, busy, talking, moved, { ...asleep, cpuMs: null }, { ...asleep, spanMs: 5 }];
  const answers = [
    null,
    broken,
    at(1),
    at(5),
    at(9, 20),
    says({ phase: 'a' }),
    says({ status: 'failed' }),
    nothingSaid,
  ];
  for (let round = 0; round < 200; round += 1) {
    const steps = Array.from({ length: 30 }, () => ({ activity: pick(activities), probe: pick(answers) }));
    for (const judgement of judgeAll(steps, { expectMs: pick([null, 5 * hour]) })) {
      const { state, attention_kind, fingerprint, reason } = judgement.checkpoint;
      assert.equal(attention_kind, state === 'attention' ? 'task_attention' : null);
      assert.equal(fingerprint === null, state !== 'attention');
      assert.ok(reason.length > 0 && ['progressing', 'unknown', 'attention'].includes(state));
      assert.ok(!judgement.isNews || state === 'attention');
      // A judgement is words only.
      assert.deepEqual(Object.keys(judgement).sort(), ['checkpoint', 'isNews', 'memory']);
    }
  }
});
