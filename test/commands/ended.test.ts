// What is told of one ended job: header and notes on stderr, the deliverable as it is, the record with what is there.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { endedDocument, tellEnded } from '../../companion/src/commands/ended.ts';
import type { JobState, Profile } from '../../companion/src/core/job.ts';
import { inspect } from '../../companion/src/jobs/view.ts';
import type { WorkspaceChanges } from '../../companion/src/jobs/workspace/types.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState, staffChange } from '../store/job-record.ts';

type Files = Parameters<typeof makeJob>[1];

const done: Partial<JobState> = { state: 'done', exit_code: 0, duration_ms: 2100 };

function tell(t: TestContext, files: Files, isTerminal = false): { out: string; notes: string[] } {
  const { root } = makePlace(t);
  makeJob(root, { spec: makeSpec(), result: 'text', ...files });
  const { out = '', notes = [] } = tellEnded({ isTerminal }, inspect(root, jobId));
  return { out: Buffer.from(out).toString(), notes };
}

test('on a terminal the last line has its end, on a pipe the bytes are those of the deliverable', (t) => {
  const state = makeState(done);
  assert.equal(tell(t, { state, result: 'no newline' }, true).out, 'no newline\n');
  assert.equal(tell(t, { state, result: 'a newline\n' }, true).out, 'a newline\n');
  assert.equal(tell(t, { state, result: '' }, true).out, '');
  assert.equal(tell(t, { state, result: 'no newline' }).out, 'no newline');
});

test('the header keeps the words of an error apart from what follows', (t) => {
  const error = { code: 'auth' as const, message: 'Incorrect API key provided: lab.' };
  const of = (change: Partial<JobState>) => tell(t, { state: makeState(change) }).notes[0]?.split('\n')[0];
  assert.equal(
    of({ ...done, state: 'failed', exit_code: 1, error }),
    `${jobId}: failed, auth: Incorrect API key provided: lab; exit code 1, 2.1s`,
  );
  assert.equal(of({ state: 'crashed', error: { ...error, message: 'gone' } }), `${jobId}: crashed, auth: gone`);
  assert.equal(of(done), `${jobId}: done, exit code 0, 2.1s`);
  assert.equal(of({ state: 'canceled' }), `${jobId}: canceled`);
});

const unchanged: WorkspaceChanges = {
  files: [],
  file_count: 0,
  dirty_before: [],
  dirty_before_count: 0,
  dirty_committed: [],
  dirty_committed_count: 0,
  dirty_after: 0,
  commits: [],
  commit_count: 0,
  head: { before: 'a', after: 'a', moved: null },
  branch: { before: 'main', after: 'main' },
  refs_changed: [],
  index_changed: false,
  beyond: [],
  exact: true,
  unchanged: true,
  reason: null,
};

const roles: [mode: string, profile: Profile, isHeldBack: boolean][] = [
  ['implement', 'restricted', true],
  ['staffer', 'restricted', true],
  ['implement', 'standard', false],
  ['review', 'restricted', false],
  ['ask', 'standard', false],
];
for (const [mode, profile, isHeldBack] of roles) {
  test(`${mode} with profile ${profile} is told what became of the workspace${isHeldBack ? ', and that it could not write' : ''}`, (t) => {
    const staff = { ...staffChange.staff!, mode, profile };
    const files = { spec: makeSpec({ ...staffChange, staff }), state: makeState(done) };
    const held = isHeldBack ? ['profile: restricted (nothing could be changed)'] : [];
    const { notes } = tell(t, { ...files, resultRecord: { changes: unchanged } });
    assert.deepEqual(notes.slice(1), [...held, 'workspace: no files changed']);
    // Nothing was compared: what the profile was is known all the same.
    assert.deepEqual(tell(t, { ...files, resultRecord: {} }).notes.slice(1), held);
  });
}

test('the record names only files that are there', (t) => {
  const { root } = makePlace(t);
  const paths = makeJob(root, { spec: makeSpec(staffChange), state: makeState(done), result: 'x', output: 'stream' });
  const places = () => {
    const { result_path, output_path, error_path } = endedDocument(inspect(root, jobId)) as Record<string, unknown>;
    return [result_path, output_path, error_path];
  };
  assert.deepEqual(places(), [paths.result, paths.output, null]);
  rmSync(paths.output);
  assert.deepEqual(places(), [paths.result, null, null]);
});
