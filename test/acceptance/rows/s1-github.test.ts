/**
 * S1, GitHub: checks, pull requests and reviews through `gh`, which is a stand-in here (test/fixtures/programs/gh), because a real
 * one needs a login.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseReply, run } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { findJob, type Job, killNow } from '../../helpers/jobs.ts';
import { untilQuiet } from '../../helpers/rows.ts';
import {
  type Desk,
  headA,
  headB,
  job as jobOf,
  makeDesk,
  status,
  view,
  workflowRun,
} from '../../watches/github-desk.ts';

interface Line {
  type: string;
  verdict: string;
  state: string;
  head?: string;
  merge?: string;
  [field: string]: unknown;
}

const pull = ['--pr', '7', '--repo', 'octo/demo'];
const checks = (...words: string[]) =>
  view({ statusCheckRollup: words.map((word, index) => jobOf(`job-${index}`, word, { run: index + 1 })) });
const comment = (id: string, login: string) => ({
  id,
  author: { login, is_bot: login.endsWith('[bot]') },
  createdAt: '2025-06-01T12:30:00Z',
  url: `https://github.com/octo/demo/pull/7#issuecomment-${id}`,
});

/** One look, now. */
async function once(desk: Desk, kind: string, ...words: string[]): Promise<{ code: number | null; line: Line }> {
  const result = await run(desk, ['watch', kind, ...pull, '--once', '--json', ...words]);
  return { code: result.code, line: parseReply<Line>(result) };
}

async function watch(desk: Desk, kind: string, ...words: string[]): Promise<Job> {
  const result = await run(desk, ['watch', kind, ...pull, '--id-only', '--every', '5s', ...bound(words), ...words]);
  assert.equal(result.code, 0, result.stderr);
  return findJob(desk, result.stdout.trim());
}

const bound = (words: string[]) => (words.includes('--for') ? [] : ['--for', '5m']);

const untilNews = (job: Job, count: number) =>
  eventually(`${count} news`, () => job.has('events.ndjson') && job.events('news').length >= count, {
    limitMs: 40_000,
  });

test('S1.15 a CI watch in the foreground is lines of JSON that end with the verdict', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: checks('IN_PROGRESS') }, { view: checks('SUCCESS') });
  const words = ['watch', 'ci', ...pull, '--every', '5s', '--for', '5m', '--foreground'];
  const { code, stdout } = await run(desk, words);
  const lines = stdout.split('\n').filter(Boolean);
  const told = lines.map((line) => JSON.parse(line) as Line).map(({ type, kind, state }) => [type, kind, state]);
  assert.deepEqual(
    [code, told],
    [
      0,
      [
        ['status', 'ci', 'running'],
        ['terminal', 'ci', 'passed'],
      ],
    ],
  );
});

test('S1.22 checks of a pull request are watched until they are green or red', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: checks('SUCCESS', 'QUEUED') }, { view: checks('SUCCESS', 'SUCCESS') });
  const green = await watch(desk, 'ci');
  const waited = await run(desk, ['wait', green.id]);
  assert.deepEqual([waited.code, green.state().state, green.state().watch?.word], [0, 'done', 'passed']);
  desk.play({ view: checks('SUCCESS', 'FAILURE') });
  const red = await watch(desk, 'ci');
  const report = await run(desk, ['wait', red.id]);
  assert.deepEqual([report.code, red.state().error?.code], [3, 'watch_failed']);
  assert.match(report.stdout, /job-1/);
});

test('S1.23 a green check beside a run that waits for approval is pending', async (t) => {
  const desk = makeDesk(t);
  const runs = [workflowRun(1, 'success'), workflowRun(2, 'action_required', { workflowName: 'Deploy' })];
  desk.play({ view: checks('SUCCESS'), runs });
  const { code, line } = await once(desk, 'ci');
  assert.deepEqual([code, line.verdict, line.gating], [2, 'pending', ['Deploy']]);
});

test('S1.24 a review watch wakes on any new comment, approval or review, of a person or a bot', async (t) => {
  const desk = makeDesk(t);
  const old = comment('1', 'ann');
  desk.play({ view: view({ comments: [old] }) });
  const jobs = await Promise.all([watch(desk, 'review'), watch(desk, 'review', '--by', 'bob')]);
  for (const job of jobs) await untilNews(job, 1);
  const approval = { id: '9', author: { login: 'bob' }, state: 'APPROVED', submittedAt: '2025-06-01T12:31:00Z' };
  desk.play({ view: view({ comments: [old, comment('2', 'linter[bot]')] }) });
  const [any, byBob] = jobs;
  assert.equal((await run(desk, ['wait', any!.id])).code, 0);
  assert.match(any!.state().watch?.evidence ?? '', /comment by linter\[bot\]/);
  assert.equal(byBob!.state().state, 'running');
  desk.play({ view: view({ comments: [old, comment('2', 'linter[bot]')], reviews: [approval] }) });
  assert.equal((await run(desk, ['wait', byBob!.id])).code, 0);
  assert.match(byBob!.state().watch?.evidence ?? '', /approved by bob/);
});

test('S1.35 gh that hangs is ended with all that it started, and one that fails is asked three times', async (t) => {
  const desk = makeDesk(t);
  desk.play({ hang: true });
  const hung = await once(desk, 'ci', '--attempt-timeout', '2s');
  assert.deepEqual([hung.code, hung.line.verdict], [3, 'error']);
  assert.ok(desk.calls().length >= 1);
  await untilQuiet(desk);
  desk.play({ fail: { stderr: 'error connecting to api.github.com' } });
  const failed = await once(desk, 'ci');
  assert.deepEqual([failed.code, failed.line.verdict, desk.calls('pr view').length], [3, 'error', 3]);
  assert.deepEqual([desk.calls()[0]?.quiet.PAGER, desk.calls()[0]?.quiet.GH_PROMPT_DISABLED], ['cat', '1']);
});

test('S1.36 every word of a check has its class, and failure comes before pending before success', async (t) => {
  const desk = makeDesk(t);
  const classes: [words: string[], verdict: string][] = [
    [['SUCCESS'], 'met'],
    [['SUCCESS', 'SKIPPED', 'NEUTRAL'], 'met'],
    ...['FAILURE', 'ERROR', 'CANCELLED', 'TIMED_OUT', 'STARTUP_FAILURE', 'SOME_FAIL_OF_LATER'].map(
      (word): [string[], string] => [['SUCCESS', word], 'failed'],
    ),
    ...['ACTION_REQUIRED', 'PENDING', 'QUEUED', 'IN_PROGRESS', 'WAITING', 'A_WORD_OF_LATER', ''].map(
      (word): [string[], string] => [['SUCCESS', word], 'pending'],
    ),
    [[], 'pending'],
    [['SUCCESS', 'QUEUED', 'FAILURE'], 'failed'],
  ];
  for (const [words, verdict] of classes) {
    desk.play({ view: checks(...words) });
    assert.equal((await once(desk, 'ci')).line.verdict, verdict, words.join(' '));
  }
  desk.play({ view: view({ statusCheckRollup: [status('ci/other', 'SUCCESS'), status('ci/old', 'PENDING')] }) });
  assert.equal((await once(desk, 'ci')).line.verdict, 'pending');
});

test('S1.37 of the runs of the exact head only the newest per workflow and event counts', async (t) => {
  const desk = makeDesk(t);
  const verdict = async (...runs: Record<string, unknown>[]) => {
    desk.play({ view: view(), runs, isUnfiltered: true });
    return (await once(desk, 'ci')).line.verdict;
  };
  const later = { createdAt: '2025-06-01T11:30:00Z' };
  assert.equal(await verdict(workflowRun(1, 'failure'), workflowRun(2, 'success', later)), 'met');
  assert.equal(await verdict(workflowRun(2, 'success'), workflowRun(1, 'failure', later)), 'failed');
  // Of the same instant the higher id is the newer one.
  assert.equal(await verdict(workflowRun(8, 'success'), workflowRun(9, 'failure')), 'failed');
  const push = workflowRun(3, 'failure', { event: 'push' });
  assert.equal(await verdict(push, workflowRun(4, 'success', later)), 'failed');
  assert.equal(await verdict(workflowRun(1, 'success'), workflowRun(9, 'failure', { headSha: headB })), 'met');
  const [asked] = desk.calls('run list');
  assert.ok(asked?.args.join(' ').includes(`--commit ${headA} --limit 100`), asked?.args.join(' '));
});

test('S1.39 the first look at a review is a baseline on disk: a new worker neither repeats nor loses', async (t) => {
  const desk = makeDesk(t);
  const old = [comment('1', 'ann'), comment('2', 'bob')];
  desk.play({ view: view({ comments: old }) });
  const job = await watch(desk, 'review');
  await untilNews(job, 1);
  assert.deepEqual([job.state().watch?.word, job.state().watch?.facts.seen], ['armed', 2]);
  assert.ok(job.text('cursor.json').includes('comment:2'));
  await killNow('the worker', job.identity('launched'));
  desk.play({ view: view({ comments: [...old, comment('3', 'cleo')] }) });
  const { code } = await run(desk, ['wait', job.id]);
  assert.deepEqual([code, job.launch().generation], [0, 2]);
  assert.deepEqual([job.state().watch?.word, job.state().watch?.facts.ids], ['new-activity', ['comment:3']]);
});

test('S1.47 a repeating watch of a pull request tells each change, shares its questions, and settles with the merge', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: checks('IN_PROGRESS') });
  const jobs = await Promise.all([watch(desk, 'pr', '--repeat'), watch(desk, 'pr', '--repeat'), watch(desk, 'review')]);
  for (const job of jobs) await untilNews(job, 1);
  desk.play({ view: checks('FAILURE') });
  const [first, second, review] = jobs as [Job, Job, Job];
  for (const job of [first, second]) await untilNews(job, 2);
  const polls = jobs.map((job) => job.state().watch?.polls ?? 0).reduce((sum, count) => sum + count, 0);
  assert.ok(desk.calls('pr view').length < polls, `${desk.calls('pr view').length} questions for ${polls} looks`);
  desk.play({ view: { ...checks('SUCCESS'), state: 'MERGED' } });
  for (const job of [first, second, review]) {
    assert.equal((await run(desk, ['wait', job.id])).code, 0);
    assert.equal(job.state().watch?.word, 'merged');
  }
  const expired = await watch(desk, 'pr', '--repeat', '--for', '1s');
  desk.play({ view: checks('SUCCESS') });
  const told = await run(desk, ['wait', expired.id]);
  assert.match(told.stdout + told.stderr, /expired|watched to its end|bound/);
});

test('S1.48 red on one head and red on the next are two pieces of news', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: checks('FAILURE') });
  const job = await watch(desk, 'ci', '--repeat');
  await untilNews(job, 1);
  const polls = () => job.state().watch?.polls ?? 0;
  await eventually('the same reading again', () => desk.calls('pr view').length >= 2, { limitMs: 40_000 });
  assert.equal(job.events('news').length, 1);
  desk.play({ view: { ...checks('FAILURE'), headRefOid: headB } });
  await untilNews(job, 2);
  const heads = job.events('news').map(({ facts }) => (facts as { head: string }).head);
  assert.deepEqual([heads, polls() >= 1], [[headA, headB], true]);
  assert.equal((await run(desk, ['cancel', job.id])).code, 0);
});

test('S1.49 nothing ran, running, failing and passing are four readings, and skipped is no pass', async (t) => {
  const desk = makeDesk(t);
  const read = async (...words: string[]) => {
    desk.play({ view: checks(...words) });
    const { code, line } = await once(desk, 'ci');
    return [code, line.state, line.passed, line.skipped];
  };
  assert.deepEqual(await read('SKIPPED', 'NEUTRAL'), [2, 'none', 0, 2]);
  assert.deepEqual(await read('IN_PROGRESS', 'SUCCESS'), [2, 'running', 1, 0]);
  assert.deepEqual(await read('FAILURE', 'SUCCESS', 'SKIPPED'), [3, 'failed', 1, 1]);
  assert.deepEqual(await read('SUCCESS', 'SKIPPED'), [0, 'passed', 1, 1]);
});

test('S1.50 a pull request is mergeable, conflicting, blocked or unknown; open, merged or closed', async (t) => {
  const desk = makeDesk(t);
  const read = async (change: Record<string, unknown>) => {
    desk.play({ view: view({ statusCheckRollup: [jobOf('unit', 'SUCCESS')], ...change }) });
    const { code, line } = await once(desk, 'pr');
    return [code, line.state, line.merge];
  };
  assert.deepEqual(await read({}), [2, 'open', 'mergeable']);
  assert.deepEqual(await read({ mergeable: 'CONFLICTING', mergeStateStatus: 'DIRTY' }), [2, 'open', 'conflicting']);
  assert.deepEqual(await read({ mergeStateStatus: 'BLOCKED' }), [2, 'open', 'blocked']);
  assert.deepEqual(await read({ mergeable: 'UNKNOWN', mergeStateStatus: 'UNKNOWN' }), [2, 'open', 'unknown']);
  assert.deepEqual((await read({ state: 'MERGED' })).slice(0, 2), [0, 'merged']);
  assert.deepEqual((await read({ state: 'CLOSED' })).slice(0, 2), [3, 'closed']);
});
