// A worker writes an event, then the state: whoever is woken between both still gets the job as the event says it is.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { JobEvent, Wake } from '../../companion/src/core/events.ts';
import type { JobState } from '../../companion/src/core/job.ts';
import { observation } from '../../companion/src/jobs/observation.ts';
import { inspect } from '../../companion/src/jobs/view.ts';
import { waitForJobs } from '../../companion/src/jobs/wait.ts';
import { viewAt } from '../../companion/src/jobs/wake-standing.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { jobPaths } from '../../companion/src/store/layout.ts';
import { writeState } from '../../companion/src/store/records.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState } from '../store/job-record.ts';

const judged = {
  n: 7,
  elapsed_seconds: 420,
  state: 'attention',
  attention_kind: 'task_attention',
  phase: 'train',
  completed: 5,
  total: 10,
  eta_seconds: 60,
  reason: 'no observable change',
  fingerprint: 'still',
};
const at = new Date().toISOString();
const eventOf = (type: JobEvent['type'], wake: Wake[], fields: object) =>
  ({ seq: 9, at, job: jobId, owner: null, type, wake, ...fields }) as JobEvent;
const checkpoint = eventOf('checkpoint', ['checkpoint', 'attention'], judged);
const stateAfter = makeState({
  seq: 9,
  health: 'attention',
  attention_kind: 'task_attention',
  checkpoint: { ...judged, at } as JobState['checkpoint'],
});

/** A job of a worker that lives, with the event written and the state not. */
function makePlaceOf(t: TestContext, event: JobEvent, isWatch = false): string {
  const { root } = makePlace(t);
  const worker = ownIdentity();
  const part = { condition: 'cmd', input: {}, words: 'a command', every_ms: 1000, attempt_ms: 1000 };
  const watch = { ...part, tolerate: null, repeat: false };
  makeJob(root, {
    spec: makeSpec(isWatch ? { kind: 'watch', run: null, watch } : {}),
    state: makeState(),
    launch: { worker, generation: 1 },
    worker: { worker, shim: null, child: null, fifo: false, cgroup: null },
    events: `${JSON.stringify(event)}\n`,
  });
  return root;
}

async function documentOf(root: string, timeoutMs = 600_000): Promise<Record<string, unknown>> {
  const { views, woken } = await waitForJobs(root, [jobId], {
    mode: 'all',
    until: ['checkpoint', 'attention', 'news'],
    timeoutMs,
    heartbeatMs: null,
  });
  assert.ok(views[0] && woken);
  return observation(views[0], {
    root: { folder: root, option: [] },
    afterSeq: null,
    waited: { wake: woken, next: '' },
  });
}

const topOf = ({ health, attention_kind, reason }: Record<string, unknown>) => [health, attention_kind, reason];
const alarmed = ['attention', 'task_attention', 'no observable change'];
const never = new AbortController().signal;

test('a state that is written after its event is waited for', async (t) => {
  const root = makePlaceOf(t, checkpoint);
  let looks = 0;
  const view = await viewAt(
    checkpoint,
    async () => {
      looks += 1;
      if (looks === 3) writeState(jobPaths(root, jobId), stateAfter);
      return inspect(root, jobId);
    },
    never,
  );
  assert.deepEqual([looks, view.state], [3, stateAfter]);
});

test('where the state is never written, the event says how the job stands', async (t) => {
  for (const timeoutMs of [600_000, 0]) {
    const document = await documentOf(makePlaceOf(t, checkpoint), timeoutMs);
    assert.deepEqual(topOf(document), alarmed);
    assert.deepEqual(document.checkpoint, { ...judged, at });
  }
});

test('news and trouble of a watch say how it stands too', async (t) => {
  const seen = { verdict: 'pending', word: 'open', evidence: '3 checks are running', n: 2 };
  const news = await documentOf(makePlaceOf(t, eventOf('news', ['news'], seen), true));
  const { word, evidence } = news.watch as Record<string, unknown>;
  assert.deepEqual([news.health, word, evidence], ['unknown', 'open', '3 checks are running']);
  const trouble = { cause: 'x', message: 'no answer', in_a_row: 10, n: 3 };
  const woken = await documentOf(makePlaceOf(t, eventOf('trouble', ['attention'], trouble), true));
  assert.deepEqual(topOf(woken), ['attention', 'task_attention', 'no answer']);
  assert.equal((woken.watch as Record<string, unknown>).troubles, 10);
});

test('what an event holds in place of a judgement is not taken for one', async (t) => {
  const odd = { n: 'x', state: 'splendid', reason: 5 };
  const document = await documentOf(makePlaceOf(t, eventOf('checkpoint', ['checkpoint'], odd)));
  assert.deepEqual([document.health, document.checkpoint], ['unknown', null]);
});

test('whoever ended or was told to stop is not waited for', async (t) => {
  const root = makePlaceOf(t, checkpoint);
  const stop = new AbortController();
  stop.abort();
  let looks = 0;
  const look = async () => {
    looks += 1;
    return inspect(root, jobId);
  };
  await viewAt(checkpoint, look, stop.signal);
  writeState(jobPaths(root, jobId), makeState({ state: 'done', exit_code: 0 }));
  assert.equal((await viewAt(checkpoint, look, never)).state.state, 'done');
  assert.equal(looks, 2);
});
