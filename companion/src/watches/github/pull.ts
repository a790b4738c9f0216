// A pull request as `gh pr view` tells it: in one answer how it stands, its head, the checks of that head, and what was done on it, so that all
// belong together. One answer serves every watch of that pull request in the state folder.
import type { Cursor, Tools } from '../watch.ts';
import { type Activity, readActivity } from './activity.ts';
import { type Answer, askGh, unexpected } from './call.ts';
import { type Check, readCheck } from './check.ts';
import type { Failure } from './failures.ts';
import { type Fields, fieldsOf, linkOf, rowsOf, shaOf, textOf } from './json.ts';
import { type MergeWord, type PullState, type ReviewDecision, readDecision, readMerge, readState } from './merge.ts';
import { wantsFresh } from './reading.ts';
import { shareGh } from './share.ts';
import { repositoryIn, type Target } from './target.ts';

export interface Pull {
  kind: 'pull';
  repo: string;
  number: number;
  url: string;
  title: string;
  state: PullState;
  merge: MergeWord;
  decision: ReviewDecision;
  head: string;
  checks: Check[];
  activity: Activity[];
}

const pullFields =
  'number,url,title,state,isDraft,mergeable,mergeStateStatus,reviewDecision,headRefOid,headRefName,statusCheckRollup,reviews,comments';

/** As a watch wants it: what another watch fetched will do when it is young enough. */
export function findPull(target: Target, tools: Tools, cursor: Cursor | null): Promise<Pull | Failure> {
  const repo = target.repo ?? (typeof cursor?.repo === 'string' ? cursor.repo : null);
  const key = `pull ${repo ?? tools.cwd}#${target.pr}`;
  return shareGh(tools, key, wantsFresh(cursor), () => fetchPull({ ...target, repo }, tools));
}

async function fetchPull(target: Target, tools: Tools): Promise<Pull | Failure> {
  const words = (fields: string): string[] => [
    ...['pr', 'view', String(target.pr)],
    ...(target.repo === null ? [] : ['--repo', target.repo]),
    ...['--json', fields],
  ];
  for (let round = 0; round < 3; round += 1) {
    const answer = await askGh(tools, words(pullFields));
    if (answer.kind !== 'answer') return answer;
    const row = fieldsOf(answer.value);
    const pull = row && readPullRow(row, target);
    if (!pull) return unexpected('gh pr view lacks the state, the head or the address of the pull request');
    // Null is what gh gives for a head without checks.
    if (row.statusCheckRollup !== undefined) return pull;
    const checks = await askChecks(pull, tools);
    if (!Array.isArray(checks)) return checks;
    // Two questions: the head may have moved between them.
    const after = await askGh(tools, words('headRefOid'));
    if (after.kind !== 'answer') return after;
    if (fieldsOf(after.value)?.headRefOid === pull.head) return { ...pull, checks };
  }
  return unexpected('the head moved again and again');
}

function readPullRow(row: Fields, target: Target): Pull | undefined {
  const url = linkOf(row.url);
  const repo = target.repo ?? repositoryIn(url);
  const state = readState(row);
  const head = shaOf(row.headRefOid);
  if (repo === undefined || state === undefined || head === undefined) return undefined;
  return {
    kind: 'pull',
    repo,
    number: target.pr,
    url,
    title: textOf(row.title),
    state,
    merge: readMerge(row),
    decision: readDecision(row),
    head,
    checks: (rowsOf(row.statusCheckRollup) ?? []).map(readCheck),
    activity: readActivity(row),
  };
}

/** For a gh that does not tell the checks with the rest. It says by its exit code how they stand, and fails when there are none. */
async function askChecks({ repo, number }: Pull, tools: Tools): Promise<Check[] | Failure> {
  const words = ['pr', 'checks', String(number), '--repo', repo, '--json', 'name,state,bucket,workflow,link'];
  const answer: Answer | Failure = await askGh(tools, words, [0, 1, 8]);
  if (answer.kind !== 'answer') return /no (?:checks|commit)/i.test(answer.message) ? [] : answer;
  return rowsOf(answer.value)?.map(readCheck) ?? unexpected('gh pr checks gave no list');
}
