// The end of a job: payload, event, state, and then the marker goes; published once, whatever comes later.
import assert from 'node:assert/strict';
import fs, { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { makeReading, type Reading } from '../../companion/src/backends/backend.ts';
import type { JobState, Spec } from '../../companion/src/core/job.ts';
import { conclude } from '../../companion/src/jobs/conclude.ts';
import type { JobEnding } from '../../companion/src/jobs/end-state.ts';
import { terminalRecord } from '../../companion/src/jobs/terminal-record.ts';
import { openJournal, readEvents } from '../../companion/src/store/journal.ts';
import type { JobPaths } from '../../companion/src/store/layout.ts';
import { readState } from '../../companion/src/store/records.ts';
import { makeJob, makePlace, makeSpec, makeState, staffChange } from '../store/job-record.ts';

const nothing: JobEnding['tree'] = { step: 'none', ended: [], survivors: [] };
const clean = { exit_code: 0, signaled: false, spawn_failed: false };
const normal: JobEnding = { reason: 'exited', exit: clean, tree: nothing, reconciled: false };

function makeRunning(t: TestContext, change: Partial<Spec> = {}, files: Parameters<typeof makeJob>[1] = {}) {
  const { root } = makePlace(t);
  const spec = makeSpec(change);
  const all = { spec, output: 'one\ntwo\n', error: '', reserve: 'x'.repeat(100), started: undefined, ...files };
  const paths = makeJob(root, all, { isActive: true });
  const journal = openJournal(paths, spec);
  journal.append('claimed');
  journal.append('started');
  writeFileSync(paths.state, JSON.stringify(makeState({ seq: 2 })));
  return { root, spec, paths, job: { paths, spec } };
}

function stateOf(paths: JobPaths): JobState {
  const read = readState(paths);
  assert.ok(read.kind === 'ok');
  return read.value;
}

const text = (file: string) => readFileSync(file, 'utf8');
const types = (paths: JobPaths) => readEvents(paths, 0, 100).events.map(({ type }) => type);

function finalReading(answer: string): Reading {
  return { ...makeReading(), conversationId: 'c-1', answer, text: answer, final: 'success' };
}

test('a normal end leaves result, record, event and state that agree, and no marker and no reserve', (t) => {
  const { job, paths, spec } = makeRunning(t);
  const state = conclude(job, normal);
  assert.deepEqual(stateOf(paths), state);
  assert.deepEqual(
    [state.state, state.exit_code, state.error, state.warnings, state.reconciled, state.rev, state.seq],
    ['done', 0, null, [], false, 4, 3],
  );
  assert.equal(text(paths.result), 'one\ntwo\n');
  const record = JSON.parse(text(paths.resultRecord));
  assert.deepEqual([record.state, record.kind, record.exit_code, record.result_path], ['done', 'run', 0, paths.result]);
  assert.deepEqual(Object.keys(terminalRecord(spec, paths, state)).sort(), Object.keys(record).sort());
  assert.deepEqual(types(paths), ['claimed', 'started', 'ended']);
  assert.deepEqual([existsSync(paths.marker), existsSync(paths.reserve)], [false, false]);
  assert.deepEqual(state.output, {
    stdout: { bytes: 8, omitted: 0, exact: true },
    stderr: { bytes: 0, omitted: 0, exact: true },
  });
});

/** `fn` is asked before each file is renamed into its place; what it throws is what the rename throws. */
function beforeRename(t: TestContext, fn: (target: string) => void): void {
  const rename = fs.renameSync;
  fs.renameSync = (from, to) => {
    fn(String(to));
    rename(from, to);
  };
  syncBuiltinESMExports();
  t.after(() => {
    fs.renameSync = rename;
    syncBuiltinESMExports();
  });
}

test('result and record come first, then the event, then the state, and then the marker goes', (t) => {
  const { job, paths } = makeRunning(t);
  const seen: Record<string, unknown[]> = {};
  beforeRename(t, (target) => {
    seen[basename(target)] = [types(paths).at(-1), stateOf(paths).state, existsSync(paths.marker)];
    if (target === paths.state) seen.payload = [text(paths.result), JSON.parse(text(paths.resultRecord)).state];
  });
  conclude(job, normal);
  assert.deepEqual(seen, {
    'result.md': ['started', 'running', true],
    'result.json': ['started', 'running', true],
    'state.json': ['ended', 'running', true],
    payload: ['one\ntwo\n', 'done'],
  });
  assert.equal(existsSync(paths.marker), false);
});

test('an end that broke off before the state is finished by the next one, and told once', (t) => {
  const { job, paths } = makeRunning(t);
  let isBroken = true;
  beforeRename(t, (target) => {
    if (isBroken && target === paths.state) throw new Error('broken off');
  });
  assert.throws(() => conclude(job, normal), /^Error: broken off$/);
  assert.deepEqual([types(paths).at(-1), stateOf(paths).state, existsSync(paths.marker)], ['ended', 'running', true]);
  isBroken = false;
  const state = conclude(job, { ...normal, reconciled: true });
  assert.deepEqual(types(paths), ['claimed', 'started', 'ended']);
  assert.deepEqual([state.state, state.seq, existsSync(paths.marker)], ['done', 3, false]);
});

test('without a payload there is no event and no state', (t) => {
  const { job, paths } = makeRunning(t);
  beforeRename(t, (target) => {
    if (target === paths.result) throw new Error('broken off');
  });
  assert.throws(() => conclude(job, normal), /^Error: broken off$/);
  assert.deepEqual([types(paths).at(-1), stateOf(paths).state, existsSync(paths.marker)], ['started', 'running', true]);
});

for (const name of ['result', 'resultRecord', 'state'] as const) {
  test(`a folder in the place of its ${name} file keeps no job from its end`, (t) => {
    const { job, paths } = makeRunning(t);
    rmSync(paths[name], { force: true });
    mkdirSync(join(paths[name], 'full'), { recursive: true });
    assert.equal(conclude(job, normal).state, 'done');
    assert.equal(stateOf(paths).state, 'done');
  });
}

test('a disk that is full gets the space back that was set aside, once', (t) => {
  const { job, paths } = makeRunning(t);
  let tries = 0;
  beforeRename(t, (target) => {
    if (target !== paths.result) return;
    tries += 1;
    if (existsSync(paths.reserve)) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  });
  assert.equal(conclude(job, normal).state, 'done');
  assert.deepEqual([tries, existsSync(paths.reserve)], [2, false]);
});

test('a payload that no space is left for is output_unstorable, and its exit code is told all the same', (t) => {
  const { job, paths } = makeRunning(t);
  beforeRename(t, (target) => {
    if (target === paths.result) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  });
  const exit = { exit_code: 7, signaled: false, spawn_failed: false };
  const state = conclude(job, { ...normal, exit });
  assert.deepEqual([state.state, state.error?.code, state.exit_code], ['failed', 'output_unstorable', 7]);
  assert.deepEqual(stateOf(paths), state);
  assert.equal(existsSync(paths.marker), false);
});

test('an outcome is published once: what comes later is an event and changes nothing else', (t) => {
  const { job, paths } = makeRunning(t);
  const first = conclude(job, { ...normal, reason: 'canceled', exit: undefined });
  const files = [paths.state, paths.result, paths.resultRecord].map(text);
  const exit = { exit_code: 7, signaled: false, spawn_failed: false };
  assert.deepEqual(conclude(job, { ...normal, exit }), first);
  assert.deepEqual(conclude(job, { ...normal, reason: 'hard_timeout', exit: undefined, reconciled: true }), first);
  assert.deepEqual([paths.state, paths.result, paths.resultRecord].map(text), files);
  assert.deepEqual(types(paths), ['claimed', 'started', 'ended', 'late_evidence', 'late_evidence']);
  const [, , , late, later] = readEvents(paths, 0, 100).events;
  assert.deepEqual(
    [late?.reason, late?.exit_code, later?.reason, later?.exit_code],
    ['exited', 7, 'hard_timeout', null],
  );
});

test('a job of which no worker ever said a word can be concluded', (t) => {
  const { root, spec } = makeRunning(t);
  const paths = makeJob(root, {}, { isActive: true });
  rmSync(paths.state);
  rmSync(paths.events);
  const state = conclude({ paths, spec }, { ...normal, reason: 'never_started', exit: undefined, reconciled: true });
  assert.deepEqual(
    [state.state, state.error?.code, state.reconciled, state.rev, state.seq],
    ['failed', 'never_started', true, 1, 1],
  );
});

test('a failed command gets a report with its reason, its output and how to go on', (t) => {
  const { job, paths, spec } = makeRunning(
    t,
    { run: { argv: ['make', "it's"], program: '/usr/bin/make', success_exit: 0, keep_children: false } },
    { error: 'broken\x1b[31m\n' },
  );
  const state = conclude(job, { ...normal, exit: { exit_code: 143, signaled: true, spawn_failed: false } });
  assert.deepEqual(
    [state.state, state.error?.code, state.signal, state.signal_certain],
    ['failed', 'signal', 'SIGTERM', true],
  );
  const report = text(paths.result);
  for (const part of [
    `# ${spec.id}: failed (signal)`,
    'Reason: the command was ended by SIGTERM',
    `Command: make 'it'\\''s'`,
    'Exit code: 143',
    'Signal: SIGTERM',
    '## Last output\n\none\ntwo',
    '## Last error output\n\nbroken',
    ` restart ${spec.id}`,
  ]) {
    assert.ok(report.includes(part), `${part}\n---\n${report}`);
  }
  assert.ok(!report.includes('\x1b'));
});

test('a success file that nobody looked at is no success', (t) => {
  const success_files = [{ path: '/no/such/file', before: null }];
  const run = { argv: ['make'], program: '/usr/bin/make', success_exit: 0, keep_children: false, success_files };
  const { job } = makeRunning(t, { run });
  const state = conclude(job, normal);
  assert.deepEqual([state.state, state.error?.code], ['failed', 'artifact_missing']);
  assert.match(state.error?.message ?? '', /: \/no\/such\/file \(not looked at\)$/);
});

test('an exit code above 128 is no certain signal when nobody saw one', (t) => {
  const { job } = makeRunning(t);
  const state = conclude(job, { ...normal, exit: { exit_code: 137, signaled: false, spawn_failed: false } });
  assert.deepEqual([state.error?.code, state.signal, state.signal_certain], ['exit_nonzero', 'SIGKILL', false]);
});

test('left-over processes of a normal end are a warning that names them, survivors are a failure', (t) => {
  const ended = [{ pid: 41, start: '1', name: 'sleep' }];
  const { job } = makeRunning(t);
  const state = conclude(job, { ...normal, tree: { step: 'term', ended, survivors: [] } });
  assert.deepEqual([state.state, state.warnings.map(({ code }) => code)], ['done', ['leftovers_ended']]);
  assert.match(state.warnings[0]!.message, /^1 left-over process\(es\) were ended after the command: 41 \(sleep\)$/);
  const other = makeRunning(t);
  const failed = conclude(other.job, { ...normal, tree: { step: 'kill', ended: [], survivors: ended } });
  assert.deepEqual([failed.state, failed.error?.code], ['failed', 'survivors']);
  assert.match(text(other.paths.result), /Survivors: 41 \(sleep\)/);
});

test('a canceled job says by whom and why, and what it took', (t) => {
  const { job, paths } = makeRunning(
    t,
    {},
    { cancel: { by: { pid: 77 }, owner: 'boss', at: '2024-01-01T00:00:00.000Z', why: 'no\x1b[31m need' } },
  );
  const tree = { step: 'kill' as const, ended: [{ pid: 41, start: '1', name: 'x' }], survivors: [] };
  const state = conclude(job, { ...normal, reason: 'canceled', exit: undefined, tree });
  assert.deepEqual([state.state, state.error, state.warnings], ['canceled', null, []]);
  assert.match(
    text(paths.result),
    /^Canceled by boss at 2024-01-01T00:00:00\.000Z: no need\. 1 process\(es\) ended; SIGKILL was needed\.$/m,
  );
});

for (const cancel of [
  '{}',
  '{"by":null}',
  '{"by":5,"owner":5,"at":5,"why":5}',
  '{"owner":"\\u001b[31mx","why":["x"]}',
]) {
  test(`a cancel request that is ${cancel} keeps no job from its end`, (t) => {
    const { job, paths } = makeRunning(t, {}, { cancel });
    assert.equal(conclude(job, { ...normal, reason: 'canceled', exit: undefined }).state, 'canceled');
    assert.ok(!text(paths.result).includes('\x1b'));
  });
}

test('a warning-free answer removes its stream and its snapshot, and keeps prompt and conversation', (t) => {
  const { job, paths } = makeRunning(t, staffChange, { snapshot: {}, prompt: 'the task' });
  const state = conclude(job, { ...normal, reading: finalReading('the answer\n') });
  assert.equal(state.state, 'done');
  assert.deepEqual(state.conversation, { backend: 'codex', id: 'c-1' });
  assert.equal(text(paths.result), 'the answer\n');
  assert.deepEqual([paths.output, paths.snapshot, paths.prompt, paths.error].map(existsSync), [
    false,
    false,
    true,
    true,
  ]);
  const { output_path, backend } = JSON.parse(text(paths.resultRecord));
  assert.deepEqual([output_path, backend], [null, 'codex']);
});

test('an answer with a warning, and every other end of staff, keeps all', (t) => {
  const reading = finalReading('the answer\n');
  const warnings = [{ code: 'x', message: 'y' }];
  for (const [ending, outcome] of [
    [{ ...normal, reading, warnings }, 'done'],
    [{ ...normal, reading: makeReading() }, 'failed'],
    [{ ...normal, reason: 'canceled', exit: undefined, reading }, 'canceled'],
  ] as const) {
    const { job, paths } = makeRunning(t, staffChange, { snapshot: {}, prompt: 'the task' });
    assert.equal(conclude(job, ending).state, outcome);
    assert.deepEqual([paths.output, paths.snapshot, paths.prompt].map(existsSync), [true, true, true]);
  }
});

test('a complete answer that arrived before the limit is delivered, with a warning', (t) => {
  const { job, paths } = makeRunning(t, staffChange);
  const exit = { exit_code: 143, signaled: true, spawn_failed: false };
  const state = conclude(job, { ...normal, reason: 'hard_timeout', exit, reading: finalReading('in time') });
  assert.equal(state.state, 'done');
  assert.ok(state.warnings.length > 0);
  assert.equal(text(paths.result), 'in time');
});

test('the duration is that of the command, and never negative', (t) => {
  const { job, paths } = makeRunning(t, {}, { exit: clean });
  const state = conclude(job, normal);
  assert.ok(state.duration_ms !== null && state.duration_ms > 0);
  assert.equal(Date.parse(state.ended_at!) - Date.parse(state.started_at!), state.duration_ms);
  const other = makeRunning(t);
  writeFileSync(other.paths.state, JSON.stringify(makeState({ started_at: '2999-01-01T00:00:00.000Z' })));
  assert.equal(conclude(other.job, normal).duration_ms, 0);
  assert.ok(existsSync(paths.exit));
});

test('the verdict of a watch is the one its worker ends with, whatever state.json could still take in', (t) => {
  const input = { condition: 'file', input: {}, words: 'file fe', every_ms: 1000, attempt_ms: 1000 };
  const { job, paths } = makeRunning(t, {
    kind: 'watch',
    run: null,
    watch: { ...input, tolerate: null, repeat: false },
  });
  const note = {
    word: 'missing',
    evidence: 'fe is not there',
    facts: {},
    polls: 1,
    told: 1,
    troubles: 0,
    trouble: null,
  };
  const before = { ...note, verdict: 'pending' as const };
  writeFileSync(paths.state, JSON.stringify(makeState({ seq: 2, watch: before })));
  const seen = { ...note, verdict: 'met' as const, word: 'exists', evidence: 'fe exists', polls: 2, told: 2 };
  const ending = { reason: 'met', exit: undefined, tree: nothing, reconciled: false, detail: seen.evidence } as const;
  conclude(job, { ...ending, watch: seen });
  assert.deepEqual(stateOf(paths).watch, seen);
  assert.equal(text(paths.result), 'fe exists\n');
});
