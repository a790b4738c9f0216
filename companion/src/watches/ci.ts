// The checks of a pull request's head, of a commit, or of a branch: green, red, or not there yet. Green is what ran and passed, all of it, on the
// exact head; what was only skipped is none. Red at the first failure.
import { usageError } from '../core/errors.ts';
import { ghSettleAgainMs, limits } from '../core/limits.ts';
import type { Given } from '../core/option-table.ts';
import { type Commit, findCommit } from './github/commit.ts';
import type { Failure } from './github/failures.ts';
import { findPull, type Pull } from './github/pull.ts';
import * as say from './github/reading.ts';
import { judgeRollup, type Rollup } from './github/rollup.ts';
import { findRuns } from './github/runs.ts';
import { isFailure } from './github/share.ts';
import { readPull, repositoryOf, targetOptions } from './github/target.ts';
import type { Cursor, Look, Tools, Watch } from './watch.ts';

interface CiInput {
  repo: string | null;
  pr: number | null;
  /** A commit (`is_sha`) or a branch, where it is no pull request. */
  expression: string | null;
  is_sha: boolean;
  grace_ms: number;
  allow_none: boolean;
}

export const ci = {
  id: 'ci',
  summary: 'the checks of a pull request, a commit or a branch on GitHub (through gh)',
  form: '[PR]',
  words: { min: 0, max: 1 },
  options: {
    ...targetOptions,
    sha: { kind: 'text', value: 'SHA', help: 'this commit instead of a pull request' },
    ref: { kind: 'text', value: 'BRANCH', help: 'the tip of this branch or tag instead of a pull request' },
    'no-checks-grace': {
      kind: 'duration',
      value: 'D',
      range: limits.noChecksGrace,
      help: 'how long a head may stay without checks before that is said (default 5m)',
    },
    'allow-none': { kind: 'flag', help: 'no checks, or only skipped ones, are enough after the grace' },
  },
  examples: ['watch ci --pr 7 --for 2h', 'watch ci --repo OWNER/REPO --ref main --for 1h --repeat'],
  isRemote: true,

  read(given) {
    const graceMs = given.duration('no-checks-grace') ?? limits.noChecksGrace.default;
    const rest = { is_sha: given.has('sha'), grace_ms: graceMs, allow_none: given.has('allow-none') };
    const expression = readExpression(given);
    const target = expression === null ? readPull(given, 'ci') : { repo: repositoryOf(given), pr: null };
    const input: CiInput = { ...target, expression, ...rest };
    return { input: { ...input }, words: `checks of ${placeOf(input, input.repo)}` };
  },

  async look(input, tools, cursor) {
    const wanted = input as unknown as CiInput;
    const found = await findHead(wanted, tools, cursor);
    if (isFailure(found)) return found;
    // A branch may have a name of hex digits.
    const isOther = wanted.is_sha && !found.head?.startsWith(wanted.expression ?? '');
    if (found.head === null || isOther) return notThere(wanted, found.repo, tools, cursor);
    const runs = await findRuns(found.repo, found.head, tools, say.wantsFresh(cursor));
    if (isFailure(runs)) return runs;
    return judge(wanted, { ...found, head: found.head }, judgeRollup(found.checks, runs.runs), tools, cursor);
  },
} as const satisfies Watch;

function readExpression(given: Given): string | null {
  const sha = given.text('sha');
  const ref = given.text('ref');
  const said = ['pr', 'sha', 'ref'].filter((option) => given.has(option));
  if (said.length + given.words.length > 1)
    throw usageError('cannot watch ci of several things: give one of --pr N, --sha SHA and --ref BRANCH');
  if (sha !== undefined && !/^[0-9a-f]{7,64}$/i.test(sha))
    throw usageError(`cannot take --sha ${JSON.stringify(sha)}: allowed are 7 to 64 hex digits`);
  // What git allows in a name; `:` and `^` would name something else than a tip.
  if (ref !== undefined && !/^(?![-/.])[^\s~^:?*[\\\p{Cc}]{1,250}$/u.test(ref))
    throw usageError(`cannot take --ref ${JSON.stringify(ref)}: it is no name of a branch or tag`);
  return sha?.toLowerCase() ?? ref ?? null;
}

function findHead(wanted: CiInput, tools: Tools, cursor: Cursor | null): Promise<Pull | Commit | Failure> {
  if (wanted.pr !== null) return findPull({ repo: wanted.repo, pr: wanted.pr }, tools, cursor);
  return findCommit(wanted.repo, wanted.expression ?? '', tools, cursor);
}

function judge(
  wanted: CiInput,
  found: (Pull | Commit) & { head: string },
  rollup: Rollup,
  tools: Tools,
  cursor: Cursor | null,
): Look {
  const { head, repo } = found;
  const state = found.kind === 'pull' ? found.state : 'open';
  const grace = say.graceOf(wanted.grace_ms, head, tools, cursor);
  const checks = say.checksWord(rollup, grace);
  const isNone = say.isNoneForGood(checks, grace);
  // Nobody lets a workflow of a closed pull request run, and its head gets no new checks: what has no verdict by then gets none.
  const isOver = state === 'closed' ? !['passed', 'settling', 'failed'].includes(checks) : state === 'merged' && isNone;
  const word = isOver && !(isNone && wanted.allow_none) ? state : checks;
  const verdict =
    word === 'failed' || word === state
      ? 'failed'
      : word === 'passed' || (isNone && wanted.allow_none)
        ? 'met'
        : 'pending';
  const moved = say.movedFrom(cursor, head);
  const notes = [
    state === 'open' ? '' : `, ${state}`,
    moved === null ? '' : `, head moved from ${say.shortSha(moved)}`,
  ];
  const text = `${placeOf(wanted, repo)} ${say.shortSha(head)}: ${say.checksWords(rollup, grace)}`;
  return {
    kind: 'look',
    verdict,
    word,
    evidence: say.line(`${text}${notes.join('')}`),
    key: [head, word, rollup.signature || '-', state].join(':'),
    facts: {
      repo,
      ...(found.kind === 'pull' ? { pr: found.number, url: found.url, pr_state: state } : { ref: wanted.expression }),
      head,
      ...(moved === null ? {} : { head_before: moved }),
      ...say.checksFacts(rollup),
    },
    cursor: { repo, ...say.graceCursor(rollup, grace, checks) },
    ...(checks === 'settling' ? { againMs: ghSettleAgainMs } : {}),
    isSettled: state !== 'open' && verdict !== 'pending',
    needsAttention: (word === 'gated' || isNone) && verdict === 'pending',
  };
}

/** A commit that nobody pushed yet, or a branch that does not exist yet. */
function notThere(wanted: CiInput, repo: string, tools: Tools, cursor: Cursor | null): Look {
  const nowMs = tools.nowMs();
  const since = say.sinceOf(cursor, '', nowMs);
  const isLate = nowMs - since >= wanted.grace_ms;
  return {
    kind: 'look',
    verdict: 'pending',
    word: 'not_there',
    evidence: say.line(`${placeOf(wanted, repo)}: GitHub has no such commit${isLate ? '' : ' yet'}`),
    key: `not_there:${isLate ? 'late' : 'yet'}`,
    facts: { repo, ref: wanted.expression },
    cursor: { repo, head: '', since },
    needsAttention: isLate,
  };
}

function placeOf({ pr, expression }: CiInput, repo: string | null): string {
  const what =
    pr === null ? `@${/^[0-9a-f]{40}/.test(expression ?? '') ? expression?.slice(0, 10) : expression}` : `#${pr}`;
  return `${repo ?? ''}${what}`;
}
