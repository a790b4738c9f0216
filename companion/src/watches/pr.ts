// A pull request until it is merged (met) or closed (failed), or with --mergeable until it can be merged and its checks are green. With --repeat
// every change is told: checks, merge, reviews and comments, a new head.
import { ghSettleAgainMs, limits } from '../core/limits.ts';
import { compareActivity, factsOfActivity, readSeen, wordsOfActivity } from './github/activity.ts';
import type { MergeWord } from './github/merge.ts';
import { findPull, type Pull } from './github/pull.ts';
import * as say from './github/reading.ts';
import { judgeRollup, type Rollup } from './github/rollup.ts';
import { findRuns } from './github/runs.ts';
import { isFailure } from './github/share.ts';
import { readPull, targetOptions } from './github/target.ts';
import type { Cursor, Look, Tools, Watch } from './watch.ts';

interface PrInput {
  repo: string | null;
  pr: number;
  mergeable: boolean;
  grace_ms: number;
  allow_none: boolean;
}

export const pr = {
  id: 'pr',
  summary: 'a pull request on GitHub: merged, closed, ready to merge (through gh)',
  form: '[PR]',
  words: { min: 0, max: 1 },
  options: {
    ...targetOptions,
    mergeable: { kind: 'flag', help: 'met as soon as it can be merged and its checks are green' },
    'no-checks-grace': {
      kind: 'duration',
      value: 'D',
      range: limits.noChecksGrace,
      help: 'how long a head may stay without checks before that is said (default 5m)',
    },
    'allow-none': {
      kind: 'flag',
      help: 'with --mergeable: no checks, or only skipped ones, are enough after the grace',
    },
  },
  examples: ['watch pr --pr 7 --for 2d', 'watch pr --pr 7 --for 2d --repeat', 'watch pr --pr 7 --for 2h --mergeable'],
  isRemote: true,

  read(given) {
    const target = readPull(given, 'pr');
    const input: PrInput = {
      ...target,
      mergeable: given.has('mergeable'),
      grace_ms: given.duration('no-checks-grace') ?? limits.noChecksGrace.default,
      allow_none: given.has('allow-none'),
    };
    const until = input.mergeable ? 'ready to merge' : 'merged';
    return { input: { ...input }, words: `${target.repo ?? ''}#${target.pr} ${until}` };
  },

  async look(input, tools, cursor) {
    const wanted = input as unknown as PrInput;
    const pull = await findPull(wanted, tools, cursor);
    if (isFailure(pull)) return pull;
    const runs = await findRuns(pull.repo, pull.head, tools, say.wantsFresh(cursor));
    if (isFailure(runs)) return runs;
    return judge(wanted, pull, judgeRollup(pull.checks, runs.runs), tools, cursor);
  },
} as const satisfies Watch;

function judge(wanted: PrInput, pull: Pull, rollup: Rollup, tools: Tools, cursor: Cursor | null): Look {
  const { head, state } = pull;
  const grace = say.graceOf(wanted.grace_ms, head, tools, cursor);
  const checks = say.checksWord(rollup, grace);
  const isGreen = checks === 'passed' || (wanted.allow_none && say.isNoneForGood(checks, grace));
  const merge = steadyMerge(pull, cursor);
  const isReady = wanted.mergeable && isGreen && merge === 'mergeable';
  const { fresh, seen } = compareActivity(pull.activity, readSeen(cursor), () => true);
  const obstacle = merge === 'mergeable' ? (isGreen ? 'mergeable' : checks) : merge;
  const moved = say.movedFrom(cursor, head);
  const parts = [
    `#${pull.number} ${state}`,
    ...(state === 'open' ? [merge] : []),
    ...(pull.decision === null ? [] : [pull.decision.replaceAll('_', ' ')]),
    say.checksWords(rollup, grace),
    ...(fresh.length > 0 ? [wordsOfActivity(fresh)] : []),
    ...(moved === null ? [] : [`head moved from ${say.shortSha(moved)}`]),
  ];
  return {
    kind: 'look',
    verdict: state === 'merged' || (state === 'open' && isReady) ? 'met' : state === 'closed' ? 'failed' : 'pending',
    word: state !== 'open' ? state : wanted.mergeable ? obstacle : 'open',
    evidence: say.line(`${pull.repo}${parts.join(', ')}`),
    key: [state, head, merge, pull.decision, checks, rollup.signature || '-', seen.report].join(':'),
    facts: {
      repo: pull.repo,
      pr: pull.number,
      url: pull.url,
      title: pull.title,
      pr_state: state,
      head,
      ...(moved === null ? {} : { head_before: moved }),
      merge: pull.merge,
      review: pull.decision,
      ...say.checksFacts(rollup),
      ...(fresh.length > 0 ? factsOfActivity(fresh) : {}),
    },
    cursor: { repo: pull.repo, ...say.graceCursor(rollup, grace, checks), merge, seen },
    ...(checks === 'settling' ? { againMs: ghSettleAgainMs } : {}),
    isSettled: state !== 'open',
    needsAttention: state === 'open' && wanted.mergeable && needsSomebody(merge, checks, isGreen),
  };
}

/** Nothing of this goes away by waiting. */
function needsSomebody(merge: MergeWord, checks: say.ChecksWord, isGreen: boolean): boolean {
  return merge === 'conflicting' || (!isGreen && ['failed', 'gated', 'none'].includes(checks));
}

/** GitHub forgets for a while whether it can be merged, after each push to the base: that alone is no news. */
function steadyMerge({ merge, head }: Pull, cursor: Cursor | null): MergeWord {
  const before = cursor?.head === head ? cursor.merge : undefined;
  const isKnown = before === 'mergeable' || before === 'conflicting' || before === 'blocked';
  return merge === 'unknown' && isKnown ? before : merge;
}
