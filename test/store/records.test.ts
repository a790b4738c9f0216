// The JSON files of a job: what is sound, what is damage and why, what is only missing, and what is kept that we do not know.
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { jobPaths } from '../../companion/src/store/layout.ts';
import {
  readCancel,
  readExit,
  readLaunch,
  readMark,
  readReason,
  readSpec,
  readState,
  readWorker,
  writeState,
} from '../../companion/src/store/records.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState, staffChange } from './job-record.ts';

const own = ownIdentity();

const aTimer = {
  due_at: '2030-01-01T00:00:00.000Z',
  delay_ms: null,
  message: 'x',
  slot: null,
  durable: true,
} as const;

test('a job without any file has everything missing', (t) => {
  const paths = jobPaths(makePlace(t).root, jobId);
  for (const read of [readSpec, readState, readLaunch, readWorker]) assert.deepEqual(read(paths), { kind: 'missing' });
  for (const read of [readExit, readCancel, readReason]) assert.equal(read(paths), undefined);
});

test('a sound spec is read with every field, also those that this release does not know', (t) => {
  const { root } = makePlace(t);
  for (const spec of [makeSpec(), makeSpec(staffChange), makeSpec({ kind: 'timer', run: null, timer: aTimer })]) {
    const value = { ...spec, later: { deep: [1] } };
    assert.deepEqual(readSpec(makeJob(root, { spec: value })), { kind: 'ok', value });
  }
});

const specFaults: [change: Record<string, unknown>, reason: string][] = [
  [{ id: 'run-loyw3v28-000000' }, 'its id is not that of its folder'],
  [{ id: 5 }, 'its id is not that of its folder'],
  [{ kind: 'virus' }, 'unknown kind virus'],
  [{ kind: undefined }, 'unknown kind undefined'],
  [{ mark: '' }, 'no mark'],
  [{ mark: 'short' }, 'no mark'],
  [{ verb: null }, 'no verb'],
  [{ created_at: 5 }, 'no created_at'],
  [{ created_at: 'last Tuesday 5' }, 'created_at is no instant'],
  [{ engine: undefined }, 'no engine'],
  [{ cwd: undefined }, 'no cwd'],
  [{ mac: undefined }, 'no mac'],
  [{ deadline_ms: null }, 'no deadline_ms'],
  [{ deadline_mono_ms: '5' }, 'no deadline_mono_ms'],
  [{ kill_grace_ms: undefined }, 'no kill_grace_ms'],
  [{ max_output_bytes: undefined }, 'no max_output_bytes'],
  [{ launcher: undefined }, 'no launcher identity'],
  [{ launcher: { ...own, pid: 1 } }, 'no launcher identity'],
  [{ run: null }, 'no command'],
  [{ run: {} }, 'no command'],
  [{ run: { argv: [] } }, 'no command'],
  [{ run: { argv: ['true', 5] } }, 'no command'],
  [{ run: { argv: 'true' } }, 'no command'],
  [{ kind: 'watch' }, 'no condition'],
  [{ kind: 'timer' }, 'no instant'],
  [{ kind: 'timer', timer: { ...aTimer, due_at: 'soon' } }, 'no instant'],
  [{ kind: 'staff' }, 'no task'],
  [{ kind: 'staff', staff: { prompt: 5 } }, 'no task'],
];
for (const [change, reason] of specFaults) {
  test(`a spec with ${JSON.stringify(change)} is damaged: ${reason}`, (t) => {
    const paths = makeJob(makePlace(t).root, { spec: { ...makeSpec(), ...change } });
    assert.deepEqual(readSpec(paths), { kind: 'damaged', reason: `spec.json: ${reason}` });
  });
}

test('a state is read as it was written, with what this release does not know', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  const state = { ...makeState({ warnings: [{ code: 'x', message: 'y' }] }), later: 1 };
  writeState(paths, state);
  assert.deepEqual(readState(paths), { kind: 'ok', value: state });
  assert.ok(readFileSync(paths.state, 'utf8').endsWith('}\n'));
});

test('a state of a release that knew less is read, with what it did not know empty', (t) => {
  const { warnings, error, conversation, output, usage, reconciled, ...older } = makeState({ state: 'done' });
  assert.deepEqual([warnings, error, conversation, output, usage, reconciled], [[], null, null, null, null, false]);
  const read = readState(makeJob(makePlace(t).root, { state: older }));
  assert.deepEqual(read, { kind: 'ok', value: makeState({ state: 'done' }) });
});

const stateFaults: [value: unknown, reason: string][] = [
  [{ ...makeState(), state: 'cancelled' }, 'state.json: unknown state cancelled'],
  [{ ...makeState(), state: undefined }, 'state.json: unknown state undefined'],
  [{ ...makeState(), rev: '3' }, 'state.json: no rev or seq'],
  [{ ...makeState(), seq: undefined }, 'state.json: no rev or seq'],
  ['', 'state.json is no JSON object'],
  ['{"state":"do', 'state.json is no JSON object'],
  ['[]', 'state.json is no JSON object'],
];
for (const [value, reason] of stateFaults) {
  test(`a state that is ${JSON.stringify(value).slice(0, 60)} is damaged: ${reason}`, (t) => {
    assert.deepEqual(readState(makeJob(makePlace(t).root, { state: value })), { kind: 'damaged', reason });
  });
}

test('a state whose fields have other types than they should is damaged', {}, (t) => {
  const { root } = makePlace(t);
  for (const change of [
    ...[{ state: ['done'] }, { warnings: 'x' }, { warnings: [5] }, { error: 'x' }, { error: {} }, { created_at: null }],
    ...[{ conversation: 'x' }, { ended_at: 5, state: 'done' }, { duration_ms: 'x' }],
  ]) {
    assert.equal(
      readState(makeJob(root, { state: { ...makeState(), ...change } })).kind,
      'damaged',
      JSON.stringify(change),
    );
  }
});

test('a worker, a shim and a child are identities or nobody', (t) => {
  const { root } = makePlace(t);
  const read = (worker: unknown) => readWorker(makeJob(root, { worker }));
  for (const value of [
    { worker: own, shim: null, child: null, fifo: true },
    { worker: own, shim: own, child: own, fifo: false, later: 1 },
  ]) {
    assert.deepEqual(read(value), { kind: 'ok', value });
  }
  assert.equal(read({ worker: own }).kind, 'ok');
  assert.deepEqual(read({}), { kind: 'damaged', reason: 'worker.json: no identity of a worker' });
  for (const odd of [{ ...own, pid: 1 }, { pid: 5 }, 5, 'x', [], false]) {
    assert.deepEqual(read({ worker: own, shim: odd }), { kind: 'damaged', reason: 'worker.json: a damaged identity' });
    assert.deepEqual(read({ worker: own, child: odd }), { kind: 'damaged', reason: 'worker.json: a damaged identity' });
  }
});

test('launch.json names a worker, or is damaged', (t) => {
  const { root } = makePlace(t);
  const value = { worker: own, generation: 2 };
  assert.deepEqual(readLaunch(makeJob(root, { launch: value })), { kind: 'ok', value });
  const paths = makeJob(root, { launch: { worker: { ...own, start_token: '' } } });
  assert.deepEqual(readLaunch(paths), { kind: 'damaged', reason: 'launch.json: no identity of a worker' });
});

test('exit.json is what the shim wrote, or nothing', (t) => {
  const { root } = makePlace(t);
  const read = (exit: unknown) => readExit(makeJob(root, { exit }));
  const exit = { exit_code: 143, signaled: true, spawn_failed: false };
  assert.deepEqual(read(exit), exit);
  // The shim writes it over a line of spaces.
  assert.deepEqual(read(`{"exit_code":0,"signaled":false,"spawn_failed":false}${' '.repeat(100)}\n`), {
    ...exit,
    exit_code: 0,
    signaled: false,
  });
  assert.deepEqual(read({ exit_code: 1, signaled: 'true', spawn_failed: 1 }), {
    exit_code: 1,
    signaled: false,
    spawn_failed: false,
  });
  for (const odd of [
    '',
    '{}',
    '[]',
    '{"exit_code":"0"}',
    '{"exit_code":1.5}',
    '{"exit_code":null}',
    '{"exit_code":0',
  ]) {
    assert.equal(read(odd), undefined, odd);
  }
});

test('a cancel request is read as it was made', (t) => {
  const request = { by: own, owner: 'me', at: '2023-11-14T22:13:20.000Z', why: 'not needed' };
  assert.deepEqual(readCancel(makeJob(makePlace(t).root, { cancel: request })), request);
});

test('the reason is one word of a small file', (t) => {
  const { root } = makePlace(t);
  const read = (reason: string) => readReason(makeJob(root, { reason }));
  assert.equal(read('hard_timeout\n'), 'hard_timeout');
  assert.equal(read('canceled'), 'canceled');
  assert.equal(read('\n'), undefined);
  assert.equal(read('x'.repeat(100_000))?.length, 64);
});

test('a mark is a line of /proc or a pid and its start, whole, of somebody above pid 1', (t) => {
  const { root } = makePlace(t);
  const boot = { boot_id: 'b', pid_ns: 'n' };
  const read = (shimMark: string) => readMark(makeJob(root, { shimMark }).shimMark, boot);
  const stat = (pid: number) => `${pid} (a b) c) S 1 2 3 0 -1 4194560 1 0 0 0 5 7 0 0 20 0 1 0 987654 1 2 3\n`;
  assert.deepEqual(read(stat(42)), { pid: 42, start_token: '987654', ...boot });
  assert.deepEqual(read('42 Mon Nov 30 13:00:00 2026\n'), {
    pid: 42,
    start_token: 'Mon Nov 30 13:00:00 2026',
    ...boot,
  });
  for (const odd of [
    '',
    '\n',
    '42',
    '42\n',
    stat(42).trimEnd(),
    stat(1),
    '1 x\n',
    '0 x\n',
    '-5 x\n',
    'x y\n',
    '4.5 x\n',
  ]) {
    assert.equal(read(odd), undefined, JSON.stringify(odd));
  }
  assert.equal(readMark(`${root}/none`, boot), undefined);
});

test('no record is read through a link', (t) => {
  const { root, workspace } = makePlace(t);
  const paths = makeJob(root, {});
  writeFileSync(workspace.path('state.json'), JSON.stringify(makeState()));
  symlinkSync(workspace.path('state.json'), paths.state);
  assert.deepEqual(readState(paths), { kind: 'missing' });
});
