// The workflow runs of one commit, as `gh run list` tells them.
import { ghRuns } from '../../core/limits.ts';
import type { Tools } from '../watch.ts';
import { askGh, unexpected } from './call.ts';
import { type Run, readRun } from './check.ts';
import type { Failure } from './failures.ts';
import { rowsOf } from './json.ts';
import { shareGh } from './share.ts';

export interface Runs {
  kind: 'runs';
  runs: Run[];
}

const runFields =
  'databaseId,name,workflowDatabaseId,workflowName,event,status,conclusion,createdAt,startedAt,url,headSha';

/** Those of exactly this commit. */
export async function findRuns(repo: string, head: string, tools: Tools, isFresh: boolean): Promise<Runs | Failure> {
  return shareGh<Runs>(tools, `runs ${repo}@${head}`, isFresh, async () => {
    const words = ['run', 'list', '--repo', repo, '--commit', head, '--limit', String(ghRuns), '--json', runFields];
    const answer = await askGh(tools, words);
    if (answer.kind !== 'answer') return answer;
    const rows = rowsOf(answer.value);
    if (!rows) return unexpected('gh run list gave no list');
    return { kind: 'runs', runs: rows.filter(({ headSha }) => headSha === head).flatMap((row) => readRun(row) ?? []) };
  });
}
