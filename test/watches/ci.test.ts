// `watch ci`: from what the stand-in for gh replays to a verdict, a word and a key. No timers: each look is called, on the test's clock.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ci } from '../../companion/src/watches/ci.ts';
import type { Fault, Look, Trouble } from '../../companion/src/watches/watch.ts';
import {
  asLook,
  follow,
  headA,
  headB,
  job,
  makeDesk,
  read,
  reading,
  status,
  view,
  workflowRun,
} from './github-desk.ts';

const passing = view({ statusCheckRollup: [job('unit', 'SUCCESS'), job('docs', 'SKIPPED')] });
const failing = view({ statusCheckRollup: [job('unit', 'FAILURE'), job('lint', 'IN_PROGRESS')] });
const running = view({ statusCheckRollup: [job('unit', 'IN_PROGRESS')] });
const failingOnB = view({ headRefOid: headB, statusCheckRollup: [job('unit', 'FAILURE', { run: 2 })] });

function told(looks: (Look | Trouble | Fault)[]): string[] {
  return looks.map((look) => (look.kind === 'look' ? `${look.verdict} ${look.word}` : look.kind));
}

test('pending checks become a pass, and what is said names the pull request, the head and the counts', async (t) => {
  const desk = makeDesk(t);
  desk.play(
    { view: running, runs: [workflowRun(1, 'in_progress')] },
    { view: passing, runs: [workflowRun(1, 'success')] },
  );
  const [first, second] = await follow(desk, ci, ['--pr', '7', '--repo', 'octo/demo'], 2);
  assert.deepEqual(told([first!, second!]), ['pending running', 'met passed']);
  assert.equal(second?.evidence, 'octo/demo#7 aaaaaaaaaa: 1 passed, 1 skipped');
  assert.equal(second?.key, `${headA}:passed:-:open`);
  const { passed, skipped, head, pr } = second?.facts ?? {};
  assert.deepEqual([passed, skipped, head, pr], [1, 1, headA, 7]);
});

test('gh is called quietly, for exactly the head, and only with documented fields', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: passing });
  await follow(desk, ci, ['--pr', '7', '--repo', 'octo/demo'], 1);
  assert.deepEqual(
    desk.calls().map(({ command }) => command),
    ['pr view', 'run list'],
  );
  const [pull, runs] = desk.calls();
  assert.deepEqual(pull?.args.slice(0, 5), ['pr', 'view', '7', '--repo', 'octo/demo']);
  assert.deepEqual(runs?.args.slice(0, 8), ['run', 'list', '--repo', 'octo/demo', '--commit', headA, '--limit', '100']);
  const quiet = { PAGER: 'cat', GH_PAGER: 'cat', GH_PROMPT_DISABLED: '1', NO_COLOR: '1', GH_NO_UPDATE_NOTIFIER: '1' };
  assert.deepEqual(pull?.quiet, quiet);
});

test('red on one head and red on the next are two keys, and the failing job is named with its link', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: failing, times: 2 }, { view: failingOnB });
  const [first, same, second] = await follow(desk, ci, ['--pr', '7', '--repo', 'octo/demo'], 3);
  assert.deepEqual(told([first!, same!, second!]), Array(3).fill('failed failed'));
  assert.equal(first?.key, same?.key);
  assert.match(first?.key ?? '', new RegExp(`^${headA}:failed:[0-9a-f]{12}:open$`));
  assert.match(second?.key ?? '', new RegExp(`^${headB}:failed:[0-9a-f]{12}:open$`));
  const [job1] = (first?.facts.failing ?? []) as { name: string; link: string }[];
  assert.equal(job1?.name, 'CI / unit');
  assert.match(job1?.link ?? '', /actions\/runs\/1\/job\/\d+$/);
  assert.match(second?.evidence ?? '', /head moved from aaaaaaaaaa/);
  assert.equal(second?.facts.head_before, headA);
});

test('a red re-run on the same head is another key', async (t) => {
  const desk = makeDesk(t);
  const again = view({ statusCheckRollup: [job('unit', 'FAILURE')] });
  desk.play({ view: failing }, { view: again });
  const [first, second] = await follow(desk, ci, ['--pr', '7', '--repo', 'octo/demo'], 2);
  assert.notEqual(first?.key, second?.key);
});

test('a workflow that waits for approval holds a green rollup, is named, and asks for attention', async (t) => {
  const desk = makeDesk(t);
  const gated = workflowRun(2, 'action_required', { workflowName: 'Deploy \u001b[31mnow' });
  desk.play({ view: passing, runs: [workflowRun(1, 'success'), gated] });
  const [look] = await follow(desk, ci, ['--pr', '7', '--repo', 'octo/demo'], 1);
  assert.deepEqual(told([look!]), ['pending gated']);
  assert.equal(look?.needsAttention, true);
  assert.match(look?.evidence ?? '', /waiting for approval: Deploy now; 1 passed/);
  assert.deepEqual(look?.facts.gating, ['Deploy now']);
});

test('green that has just begun is looked at once more, soon and freshly, before it passes', async (t) => {
  const desk = makeDesk(t);
  const startedAt = new Date(desk.nowMs - 10_000).toISOString();
  const early = view({ statusCheckRollup: [status('cla', 'SUCCESS', startedAt)] });
  const queued = workflowRun(1, 'queued', { createdAt: startedAt });
  // As after a push: the first app is done before the workflows are there.
  desk.play(
    { view: early },
    { view: early, runs: [queued] },
    { view: early, runs: [workflowRun(1, 'success', { createdAt: startedAt })], times: 2 },
  );
  const looks = await follow(desk, ci, ['7', '--repo', 'octo/demo'], 4, 15_000);
  assert.deepEqual(told(looks), ['pending settling', 'pending running', 'pending settling', 'met passed']);
  assert.deepEqual(
    looks.map(({ againMs }) => againMs),
    [15_000, undefined, 15_000, undefined],
  );
  assert.match(looks[0]?.evidence ?? '', /1 passed; just begun, to be looked at once more$/);
  // Where there is no next look, and where all began a minute ago, it is what it is.
  const { everyMs: _none, ...once } = desk.tools();
  assert.equal(asLook(await ci.look(read(ci, '7', '--repo', 'octo/demo'), once, null)).word, 'passed');
});

test('a clock that is behind that of GitHub delays a pass by one look only', async (t) => {
  const desk = makeDesk(t);
  const startedAt = new Date(desk.nowMs + 3_600_000).toISOString();
  desk.play({ view: view({ statusCheckRollup: [job('unit', 'SUCCESS', { startedAt })] }) });
  assert.deepEqual(told(await follow(desk, ci, ['7', '--repo', 'octo/demo'], 2)), ['pending settling', 'met passed']);
});

test('runs of another commit never count', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: passing, runs: [workflowRun(9, 'failure', { headSha: headB })], isUnfiltered: true });
  assert.deepEqual(told(await follow(desk, ci, ['--pr', '7', '--repo', 'octo/demo'], 1)), ['met passed']);
});

test('no checks are not yet, then none, which asks for attention once and is pending; --allow-none makes it enough', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view() });
  const looks = await follow(desk, ci, ['--pr', '7', '--repo', 'octo/demo', '--no-checks-grace', '2m'], 4);
  assert.deepEqual(told(looks), ['pending not_yet', 'pending not_yet', 'pending none', 'pending none']);
  assert.deepEqual(
    looks.map(({ needsAttention }) => needsAttention),
    [false, false, true, true],
  );
  assert.equal(looks[2]?.key, looks[3]?.key);
  assert.match(looks[2]?.evidence ?? '', /no checks reported in 2m/);
  const allowed = await follow(desk, ci, ['7', '--repo', 'octo/demo', '--no-checks-grace', '2m', '--allow-none'], 3);
  assert.deepEqual(told(allowed), ['pending not_yet', 'pending not_yet', 'met none']);
});

test('a rollup of null is what a head without checks has', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view({ statusCheckRollup: null }) });
  assert.deepEqual(told(await follow(desk, ci, ['7', '--repo', 'octo/demo'], 1)), ['pending not_yet']);
});

test('only skipped checks are none, and never green', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view({ statusCheckRollup: [job('a', 'SKIPPED'), job('b', 'NEUTRAL')] }) });
  const looks = await follow(desk, ci, ['7', '--repo', 'octo/demo'], 7);
  assert.deepEqual(told(looks), Array(7).fill('pending none'));
  assert.match(looks[0]?.evidence ?? '', /nothing ran, 2 skipped/);
  assert.deepEqual(
    looks.map(({ needsAttention }) => needsAttention),
    [...Array(5).fill(false), true, true],
  );
});

test('a new head begins its grace anew', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view(), times: 3 }, { view: view({ headRefOid: headB }) });
  const looks = await follow(desk, ci, ['7', '--repo', 'octo/demo', '--no-checks-grace', '2m'], 4);
  assert.deepEqual(told(looks), ['pending not_yet', 'pending not_yet', 'pending none', 'pending not_yet']);
});

const ends: [what: string, change: Record<string, unknown>, says: string, settled: boolean][] = [
  ['merged after a pass', { state: 'MERGED', statusCheckRollup: [job('unit', 'SUCCESS')] }, 'met passed', true],
  ['merged with a failure', { state: 'MERGED', statusCheckRollup: [job('unit', 'FAILURE')] }, 'failed failed', true],
  [
    'merged while its checks run',
    { state: 'MERGED', statusCheckRollup: [job('unit', 'QUEUED')] },
    'pending running',
    false,
  ],
  ['closed after a pass', { state: 'CLOSED', statusCheckRollup: [job('unit', 'SUCCESS')] }, 'met passed', true],
  [
    'closed while its checks run',
    { state: 'CLOSED', statusCheckRollup: [job('unit', 'QUEUED')] },
    'failed closed',
    true,
  ],
  ['closed without checks', { state: 'CLOSED' }, 'failed closed', true],
  ['merged before any check', { state: 'MERGED' }, 'pending not_yet', false],
];

for (const [what, change, says, settled] of ends) {
  test(`a pull request that was ${what} is ${says}`, async (t) => {
    const desk = makeDesk(t);
    desk.play({ view: view(change) });
    const [look] = await follow(desk, ci, ['7', '--repo', 'octo/demo'], 1);
    assert.equal(told([look!])[0], says);
    assert.equal(look?.isSettled, settled);
    assert.match(look?.evidence ?? '', /, (merged|closed)$/);
  });
}

test('a pull request that was merged and never got a check is given up after the grace', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view({ state: 'MERGED' }) });
  const looks = await follow(desk, ci, ['7', '--repo', 'octo/demo', '--no-checks-grace', '1m'], 2);
  assert.deepEqual(told(looks), ['pending not_yet', 'failed merged']);
  const allowed = await follow(desk, ci, ['7', '--repo', 'octo/demo', '--no-checks-grace', '1m', '--allow-none'], 2);
  assert.deepEqual(told(allowed), ['pending not_yet', 'met none']);
});

test('without --repo gh finds the repository, and every further question names it', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: passing });
  await follow(desk, ci, ['7'], 2);
  const [first, runs, second] = desk.calls();
  assert.equal(first?.args.includes('--repo'), false);
  assert.equal(first?.cwd, desk.dir);
  for (const call of [runs, second]) assert.equal(call?.args[call.args.indexOf('--repo') + 1], 'octo/demo');
});

test('a commit is looked up with all its checks, page after page, and its runs', async (t) => {
  const desk = makeDesk(t);
  const { workflowName, ...node } = job('unit', 'SUCCESS');
  const run = { ...node, checkSuite: { workflowRun: { workflow: { name: workflowName } } } };
  const page = (nodes: unknown[], endCursor: string | null) => ({
    oid: headA,
    statusCheckRollup: { contexts: { pageInfo: { hasNextPage: endCursor !== null, endCursor }, nodes } },
  });
  const { startedAt, ...deploy } = status('deploy', 'FAILURE');
  desk.play({ commit: page([run], 'next') }, { commit: page([{ ...deploy, createdAt: startedAt }], null) });
  const [look] = await follow(desk, ci, ['--sha', headA, '--repo', 'octo/demo'], 1);
  assert.equal(told([look!])[0], 'failed failed');
  assert.equal(look?.evidence, 'octo/demo@aaaaaaaaaa aaaaaaaaaa: 1 failing: deploy; 1 passed');
  assert.deepEqual(
    desk.calls().map(({ command }) => command),
    ['api graphql', 'api graphql', 'run list'],
  );
  assert.ok(desk.calls()[1]?.args.includes('after=next'));
});

for (const [what, contexts] of [
  ['a further page without a cursor', { pageInfo: { hasNextPage: true, endCursor: null }, nodes: [] }],
  ['more pages than are read', { pageInfo: { hasNextPage: true, endCursor: 'more' }, nodes: [] }],
  ['no list of checks', { pageInfo: { hasNextPage: false, endCursor: null }, nodes: null }],
  ['a check that is hidden', { pageInfo: { hasNextPage: false, endCursor: null }, nodes: [null] }],
  ['no word about further pages', { nodes: [] }],
] as const) {
  test(`a commit with ${what} has no verdict from the part that was read`, async (t) => {
    const desk = makeDesk(t);
    const { workflowName: _name, ...node } = job('unit', 'SUCCESS');
    const nodes = contexts.nodes === null ? null : [node, ...contexts.nodes];
    desk.play({ commit: { oid: headA, statusCheckRollup: { contexts: { ...contexts, nodes } } } });
    const input = read(ci, '--sha', headA, '--repo', 'octo/demo');
    const found = await ci.look(input, desk.tools(), null);
    assert.deepEqual([found.kind, 'cause' in found && found.cause], ['trouble', 'shape']);
  });
}

test('a branch without --repo: gh names the repository once; what is not pushed yet is not there, and said after the grace', async (t) => {
  const desk = makeDesk(t);
  desk.play({ commit: null, times: 3 }, { commit: { oid: headA, statusCheckRollup: null } });
  const looks = await follow(desk, ci, ['--ref', 'topic/x', '--no-checks-grace', '2m'], 4);
  assert.deepEqual(told(looks), ['pending not_there', 'pending not_there', 'pending not_there', 'pending not_yet']);
  assert.deepEqual(
    looks.map(({ needsAttention }) => needsAttention),
    [false, false, true, false],
  );
  assert.equal(desk.calls('repo view').length, 1);
  assert.match(looks[2]?.evidence ?? '', /^octo\/demo@topic\/x: GitHub has no such commit$/);
});

test('a branch whose name looks like the beginning of a commit is not that commit', async (t) => {
  const desk = makeDesk(t);
  desk.play({ commit: { oid: headA, statusCheckRollup: null } });
  assert.deepEqual(told(await follow(desk, ci, ['--sha', 'bbbbbbb', '--repo', 'octo/demo'], 1)), ['pending not_there']);
});

test('a gh that tells no checks with the rest is asked for them, and again when the head moved meanwhile', async (t) => {
  const desk = makeDesk(t);
  const { statusCheckRollup: _none, ...bare } = view();
  const rows = (state: string) => ({ rows: [{ name: 'unit', state, bucket: '', workflow: 'CI', link: '' }], code: 8 });
  const onB = { ...bare, headRefOid: headB };
  // The head moves after the first answer; then both questions are of one head.
  desk.play({ view: bare, checks: rows('SUCCESS') }, { view: onB, checks: rows('PENDING'), times: 3 });
  const [look] = await follow(desk, ci, ['7', '--repo', 'octo/demo'], 1);
  assert.deepEqual([look?.facts.head, look?.word], [headB, 'running']);
  desk.play({ view: bare });
  assert.deepEqual(told(await follow(desk, ci, ['7', '--repo', 'octo/demo'], 1)), ['pending not_yet']);
});

for (const [words, repo, pr] of [
  [['7'], null, 7],
  [['#7'], null, 7],
  [['--pr', '7'], null, 7],
  [['octo/demo#7'], 'octo/demo', 7],
  [['https://github.com/octo/demo/pull/7'], 'octo/demo', 7],
  [['https://github.com/octo/demo/pull/7/files#diff'], 'octo/demo', 7],
  [['https://git.example.com/octo/demo/pull/7'], 'git.example.com/octo/demo', 7],
  [['7', '--repo', 'git.example.com/octo/demo'], 'git.example.com/octo/demo', 7],
  [['7', '--repo', 'github.com/octo/demo'], 'octo/demo', 7],
] as const) {
  test(`${words.join(' ')} is pull request ${pr} of ${repo ?? 'the folder'}`, () => {
    const input = read(ci, ...words);
    assert.deepEqual([input.repo, input.pr], [repo, pr]);
  });
}

test('the condition for people names what is watched', () => {
  assert.equal(reading(ci, 'octo/demo#7').words, 'checks of octo/demo#7');
  assert.equal(reading(ci, '--sha', headA).words, 'checks of @aaaaaaaaaa');
  assert.equal(reading(ci, '--ref', 'main', '--repo', 'o/r').words, 'checks of o/r@main');
});

for (const [words, says] of [
  [[], /^cannot watch ci without a pull request: give --pr N$/],
  [['0'], /^cannot watch ci of "0": allowed are a number, OWNER/],
  [['seven'], /allowed are a number/],
  [['--pr', '-7'], /cannot watch ci of "-7"/],
  [['https://github.com/7'], /allowed are a number/],
  [['7', '--pr', '7'], /give one of|name one/],
  [['--pr', '7', '--sha', headA], /give one of --pr N, --sha SHA and --ref BRANCH$/],
  [['--sha', 'main'], /cannot take --sha "main": allowed are 7 to 64 hex digits/],
  [['--ref', '--help'], /cannot take --ref "--help"/],
  [['--ref', 'a..b:c'], /cannot take --ref/],
  [['7', '--repo', 'demo'], /cannot take the repository "demo": allowed are OWNER\/REPO and HOST\/OWNER\/REPO/],
  [['7', '--repo', '-x/demo'], /cannot take the repository/],
  [['7', '--repo', 'o/..'], /cannot take the repository/],
  [['7', '--repo', 'o/r;id'], /cannot take the repository/],
  [['other/demo#7', '--repo', 'octo/demo'], /they name two repositories$/],
] as const) {
  test(`ci ${words.join(' ')} is refused`, () => {
    assert.throws(() => read(ci, ...words), { code: 'usage', message: says });
  });
}

test('a look without a cursor and one with a foreign cursor both stand', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: passing });
  const input = read(ci, '7', '--repo', 'octo/demo');
  for (const cursor of [null, {}, { repo: 7, head: [], since: 'x' }, { head: headA, since: 9e15 }]) {
    assert.equal(asLook(await ci.look(input, desk.tools(), cursor)).word, 'passed');
  }
});
