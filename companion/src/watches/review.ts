// Anything that a person or a program says on a pull request: a review, an approval, a request for changes, a comment. What is there at the first
// look is the baseline. A merge settles it (met), a close without merge too (failed).
import { type Activity, compareActivity, factsOfActivity, readSeen, wordsOfActivity } from './github/activity.ts';
import { findPull } from './github/pull.ts';
import { line } from './github/reading.ts';
import { isFailure } from './github/share.ts';
import { readPull, targetOptions } from './github/target.ts';
import type { Watch } from './watch.ts';

export const review = {
  id: 'review',
  summary: 'a new review, approval or comment on a pull request on GitHub (through gh)',
  form: '[PR]',
  words: { min: 0, max: 1 },
  options: {
    ...targetOptions,
    by: { kind: 'list', value: 'LOGIN', help: 'only what this account does (may be repeated)' },
  },
  examples: ['watch review --pr 7 --for 2d', 'watch review OWNER/REPO#7 --for 7d --repeat'],
  isRemote: true,

  read(given) {
    const target = readPull(given, 'review');
    const by = given.texts('by').map((login) => login.replace(/^@/, '').toLowerCase());
    const who = by.length === 0 ? '' : ` by ${by.join(', ')}`;
    return { input: { ...target, by }, words: `reviews and comments${who} on ${target.repo ?? ''}#${target.pr}` };
  },

  async look(input, tools, cursor) {
    const pr = Number(input.pr);
    const repo = typeof input.repo === 'string' ? input.repo : null;
    const by = Array.isArray(input.by) ? input.by : [];
    const pull = await findPull({ repo, pr }, tools, cursor);
    if (isFailure(pull)) return pull;
    const isWanted = ({ actor }: Activity): boolean =>
      by.length === 0 ||
      by.some((login) => actor.toLowerCase().replace(/\[bot\]$/, '') === login.replace(/\[bot\]$/, ''));
    const { fresh, seen } = compareActivity(pull.activity, readSeen(cursor), isWanted);
    const { state } = pull;
    const isNew = fresh.length > 0;
    const ended = state === 'open' ? '' : `, ${state}`;
    const said = isNew ? wordsOfActivity(fresh) : `${seen.ids.length} seen, nothing new`;
    return {
      kind: 'look',
      verdict: isNew || state === 'merged' ? 'met' : state === 'closed' ? 'failed' : 'pending',
      word: isNew ? 'new-activity' : state === 'open' ? 'armed' : state,
      evidence: line(`${pull.repo}#${pr}: ${said}${ended}`),
      // What was told stays told until there is something newer.
      key: `${state}:${seen.report}`,
      facts: {
        repo: pull.repo,
        pr,
        url: pull.url,
        pr_state: state,
        review: pull.decision,
        seen: seen.ids.length,
        ...(isNew ? factsOfActivity(fresh) : {}),
      },
      cursor: { repo: pull.repo, seen },
      isSettled: state !== 'open',
    };
  },
} as const satisfies Watch;
