// What observe tells: bounded in every state, without control sequences, without report text, and with a cursor that loses nothing.
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { appendFileSync, utimesSync, writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { observation } from '../../companion/src/jobs/observation.ts';
import { inspect } from '../../companion/src/jobs/view.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import type { StateRoot } from '../../companion/src/store/layout.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState, staffChange } from '../store/job-record.ts';

const limit = 8 * 1024;
const launch = { worker: ownIdentity(), generation: 1 };
type Files = Parameters<typeof makeJob>[1];

function observe(root: string, afterSeq: number | null = null): Record<string, unknown> {
  const state: StateRoot = { folder: root, option: [] };
  return observation(inspect(root, jobId), { afterSeq, root: state });
}

/** As it is printed. */
const sizeOf = (document: unknown) => Buffer.byteLength(JSON.stringify(document)) + 1;

function observeJob(t: TestContext, files: Files): Record<string, unknown> {
  const { root } = makePlace(t);
  makeJob(root, files);
  return observe(root);
}

const progressOf = (document: Record<string, unknown>) => document.progress as Record<string, unknown>;
const event = (seq: number, fields: object = {}) =>
  `${JSON.stringify({ seq, at: 'x', job: jobId, owner: null, type: 'tool', ...fields })}\n`;
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const seqsOf = (document: Record<string, unknown>) => (document.events as { seq: number }[]).map(({ seq }) => seq);

test('a running job shows its progress: bytes, ages and the plain end of its output', (t) => {
  const output = `${'old line\n'.repeat(1000)}\x1b[31mred\x1b[0m \x1b]0;title\x07\u202eend`;
  const document = observeJob(t, { spec: makeSpec(), state: makeState(), launch, output, error: '' });
  assert.deepEqual(
    [document.id, document.state, document.supervision, document.health],
    [jobId, 'running', 'supervised', 'unknown'],
  );
  const progress = progressOf(document);
  assert.equal(progress.stdout_bytes, Buffer.byteLength(output));
  assert.equal(progress.stderr_bytes, 0);
  assert.equal(progress.text_truncated, true);
  const text = progress.text as string;
  assert.ok(text.endsWith('old line\nred end'));
  assert.ok(Buffer.byteLength(text) <= 1700);
  assert.match(JSON.stringify(document.next), / wait run-.* cancel run-/);
});

test('short output is whole, and no output is none', (t) => {
  const short = progressOf(observeJob(t, { spec: makeSpec(), state: makeState(), launch, output: 'all\n' }));
  assert.deepEqual([short.text, short.text_truncated], ['all\n', false]);
  const none = progressOf(observeJob(t, { spec: makeSpec(), state: makeState(), launch }));
  assert.deepEqual(
    [none.text, none.text_truncated, none.last_output_at, none.last_output_age_ms],
    ['', false, null, null],
  );
});

test('times are whole milliseconds', (t) => {
  const document = observeJob(t, { spec: makeSpec(), state: makeState(), launch, output: 'x' });
  const age = progressOf(document).last_output_age_ms;
  assert.ok(Number.isInteger(age), String(age));
});

test('a staff job shows the snapshot that its worker wrote', (t) => {
  const snapshot = { at: 'x', tools: [{ n: 1, name: 'ls' }], text: 'thinking', text_truncated: false };
  const document = observeJob(t, {
    spec: makeSpec(staffChange),
    state: makeState(),
    launch,
    output: '{"secret":"stream"}',
    snapshot,
  });
  assert.deepEqual([progressOf(document).text, progressOf(document).tools], ['thinking', [{ n: 1, name: 'ls' }]]);
  assert.doesNotMatch(JSON.stringify(document), /secret/);
});

test('an ended job shows its record and where things are, and no text of it', (t) => {
  const state = makeState({
    state: 'failed',
    error: { code: 'exit_nonzero', message: 'the command exited with code 7' },
    exit_code: 7,
  });
  const document = observeJob(t, {
    spec: makeSpec(),
    state,
    output: 'output text',
    result: 'report text',
    resultRecord: {},
  });
  assert.equal(document.progress, undefined);
  assert.deepEqual([document.state, document.exit_code, document.supervision], ['failed', 7, 'ended']);
  assert.doesNotMatch(JSON.stringify(document), /report text|output text/);
  assert.deepEqual(Object.keys(document.next as object), ['result', 'restart']);
});

test('of an ended job only files that are there are named, of a live one where they will be', (t) => {
  const filesOf = (files: Files) =>
    Object.entries(observeJob(t, files).files as Record<string, string | null>)
      .filter(([, file]) => file !== null)
      .map(([name]) => name);
  const state = makeState({ state: 'done' });
  const spec = makeSpec(staffChange);
  assert.deepEqual(filesOf({ spec, state, result: 'x', error: '', events: '' }), ['result', 'error', 'events']);
  const all = ['result', 'output', 'error', 'events', 'worker_log'];
  assert.deepEqual(filesOf({ spec, state: makeState(), launch }), all);
});

test('an agent whose stream moved within the last minute is progressing; a command and a silent agent are not', (t) => {
  const { root } = makePlace(t);
  const healthOf = (files: Files, ageMs = 0) => {
    const paths = makeJob(root, { spec: makeSpec(staffChange), state: makeState(), launch, ...files });
    const at = (Date.now() - ageMs) / 1000;
    utimesSync(paths.output, at, at);
    const { health, attention_kind } = observe(root);
    assert.equal(attention_kind, null);
    return health;
  };
  assert.equal(healthOf({ output: '{}' }), 'progressing');
  assert.equal(healthOf({ output: '{}' }, 61_000), 'unknown');
  assert.equal(healthOf({ output: '' }), 'unknown');
  assert.equal(healthOf({ output: '{}', spec: makeSpec() }), 'unknown');
  assert.equal(healthOf({ output: '{}', state: makeState({ state: 'starting' }) }), 'unknown');
  assert.equal(healthOf({ output: '{}', state: makeState({ state: 'done' }) }), 'unknown');
});

test('a program of your own shows the end of its output', (t) => {
  const custom = { name: 'mine', argv: ['x'], prompt: 'stdin' as const };
  const spec = makeSpec({ ...staffChange, staff: { ...staffChange.staff!, backend: 'custom', custom } });
  const snapshot = { tools: [], text: '', text_truncated: false };
  const document = observeJob(t, { spec, state: makeState(), launch, output: 'so far', snapshot });
  assert.deepEqual([document.backend, document.profile, progressOf(document).text], ['mine', 'standard', 'so far']);
});

test('the next command fits the end: result for done, continue where there is a conversation, doctor for damage', (t) => {
  const nextOf = (files: Files) => Object.keys(observeJob(t, files).next as object);
  const conversation = { backend: 'codex', id: 'c-1' };
  const spec = makeSpec(staffChange);
  assert.deepEqual(nextOf({ spec, state: makeState({ state: 'done', conversation }) }), ['result']);
  assert.deepEqual(nextOf({ spec, state: makeState({ state: 'crashed', conversation }) }), [
    'result',
    'continue',
    'restart',
  ]);
  // An id of ours that the agent never took up.
  const note = { bytes: 0, omitted: 0, exact: true };
  const silent = makeState({ state: 'failed', conversation, output: { stdout: note, stderr: note } });
  assert.deepEqual(nextOf({ spec, state: silent }), ['result', 'restart']);
  assert.deepEqual(nextOf({ spec: '{', state: makeState() }), ['doctor']);
  assert.deepEqual(nextOf({ spec, state: makeState(), launch }), ['wait', 'cancel']);
});

test('a lost worker is attention, with the reason', (t) => {
  const dead = { ...ownIdentity(), start_token: '1' };
  const document = observeJob(t, { spec: makeSpec(), state: makeState(), launch: { worker: dead, generation: 1 } });
  assert.deepEqual(
    [document.health, document.attention_kind, document.supervision],
    ['attention', 'monitor_attention', 'unclaimed'],
  );
  assert.match(String(document.reason), /the worker died before it started the command \(1 tried\).*worker\.log/);
});

test('without a cursor the last five events are told, with one everything after it', (t) => {
  const { root } = makePlace(t);
  makeJob(root, {
    spec: makeSpec(),
    state: makeState({ seq: 9 }),
    launch,
    events: numbers(1, 9)
      .map((seq) => event(seq))
      .join(''),
  });
  assert.deepEqual(seqsOf(observe(root)), [5, 6, 7, 8, 9]);
  const later = observe(root, 2);
  assert.deepEqual(seqsOf(later), numbers(3, 9));
  assert.deepEqual([later.next_seq, later.more], [9, false]);
  const none = observe(root, 9);
  assert.deepEqual([none.events, none.next_seq, none.more], [[], 9, false]);
});

test('a reader that follows next_seq sees every event once, however many and large they are', (t) => {
  const { root } = makePlace(t);
  const paths = makeJob(root, { spec: makeSpec(), state: makeState({ seq: 130 }), launch, output: 'x'.repeat(5000) });
  for (const seq of numbers(1, 130))
    appendFileSync(paths.events, event(seq, { pad: 'y'.repeat(seq % 13 === 0 ? 20_000 : seq * 10) }));
  const seen: number[] = [];
  for (let after = 0, rounds = 0; rounds < 200; rounds += 1) {
    const document = observe(root, after);
    assert.ok(sizeOf(document) <= limit);
    seen.push(...seqsOf(document));
    after = document.next_seq as number;
    if (document.more !== true) break;
  }
  assert.deepEqual(seen, numbers(1, 130));
});

// Text that grows when it is written as JSON, and text that is hard to cut.
const alphabet = [
  '\u0000',
  '\x1b',
  '"',
  '\\',
  '\n',
  '\u{1f600}',
  '\u6f22',
  '\ud800',
  '\udc00',
  '\u2028',
  'a',
  '\u202e',
  '\x7f',
  '\x9b',
  '\t',
];
const pool = Array.from(randomBytes(30_000), (byte) => alphabet[byte % alphabet.length]);
function hostile(length: number): string {
  const from = randomInt(pool.length - length);
  return pool.slice(from, from + length).join('');
}

test('no output, label, message, warning, snapshot or event makes it longer than 8 KiB', (t) => {
  const { root } = makePlace(t);
  for (let round = 0; round < 24; round += 1) {
    const size = [10, 300, 3000, 3000, 20_000][round % 5]!;
    const isStaff = round % 3 === 0;
    const state = makeState({
      state: round % 7 === 0 ? 'failed' : 'running',
      seq: 7,
      error: round % 7 === 0 ? { code: 'agent_error', message: hostile(size) } : null,
      warnings: Array.from({ length: round % 8 }, () => ({ code: 'x', message: hostile(size) })),
    });
    const tools = Array.from({ length: 5 }, (_, n) => ({
      n,
      name: hostile(80),
      input: hostile(size),
      output: hostile(size),
    }));
    const paths = makeJob(root, {
      spec: makeSpec({ label: hostile(size), ...(isStaff ? staffChange : {}) }),
      state,
      launch,
      events: numbers(1, 7)
        .map((seq) => event(seq, { [hostile(20)]: hostile(size) }))
        .join(''),
      snapshot: { tools, text: hostile(size), text_truncated: false },
    });
    writeFileSync(paths.output, round % 2 === 0 ? hostile(size) : randomBytes(size));
    for (const afterSeq of [null, 0, 100]) {
      const document = observe(root, afterSeq);
      assert.ok(sizeOf(document) <= limit, `${sizeOf(document)} bytes, round ${round}, after ${afterSeq}`);
      assert.deepEqual([document.id, document.state], [jobId, state.state]);
    }
  }
});

const unbounded: [what: string, files: (text: string) => Files][] = [
  ['an owner', (text) => ({ spec: makeSpec({ owner: text }), state: makeState(), launch })],
  [
    'a conversation',
    (text) => ({
      spec: makeSpec(staffChange),
      state: makeState({ conversation: { backend: 'codex', id: text } }),
      launch,
    }),
  ],
  [
    'a reset time',
    (text) => ({
      spec: makeSpec(),
      state: makeState({ state: 'failed', error: { code: 'quota', message: 'x', resets: text } }),
    }),
  ],
];
for (const [what, files] of unbounded) {
  test(`${what} of any length keeps it within 8 KiB and free of control sequences`, (t) => {
    const document = observeJob(t, files(`\x1b[31m\u202e${'o'.repeat(20_000)}`));
    assert.ok(!/\\u001b|\u202e/.test(JSON.stringify(document)), 'a control sequence is in it');
    assert.ok(sizeOf(document) <= limit, `${sizeOf(document)} bytes`);
  });
}

test('a long path of the state folder keeps it within 8 KiB', (t) => {
  const { workspace } = makePlace(t);
  const root = workspace.path(...Array.from({ length: 14 }, () => 'd'.repeat(250)));
  const conversation = { backend: 'codex', id: 'c-1' };
  makeJob(root, { spec: makeSpec(staffChange), state: makeState({ state: 'crashed', conversation }) });
  const document = observation(inspect(root, jobId), {
    afterSeq: null,
    root: { folder: root, option: ['--state-dir', root] },
  });
  assert.ok(sizeOf(document) <= limit, `${sizeOf(document)} bytes`);
});

test('a record with odd fields is told, as far as it goes, and never an internal error', {}, (t) => {
  const { root } = makePlace(t);
  const problems: string[] = [];
  const look = (what: string, files: Files) => {
    try {
      makeJob(root, files);
      if (sizeOf(observe(root)) > limit) problems.push(`${what}: too long`);
    } catch (error) {
      problems.push(`${what}: ${error}`);
    }
  };
  for (const odd of [null, 5, 'x', {}, [5]]) {
    for (const name of Object.keys(makeState())) {
      look(`state.${name} is ${JSON.stringify(odd)}`, {
        spec: makeSpec(),
        launch,
        state: { ...makeState(), [name]: odd },
      });
    }
    for (const name of Object.keys(makeSpec())) {
      look(`spec.${name} is ${JSON.stringify(odd)}`, {
        spec: { ...makeSpec(), [name]: odd },
        launch,
        state: makeState(),
      });
    }
    look(`a snapshot with ${JSON.stringify(odd)}`, {
      spec: makeSpec(staffChange),
      launch,
      state: makeState(),
      snapshot: { text: odd, tools: odd },
    });
  }
  assert.deepEqual(problems, []);
});
