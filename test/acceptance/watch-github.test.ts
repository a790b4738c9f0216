/**
 * Watches of GitHub as their callers see them: what ends one at once and what is waited for, one fetch for several, the lines of the
 * foreground. gh is the stand-in, because a real one needs a login.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { headA, headB, job, linesOf, makeGithub, newsOf, view } from '../helpers/github.ts';
import { testNode } from '../helpers/test-node.ts';

const green = view({ statusCheckRollup: [job('unit', 'SUCCESS')] });
const running = view({ statusCheckRollup: [job('unit', 'IN_PROGRESS')] });

test('--once gives the verdict of now: passed, failed, running, none yet, all skipped, merged', async (t) => {
  const github = makeGithub(t);
  const looks: [view: Record<string, unknown>, code: number, state: string][] = [
    [green, 0, 'passed'],
    [view({ statusCheckRollup: [job('unit', 'FAILURE')] }), 3, 'failed'],
    [running, 2, 'running'],
    [view(), 2, 'not_yet'],
    [view({ statusCheckRollup: [job('unit', 'SKIPPED')] }), 2, 'none'],
    [view({ state: 'MERGED', statusCheckRollup: [job('unit', 'SUCCESS')] }), 0, 'passed'],
    [view({ state: 'CLOSED' }), 3, 'closed'],
  ];
  for (const [answer, code, state] of looks) {
    github.play({ view: answer });
    const found = await github.once('ci', '--pr', '7');
    assert.deepEqual([found.code, found.reply.state], [code, state]);
  }
  assert.equal(existsSync(github.path('.job-state')), false);
});

test('ci is watched from pending to passed, and red ends it as failed with the job named', async (t) => {
  const github = makeGithub(t);
  github.play({ view: running }, { view: green });
  const passed = await github.watch('ci', '--pr', '7');
  assert.equal((await github.wait(passed)).code, 0);
  assert.deepEqual([newsOf(passed), passed.state().state], [['running', 'passed'], 'done']);
  github.play({ view: view({ statusCheckRollup: [job('unit', 'FAILURE')] }) });
  // Another one: what was fetched of the first a moment ago would do for it.
  const failed = await github.watch('ci', '--pr', '8');
  const waited = await github.wait(failed);
  assert.equal(waited.code, 3);
  assert.equal(failed.state().error?.code, 'watch_failed');
  assert.match(waited.stdout, /1 failing: CI \/ unit/);
});

test('a machine without gh: the watch ends at once and names the PATH that was searched', async (t) => {
  const github = makeGithub(t);
  // Whatever the machine has, gh is not in here.
  const bin = join(github.base, 'bin');
  mkdirSync(bin);
  symlinkSync(testNode(), join(bin, 'node'));
  const env = { PATH: bin };
  const result = await run(github, ['watch', 'ci', 'octo/demo#7', '--for', '10m', '--wait'], { env });
  assert.equal(result.code, 3, result.stderr);
  const once = await run(github, ['watch', 'ci', 'octo/demo#7', '--once', '--json'], { env });
  assert.equal(once.code, 3);
  const { state, evidence } = JSON.parse(once.stdout);
  assert.equal(state, 'tool_missing');
  assert.ok(evidence.startsWith(`cannot find gh on PATH (${bin})`), evidence);
});

test('a gh that is not logged in, and a repository that is not there, end the watch at once in its own words', async (t) => {
  const github = makeGithub(t);
  github.play({ fail: { stderr: 'To get started with GitHub CLI, please run:  gh auth login', code: 4 } });
  const login = await github.watch('ci', '--pr', '7');
  const waited = await github.wait(login);
  assert.deepEqual([waited.code, login.state().error?.code], [3, 'watch_error']);
  assert.match(login.state().error?.message ?? '', /gh is not logged in: .*gh auth login/);
  assert.equal(github.calls().length, 1);
  github.play({
    fail: { stderr: "GraphQL: Could not resolve to a Repository with the name 'octo/demo'. (repository)" },
  });
  const missing = await github.watch('review', '--pr', '7');
  assert.equal((await github.wait(missing)).code, 3);
  assert.match(missing.state().error?.message ?? '', /Could not resolve to a Repository/);
});

test('failing calls are tried again within a poll and after it, told once, and over when GitHub answers', async (t) => {
  const github = makeGithub(t);
  // Two polls of three calls fail, and the first call of the third.
  github.play(
    { fail: { stderr: 'HTTP 502: Bad Gateway (https://api.github.com/graphql)' }, times: 7 },
    { view: green },
  );
  const watch = await github.watch('ci', '--pr', '7');
  const waited = await github.wait(watch);
  assert.equal(waited.code, 0, waited.stderr);
  assert.deepEqual(
    watch
      .events()
      .flatMap(({ type, cause, word }) =>
        ['trouble', 'recovered', 'news'].includes(type) ? [`${type} ${word ?? cause}`] : [],
      ),
    ['trouble server', 'recovered server', 'news passed'],
  );
  assert.equal(github.calls('pr view').length, 8);
});

test('a rate limit is waited for until its reset', async (t) => {
  const github = makeGithub(t);
  github.play({ fail: { stderr: 'HTTP 403: API rate limit exceeded. Retry-After: 8' } }, { view: green });
  const watch = await github.watch('ci', '--pr', '7');
  assert.equal((await github.wait(watch)).code, 0);
  const [first, second] = github.calls('pr view');
  assert.ok(Number(second?.at) - Number(first?.at) >= 8_000, `${first?.at} ${second?.at}`);
});

test('watches of one pull request in one state folder share their fetches', async (t) => {
  const github = makeGithub(t);
  github.play({ view: running });
  const watches = await Promise.all([
    github.watch('ci', '--pr', '7', '--every', '20s'),
    github.watch('pr', '--pr', '7', '--every', '20s'),
    github.watch('review', '--pr', '7', '--every', '20s'),
  ]);
  await eventually('each to have looked', () => watches.every((watch) => newsOf(watch).length === 1), {
    limitMs: 60_000,
  });
  const atFirst = github.calls('pr view').length;
  // At the start each wants to know how it stands now.
  assert.ok(atFirst >= 1 && atFirst <= 3, `${atFirst} fetches`);
  github.play({ view: view({ state: 'MERGED', statusCheckRollup: [job('unit', 'SUCCESS')] }) });
  for (const watch of watches) assert.equal((await github.wait(watch)).code, 0);
  assert.ok(
    github.calls('pr view').length <= 2,
    `${github.calls('pr view').length} fetches for the second look of three`,
  );
});

test('a forged answer in the state folder passes nothing', async (t) => {
  const github = makeGithub(t);
  github.play({ view: running });
  const watch = await github.watch('ci', '--pr', '7');
  await eventually('the first look', () => newsOf(watch).length === 1);
  const folder = github.path('.job-state/shared');
  for (const name of readdirSync(folder).filter((found) => found.endsWith('.json'))) {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll('IN_PROGRESS', 'SUCCESS');
    writeFileSync(join(folder, name), text);
  }
  const second = await github.watch('ci', '--pr', '7');
  await eventually('its first look', () => newsOf(second).length === 1);
  assert.deepEqual([newsOf(watch), newsOf(second)], [['running'], ['running']]);
  for (const { id } of [watch, second]) await run(github, ['cancel', id]);
});

test('the foreground prints one JSON line per change, one terminal line, and no line for the same again', async (t) => {
  const github = makeGithub(t);
  const red = (head: string) => view({ headRefOid: head, statusCheckRollup: [job('unit', 'FAILURE')] });
  github.play({ view: running, times: 2 }, { view: green });
  const { code, stdout } = await github.foreground('ci', '--pr', '7', '--for', '5m').promise;
  assert.equal(code, 0);
  const lines = linesOf(stdout);
  assert.deepEqual(
    lines.map(({ type, kind, state, head }) => [type, kind, state, head]),
    [
      ['status', 'ci', 'running', headA],
      ['terminal', 'ci', 'passed', headA],
    ],
  );
  if (spawnSync('jq', ['--version']).status === 0) {
    const types = spawnSync('jq', ['-er', '.type'], { input: stdout, encoding: 'utf8' });
    assert.deepEqual([types.status, types.stdout], [0, 'status\nterminal\n']);
  }
  github.play({ view: red(headB) });
  const constant = await github.foreground('ci', '--pr', '9', '--for', '12s', '--repeat').promise;
  assert.deepEqual(
    linesOf(constant.stdout)
      .map(({ type, state }) => `${type} ${state}`)
      .slice(0, 1),
    ['status failed'],
  );
  assert.equal(linesOf(constant.stdout).filter(({ type }) => type === 'status').length, 1);
  assert.ok(github.calls('pr view').length >= 2);
});

test('a worker that is killed loses no review and repeats none', async (t) => {
  const github = makeGithub(t);
  const comment = (id: number) => ({ id: `IC_${id}`, author: { login: 'bob' }, createdAt: `2025-06-01T12:0${id}:00Z` });
  github.play({ view: view({ comments: [comment(1)] }) });
  const watch = await github.watch('review', '--pr', '7', '--repeat');
  await eventually('the baseline', () => newsOf(watch).length === 1);
  process.kill(watch.identity('worker').pid, 'SIGKILL');
  github.play(
    { view: view({ comments: [comment(1), comment(2)] }), times: 2 },
    { view: view({ state: 'MERGED', comments: [comment(1), comment(2)] }) },
  );
  assert.equal((await github.wait(watch)).code, 0);
  assert.deepEqual(newsOf(watch), ['armed', 'new-activity', 'merged']);
});

test('bad words are refused with 1, what came and what is allowed, and make nothing', async (t) => {
  const github = makeGithub(t);
  const refusals: [words: string[], says: RegExp][] = [
    [['ci', '--for', '1h'], /cannot watch ci without a pull request: give --pr N/],
    [['ci', '--pr', 'seven', '--for', '1h'], /"seven": allowed are a number/],
    [['pr', '--pr', '7', '--repo', 'demo', '--for', '1h'], /repository "demo": allowed are OWNER\/REPO/],
    [['review', '--pr', '7', '--for', '1h', '--every', '1s'], /--every 1s: it is out of range; allowed: 5s to/],
    [['ci', '--pr', '7'], /cannot watch without a bound/],
  ];
  for (const [words, says] of refusals) {
    const { code, stderr } = await run(github, ['watch', ...words]);
    assert.equal(code, 1, words.join(' '));
    assert.match(stderr, says);
  }
  assert.equal(existsSync(github.path('.job-state')), false);
});

test('a folder without a repository: gh says so, and we say how to name it', async (t) => {
  const github = makeGithub(t);
  github.play({
    fail: { stderr: 'failed to run git: fatal: not a git repository (or any of the parent directories): .git' },
  });
  const { code, stdout } = await run(github, ['watch', 'ci', '--pr', '7', '--once']);
  assert.equal(code, 3);
  assert.match(stdout, /name it with --repo OWNER\/REPO/);
  assert.equal(dirname(github.dir), github.base);
});
