// The tables of feature rows S1.36 (what a word means), S1.49 (what checks and runs come to) and S1.50 (merge and state).
import assert from 'node:assert/strict';
import test from 'node:test';
import { readCheck, readRun } from '../../companion/src/watches/github/check.ts';
import { classOf, isPending } from '../../companion/src/watches/github/check-words.ts';
import { readDecision, readMerge, readState } from '../../companion/src/watches/github/merge.ts';
import { judgeRollup } from '../../companion/src/watches/github/rollup.ts';
import { appRun, job, status, workflowRun } from './github-desk.ts';

const successes = ['SUCCESS', 'SKIPPED', 'NEUTRAL', 'PASS', 'success', 'Pass'];
const failures = [
  'FAILURE',
  'ERROR',
  'CANCELLED',
  'TIMED_OUT',
  'STARTUP_FAILURE',
  'startup_failure',
  'FAIL',
  'SOFT_FAILED',
];
const pending = [
  'ACTION_REQUIRED',
  'PENDING',
  'QUEUED',
  'IN_PROGRESS',
  'WAITING',
  'EXPECTED',
  'STALE',
  'in progress',
  '',
  '?',
];

for (const word of successes) {
  test(`S1.36: ${JSON.stringify(word)} is a success`, () => {
    assert.ok(['passed', 'skipped'].includes(classOf(word)), classOf(word));
  });
}
for (const word of failures) {
  test(`S1.36: ${JSON.stringify(word)} is a failure`, () => assert.equal(classOf(word), 'failed'));
}
for (const word of pending) {
  test(`S1.36: ${JSON.stringify(word)} is pending`, () => assert.ok(isPending(word), classOf(word)));
}

const job1 = (word: string, name = 'unit') => job(name, word);
type Row = [what: string, checks: object[], runs: object[], word: string, counts?: Record<string, number>];

const rows: Row[] = [
  ['nothing at all', [], [], 'none'],
  ['only skipped jobs', [job1('SKIPPED'), job1('NEUTRAL')], [workflowRun(1, 'skipped')], 'none', { skipped: 2 }],
  ['a run that was skipped as a whole', [], [workflowRun(1, 'skipped')], 'none', { skipped: 1 }],
  ['a pass', [job1('SUCCESS')], [workflowRun(1, 'success')], 'passing', { passed: 1 }],
  ['a pass and a skip', [job1('SUCCESS'), job1('SKIPPED', 'x')], [], 'passing', { passed: 1, skipped: 1 }],
  ['a status that passed', [status('deploy', 'SUCCESS')], [], 'passing', { passed: 1 }],
  ['a pass and a running job', [job1('SUCCESS'), job1('IN_PROGRESS')], [], 'running', { passed: 1, running: 1 }],
  ['a failure and a running job', [job1('FAILURE'), job1('QUEUED')], [], 'failing', { failed: 1, running: 1 }],
  ['a canceled job', [job1('SUCCESS'), job1('CANCELLED', 'x')], [], 'failing', { failed: 1, passed: 1 }],
  [
    'a pass beside a gated run',
    [job1('SUCCESS')],
    [workflowRun(1, 'success'), workflowRun(2, 'action_required', { workflowName: 'Deploy' })],
    'running',
    { passed: 1, gated: 1 },
  ],
  ['a job that waits for a person', [job1('SUCCESS'), job1('WAITING', 'x')], [], 'running', { gated: 1, passed: 1 }],
  [
    'a gated run and a failure',
    [job1('FAILURE')],
    [workflowRun(2, 'action_required', { workflowName: 'Deploy' })],
    'failing',
    { failed: 1, gated: 1 },
  ],
  [
    'passed jobs of a run that still goes on',
    [job1('SUCCESS')],
    [workflowRun(1, 'in_progress')],
    'running',
    { passed: 1, running: 1 },
  ],
  ['a run that failed before it had jobs', [], [workflowRun(1, 'startup_failure')], 'failing', { failed: 1 }],
  ['a run whose failed job is there', [job1('FAILURE')], [workflowRun(1, 'failure')], 'failing', { failed: 1 }],
  ['a word that nobody knows', [job1('SUCCESS'), status('new', 'MYSTERY')], [], 'running', { passed: 1, running: 1 }],
];

for (const [what, checks, runs, word, counts] of rows) {
  test(`S1.49: ${what} is ${word}`, () => {
    const rollup = judgeRollup(
      checks.map((row) => readCheck({ ...row })),
      runs.flatMap((row) => readRun({ ...row }) ?? []),
    );
    assert.equal(rollup.word, word);
    assert.deepEqual(rollup.counts, { passed: 0, skipped: 0, failed: 0, gated: 0, running: 0, ...counts });
  });
}

function rollupOf(checks: object[], runs: object[]) {
  return judgeRollup(
    checks.map((row) => readCheck({ ...row })),
    runs.flatMap((row) => readRun({ ...row }) ?? []),
  );
}

test('S1.37: only the newest run of a workflow for an event counts, by creation and then by number', () => {
  const old = workflowRun(5, 'failure', { createdAt: '2025-06-01T10:00:00Z' });
  const oldJob = job('unit', 'FAILURE', { run: 5 });
  const good = workflowRun(4, 'success', { createdAt: '2025-06-01T11:00:00Z' });
  assert.equal(rollupOf([oldJob, job('unit', 'SUCCESS', { run: 4 })], [old, good]).word, 'passing');
  const later = workflowRun(6, 'in_progress', { createdAt: '2025-06-01T11:00:00Z' });
  assert.equal(rollupOf([oldJob], [later, old, good]).word, 'running');
});

test('S1.37: a push and a pull_request of the same workflow both count', () => {
  const runs = [workflowRun(1, 'success'), workflowRun(2, 'failure', { event: 'push' })];
  assert.deepEqual(rollupOf([], runs).counts, { passed: 1, skipped: 0, failed: 1, gated: 0, running: 0 });
});

test('a newer report of another app under the same name replaces the older one', () => {
  const old = status('coverage', 'FAILURE', '2025-06-01T10:00:00Z');
  assert.equal(rollupOf([old, status('coverage', 'SUCCESS')], []).word, 'passing');
  assert.equal(rollupOf([status('coverage', 'SUCCESS'), old], []).word, 'passing');
});

const later = '2025-06-01T11:30:00Z';

test('two workflow files of one name replace nothing of each other, neither the runs nor their jobs', () => {
  const red = workflowRun(1, 'failure', { workflowDatabaseId: 11 });
  const green = workflowRun(2, 'success', { workflowDatabaseId: 12, createdAt: later });
  assert.equal(rollupOf([], [red, green]).word, 'failing');
  const jobs = [job('unit', 'FAILURE', { run: 1 }), job('unit', 'SUCCESS', { run: 2, startedAt: later })];
  assert.deepEqual(rollupOf(jobs, [green, red]).counts, { passed: 1, skipped: 0, failed: 1, gated: 0, running: 0 });
  const again = workflowRun(3, 'success', { workflowDatabaseId: 11, createdAt: later });
  assert.equal(rollupOf(jobs, [green, red, again]).word, 'passing');
});

test('runs without the id of their file are told apart by name', () => {
  const bare = { workflowDatabaseId: undefined };
  const [old, young] = [workflowRun(1, 'failure', bare), workflowRun(2, 'success', { ...bare, createdAt: later })];
  assert.equal(rollupOf([], [old, young]).word, 'passing');
});

const apart: [what: string, older: object, newer: object, word: string][] = [
  [
    'a red status under a newer check run',
    status('build', 'FAILURE'),
    appRun('build', 'SUCCESS', 'https://ci.example/build', later),
    'failing',
  ],
  [
    'a pending status under a newer check run',
    status('build', 'PENDING'),
    appRun('build', 'SUCCESS', 'https://ci.example/build', later),
    'running',
  ],
  [
    'check runs of two apps',
    appRun('build', 'FAILURE', 'https://one.example/1'),
    appRun('build', 'SUCCESS', 'https://two.example/1', later),
    'failing',
  ],
  [
    'check runs at two addresses of one host',
    appRun('build', 'FAILURE', 'https://github.com/octo/demo/runs/1'),
    appRun('build', 'SUCCESS', 'https://github.com/octo/demo/runs/2', later),
    'failing',
  ],
  ['check runs without an address', appRun('build', 'FAILURE', ''), appRun('build', 'SUCCESS', '', later), 'failing'],
  ['two reports of the same start', status('build', 'FAILURE'), status('build', 'SUCCESS'), 'failing'],
  [
    'a start that nobody told',
    status('build', 'SUCCESS'),
    { ...status('build', 'PENDING'), startedAt: undefined },
    'running',
  ],
  [
    'a newer report of the same app at the same address',
    appRun('build', 'FAILURE', 'https://one.example/1?a'),
    appRun('build', 'SUCCESS', 'https://one.example/1?b', later),
    'passing',
  ],
];

for (const [what, older, newer, word] of apart) {
  test(`${what}: ${word}`, () => {
    assert.equal(rollupOf([older, newer], []).word, word);
    assert.equal(rollupOf([newer, older], []).word, word);
  });
}

test('what only links to a replaced run is no job of it', () => {
  const runs = [workflowRun(1, 'failure'), workflowRun(2, 'success', { createdAt: later })];
  const linked = { ...status('deploy', 'FAILURE'), targetUrl: 'https://github.com/octo/demo/actions/runs/1' };
  assert.equal(rollupOf([linked], runs).word, 'failing');
  const foreign = appRun('scan', 'FAILURE', 'https://scan.example/actions/runs/1/job/2');
  assert.equal(rollupOf([foreign], runs).word, 'failing');
});

test('S1.49: gated workflows are named', () => {
  const runs = [1, 2, 3].map((id) => workflowRun(id, 'action_required', { workflowName: `W${id}` }));
  assert.deepEqual(rollupOf([], runs).gating, ['W1', 'W2', 'W3']);
});

test('S1.48: the digest of what fails is another one after a re-run, and the same in another order', () => {
  const [a, b] = [job('unit', 'FAILURE'), job('lint', 'FAILURE')];
  const { signature } = rollupOf([a, b], []);
  assert.match(signature, /^[0-9a-f]{12}$/);
  assert.equal(rollupOf([b, a], []).signature, signature);
  assert.notEqual(rollupOf([a, job('lint', 'FAILURE')], []).signature, signature);
  assert.equal(rollupOf([job('unit', 'SUCCESS')], []).signature, '');
  const again = { startedAt: '2025-06-01T11:30:00Z' };
  const [first, second] = [workflowRun(1, 'startup_failure'), workflowRun(1, 'startup_failure', again)];
  assert.notEqual(rollupOf([], [first]).signature, rollupOf([], [second]).signature);
});

const merges: [mergeable: string, status: string, isDraft: boolean, word: string][] = [
  ['MERGEABLE', 'CLEAN', false, 'mergeable'],
  ['MERGEABLE', 'HAS_HOOKS', false, 'mergeable'],
  ['MERGEABLE', 'UNSTABLE', false, 'mergeable'],
  ['MERGEABLE', 'BLOCKED', false, 'blocked'],
  ['MERGEABLE', 'BEHIND', false, 'blocked'],
  ['MERGEABLE', 'DRAFT', true, 'blocked'],
  ['MERGEABLE', 'CLEAN', true, 'blocked'],
  ['MERGEABLE', 'UNKNOWN', false, 'unknown'],
  ['CONFLICTING', 'DIRTY', false, 'conflicting'],
  ['CONFLICTING', 'BLOCKED', false, 'conflicting'],
  ['UNKNOWN', 'DIRTY', false, 'conflicting'],
  ['UNKNOWN', 'UNKNOWN', false, 'unknown'],
  ['', '', false, 'unknown'],
];

for (const [mergeable, mergeStateStatus, isDraft, word] of merges) {
  test(`S1.50: ${mergeable || 'nothing'} with ${mergeStateStatus || 'nothing'}${isDraft ? ' as a draft' : ''} is ${word}`, () => {
    assert.equal(readMerge({ mergeable, mergeStateStatus, isDraft }), word);
  });
}

test('S1.50: a pull request is open, merged or closed, and nothing else', () => {
  assert.deepEqual(
    ['OPEN', 'MERGED', 'CLOSED', 'WEIRD', 7].map((state) => readState({ state })),
    ['open', 'merged', 'closed', undefined, undefined],
  );
  assert.deepEqual(
    ['APPROVED', 'CHANGES_REQUESTED', 'REVIEW_REQUIRED', ''].map((reviewDecision) => readDecision({ reviewDecision })),
    ['approved', 'changes_requested', 'review_required', null],
  );
});
