// How a report says to go on: what helps against this failure, and no command that cannot work.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { JobState, Spec } from '../../companion/src/core/job.ts';
import { makeDeliverable } from '../../companion/src/jobs/report.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState, staffChange } from '../store/job-record.ts';

const conversation = { backend: 'codex', id: 'c-1' };
const printed = (bytes: number) => ({
  stdout: { bytes, omitted: 0, exact: true },
  stderr: { bytes: 0, omitted: 0, exact: true },
});
const failed = (error: JobState['error'], change: Partial<JobState> = {}) =>
  makeState({ state: 'failed', error, output: printed(10), ...change });

function goingOn(t: TestContext, state: JobState, spec: Partial<Spec> = staffChange, events = ''): string {
  const { root } = makePlace(t);
  const paths = makeJob(root, { events });
  const tree = { step: 'none' as const, ended: [], survivors: [] };
  const parts = {
    spec: makeSpec(spec),
    paths,
    state,
    results: [],
    ownLog: null,
    ownText: null,
    staff: undefined,
    tree,
    cancel: undefined,
    isPlain: false,
  };
  return String(makeDeliverable(parts)).split('## Going on\n')[1]!;
}

test('who is not signed in is told to sign in and to try that out', (t) => {
  const text = goingOn(t, failed({ code: 'auth', message: 'no key' }));
  assert.match(text, /^Sign in first: .*doctor --backend codex$/m);
  const own = {
    ...staffChange.staff!,
    backend: 'custom',
    custom: { name: 'mine', argv: ['x'], prompt: 'stdin' as const },
  };
  assert.match(
    goingOn(t, failed({ code: 'auth', message: 'no key' }), { ...staffChange, staff: own }),
    /--backend mine$/m,
  );
});

test('a used-up quota has its reset time and the way to another CLI', (t) => {
  const text = goingOn(t, failed({ code: 'quota', message: 'x', resets: '3pm\x1b[31m' }));
  assert.match(
    text,
    new RegExp(`^The quota of codex is used up \\(resets: 3pm\\)\\. .*restart ${jobId} --backend OTHER$`, 'm'),
  );
  assert.match(goingOn(t, failed({ code: 'quota', message: 'x' })), /is used up\. The same/);
});

test('any other failure of an agent, and a command, get neither', (t) => {
  for (const spec of [staffChange, {}])
    assert.doesNotMatch(goingOn(t, failed({ code: 'exit_nonzero', message: 'x' }), spec), /Sign in|quota/);
});

test('a conversation is offered only when the agent ever said something', (t) => {
  const offers = (change: Partial<JobState>, events = '') =>
    /Go on in the same conversation: .* continue --job run-\S+ --prompt '<what to do next>'$/m.test(
      goingOn(t, failed({ code: 'agent_error', message: 'x' }, { conversation, ...change }), staffChange, events),
    );
  const told = `${JSON.stringify({ seq: 1, at: 'x', job: jobId, owner: null, type: 'conversation', conversation })}\n`;
  assert.equal(offers({}), true);
  assert.equal(offers({ conversation: null }), false);
  assert.equal(offers({ output: printed(0) }), false);
  assert.equal(offers({ output: printed(0) }, told), true);
  assert.equal(offers({ error: { code: 'spawn_failed', message: 'x' } }, told), false);
});

test('where to look at the changes: the own worktree by its path, and nowhere when nothing was started', (t) => {
  const worktree = { path: "/w/it's", branch: 'b', base: 'x', from: '/r', git_folder: '/r/.git' };
  const crash = { code: 'agent_error' as const, message: 'x' };
  assert.match(goingOn(t, failed(crash)), /: git status, git diff\.$/m);
  assert.ok(
    goingOn(t, failed(crash), { ...staffChange, worktree } as Partial<Spec>).includes(
      `git -C '/w/it'\\''s' status, git -C '/w/it'\\''s' diff.`,
    ),
  );
  assert.doesNotMatch(goingOn(t, failed({ code: 'spawn_failed', message: 'x' })), /git status/);
});
