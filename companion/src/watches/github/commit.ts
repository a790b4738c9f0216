// A commit that is named by itself or as the tip of a branch, with its checks: one GraphQL question through `gh api`, which answers for all apps and
// statuses (`gh run list` knows workflows only). What is not there yet may still be pushed.
import { ghPages } from '../../core/limits.ts';
import type { Cursor, Tools } from '../watch.ts';
import { askGh, unexpected } from './call.ts';
import { type Check, readCheck } from './check.ts';
import type { Failure } from './failures.ts';
import { type Fields, fieldsOf, linkOf, rowsOf, shaOf } from './json.ts';
import { wantsFresh } from './reading.ts';
import { shareGh } from './share.ts';
import { repositoryIn } from './target.ts';

export interface Commit {
  kind: 'commit';
  repo: string;
  /** null: GitHub does not have it (yet). */
  head: string | null;
  checks: Check[];
}

const query = `query ($owner: String!, $name: String!, $expression: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    object(expression: $expression) {
      ... on Commit {
        oid
        statusCheckRollup {
          contexts(first: 100, after: $after) {
            pageInfo { hasNextPage endCursor }
            nodes {
              __typename
              ... on CheckRun { name status conclusion detailsUrl startedAt
                checkSuite { workflowRun { workflow { name } } } }
              ... on StatusContext { context state targetUrl createdAt }
            }
          }
        }
      }
    }
  }
}`;

/** `expression`: a commit or a branch. */
export async function findCommit(
  repo: string | null,
  expression: string,
  tools: Tools,
  cursor: Cursor | null,
): Promise<Commit | Failure> {
  const known = repo ?? (typeof cursor?.repo === 'string' ? cursor.repo : null) ?? (await askRepository(tools));
  if (typeof known !== 'string') return known;
  return shareGh(tools, `commit ${known}@${expression}`, wantsFresh(cursor), () =>
    fetchCommit(known, expression, tools),
  );
}

async function askRepository(tools: Tools): Promise<string | Failure> {
  const answer = await askGh(tools, ['repo', 'view', '--json', 'url']);
  if (answer.kind !== 'answer') return answer;
  return repositoryIn(linkOf(fieldsOf(answer.value)?.url)) ?? unexpected('gh repo view gave no address');
}

async function fetchCommit(repo: string, expression: string, tools: Tools): Promise<Commit | Failure> {
  const [name = '', owner = '', host] = repo.split('/').reverse();
  const words = [
    ...['api', 'graphql', ...(host === undefined ? [] : ['--hostname', host]), '-f', `query=${query}`],
    ...['-f', `owner=${owner}`, '-f', `name=${name}`, '-f', `expression=${expression}`],
  ];
  const checks: Check[] = [];
  let head: string | undefined;
  let after: string | undefined;
  for (let page = 0; page < ghPages; page += 1) {
    const answer = await askGh(tools, after === undefined ? words : [...words, '-f', `after=${after}`]);
    if (answer.kind !== 'answer') return answer;
    const repository = fieldsOf(fieldsOf(fieldsOf(answer.value)?.data)?.repository);
    if (repository?.object === undefined) return unexpected('gh api graphql gave no repository');
    const oid = shaOf(fieldsOf(repository.object)?.oid);
    if (oid === undefined) return { kind: 'commit', repo, head: null, checks: [] };
    // The branch moved between two pages: what was read belongs to another commit.
    if (head !== undefined && head !== oid) return unexpected('the branch moved meanwhile');
    head = oid;
    const rollup = fieldsOf(fieldsOf(repository.object)?.statusCheckRollup);
    // Nothing was reported; on a later page something was.
    if (!rollup && after === undefined) return { kind: 'commit', repo, head, checks };
    const contexts = fieldsOf(rollup?.contexts);
    const rows = rowsOf(contexts?.nodes);
    // A check that this login may not see comes as null.
    if (!rows || rows.length !== listLength(contexts?.nodes)) return unexpected('a part of the checks is missing');
    checks.push(...rows.map((row) => readCheck({ ...row, workflowName: workflowOf(row) })));
    const { hasNextPage, endCursor } = fieldsOf(contexts?.pageInfo) ?? {};
    if (hasNextPage === false) return { kind: 'commit', repo, head, checks };
    // No verdict from a part.
    if (hasNextPage !== true || typeof endCursor !== 'string')
      return unexpected('the next page of the checks has no name');
    after = endCursor;
  }
  return unexpected(`more than ${ghPages} pages of checks`);
}

function workflowOf(row: Fields): unknown {
  return fieldsOf(fieldsOf(fieldsOf(row.checkSuite)?.workflowRun)?.workflow)?.name;
}

function listLength(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
