// What the table, the rows, the page and the line of a wait tell of runs, watches and timers, and that a hostile record breaks none of them.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Context } from '../../companion/src/commands/command.ts';
import { lineOf } from '../../companion/src/commands/live-line.ts';
import { parseCommand } from '../../companion/src/commands/parse.ts';
import { status } from '../../companion/src/commands/status.ts';
import type { JobState, Spec } from '../../companion/src/core/job.ts';
import { observation } from '../../companion/src/jobs/observation.ts';
import { inspect } from '../../companion/src/jobs/view.ts';
import { monotonicMs } from '../../companion/src/platform/clock.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState } from '../store/job-record.ts';

const launch = { worker: ownIdentity(), generation: 1 };
const now = () => new Date().toISOString();
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

const checkpoint = {
  n: 3,
  at: now(),
  elapsed_seconds: 180,
  state: 'progressing' as const,
  attention_kind: null,
  phase: 'epoch 3',
  completed: 4,
  total: 10,
  eta_seconds: 240,
  reason: 'completed went from 3 to 4',
  fingerprint: null,
};
const judged = () => makeState({ created_at: now(), started_at: now(), health: 'progressing', checkpoint });
const watch = {
  condition: 'file',
  input: {},
  words: 'file x: exists',
  every_ms: 5000,
  attempt_ms: 1000,
  tolerate: 0,
  repeat: false,
};
const watching = () =>
  makeSpec({ kind: 'watch', verb: 'watch', run: null, watch, deadline_mono_ms: monotonicMs() + 60_000 });
const note = {
  verdict: 'pending' as const,
  word: 'missing',
  evidence: 'x is not there',
  facts: {},
  polls: 7,
  told: 1,
  troubles: 0,
  trouble: null,
};
const timing = (dueMs: number, message = 'look at the build') =>
  makeSpec({
    kind: 'timer',
    verb: 'timer',
    run: null,
    timer: { due_at: inMs(dueMs), message, slot: null, delay_ms: null, durable: true },
  });

async function ask(root: string, words: string[] = [], width = 200) {
  const context = {
    isTerminal: false,
    width,
    screen: null,
    root: () => ({ folder: root, option: [] }),
  } as unknown as Context;
  const { out = '', json } = await status.run(context, parseCommand(status, words));
  return { out: String(out), json: json as { now: string; jobs: Record<string, unknown>[] } };
}

function place(t: TestContext, spec: Spec, state: JobState | object): string {
  const { root } = makePlace(t);
  makeJob(root, { spec, state, launch: spec.timer ? undefined : launch, lease: '{}' }, { isActive: true });
  return root;
}

test('a run shows its bar and what is left; its page says how far it is, and why', async (t) => {
  const root = place(t, makeSpec({ label: 'training' }), judged());
  const [head, row] = (await ask(root)).out.split('\n');
  assert.match(head ?? '', /^ID +STATE +TIME +PROGRESS +ETA /);
  assert.match(row ?? '', / running +\S+ +\[####------\] +40% +(4m|3m59s) .*training$/);
  assert.match((await ask(root, [], 80)).out, /\[##----\] +40%/);
  const page = (await ask(root, [jobId])).out;
  assert.match(page, /^health: +progressing \(completed went from 3 to 4\)$/m);
  assert.match(page, /^progress: +\[####------\] +40%, 4 of 10, epoch 3, ETA \S+ \(checkpoint 3, \ds ago\)$/m);
  assert.match(page, /^now: +20\d\d-/m);
  assert.match(
    lineOf(inspect(root, jobId)),
    /^run-\S+: running, progressing, \S+, \[####------\] +40%, ETA \S+, epoch 3$/,
  );
  const { now: at, jobs } = (await ask(root, ['--json'])).json;
  assert.ok(Date.parse(at) > 0);
  assert.deepEqual(
    [jobs[0]?.health, (jobs[0]?.checkpoint as { completed: number } | undefined)?.completed],
    ['progressing', 4],
  );
});

test('a watch shows its condition and the word of its last look', async (t) => {
  const root = place(t, watching(), makeState({ created_at: now(), watch: note }));
  assert.match((await ask(root)).out, /\[missing\] file x: exists$/m);
  assert.match((await ask(root, [jobId])).out, /^watch: +missing: x is not there$/m);
  const row = (await ask(root, ['--json'])).json.jobs[0];
  assert.deepEqual(row?.watch, {
    condition: 'file',
    words: 'file x: exists',
    verdict: 'pending',
    word: 'missing',
    polls: 7,
  });
});

test('a timer says when it is due, and what for', async (t) => {
  const root = place(t, timing(240_500), makeState({ created_at: now(), started_at: now() }));
  assert.match((await ask(root)).out, /due in (4m|4m1s|3m5\ds): look at the build$/m);
  const { timer } = observation(inspect(root, jobId), { afterSeq: null, root: { folder: root, option: [] } });
  const { due_in_ms, durable } = timer as { due_in_ms: number; durable: boolean };
  assert.ok(due_in_ms > 200_000 && due_in_ms <= 240_500 && durable);
});

test('a hostile record breaks no reader, and nothing of it comes out unbounded or with control sequences', async (t) => {
  const evil = `\x1b[31m\u009b2J\u202e${'"\\'.repeat(20_000)}`;
  const odd = [
    evil,
    5,
    -1,
    1e308,
    null,
    {},
    [evil],
    true,
    {
      n: 1,
      at: now(),
      state: 'attention',
      reason: evil,
      phase: evil,
      completed: 1e308,
      total: 1e-308,
      eta_seconds: -1e308,
    },
  ];
  for (const value of odd) {
    for (const spec of [makeSpec(), watching(), timing(60_000, evil)]) {
      const state = {
        ...makeState({ created_at: now() }),
        checkpoint: value,
        watch: typeof value === 'object' && value ? { ...note, ...value, evidence: evil, word: evil } : value,
      };
      const root = place(t, spec, state);
      const seen = observation(inspect(root, jobId), { afterSeq: null, root: { folder: root, option: [] } });
      assert.ok(Buffer.byteLength(JSON.stringify(seen)) < 8192);
      const texts = [
        JSON.stringify(seen),
        (await ask(root)).out,
        (await ask(root, [], 80)).out,
        (await ask(root, [jobId])).out,
      ];
      texts.push(lineOf(inspect(root, jobId)), JSON.stringify((await ask(root, ['--json'])).json));
      for (const text of texts) {
        assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]|\\u00[01]|NaN|Infinity|undefined/);
        assert.ok(text.length < 12_000, `${text.length} characters`);
      }
    }
  }
});

test('a time that cannot be read is damage, never an age', async (t) => {
  for (const name of ['created_at', 'started_at', 'ended_at']) {
    const { root } = makePlace(t);
    makeJob(root, { spec: makeSpec(), state: { ...makeState({ state: 'done' }), [name]: 'yesterday 1' } });
    const { state, error } = inspect(root, jobId).state;
    assert.deepEqual([state, error?.code], ['failed', 'state_damaged'], name);
    assert.match(error?.message ?? '', new RegExp(`${name} is no instant`));
  }
});
