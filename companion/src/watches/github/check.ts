// One check of a commit and one workflow run, from the three places that gh tells them in.
import { type Fields, instantOf, linkOf, textOf } from './json.ts';

/** A check run (a job of a workflow, or of another app) or a status. */
export interface Check {
  /** A commit status, which is never the same as a check run of that name. */
  isStatus: boolean;
  name: string;
  workflow: string;
  /** GitHub's word: the conclusion once it is over, the status before. */
  state: string;
  link: string;
  startedAt: number | null;
}

export interface Run {
  id: number;
  /** Of the workflow file: two files may have one name. */
  workflowId: number | null;
  workflow: string;
  event: string;
  state: string;
  link: string;
  createdAt: number | null;
  /** Of its newest attempt. */
  startedAt: number | null;
}

/** A row of `statusCheckRollup`, of `gh pr view` or of GraphQL, or of `gh pr checks`. */
export function readCheck(row: Fields): Check {
  const status = textOf(row.status);
  const conclusion = textOf(row.conclusion);
  const ofRun = status.toUpperCase() === 'COMPLETED' ? conclusion : status;
  return {
    isStatus: row.__typename === 'StatusContext' || (textOf(row.name) === '' && textOf(row.context) !== ''),
    name: textOf(row.name) || textOf(row.context) || 'unnamed',
    workflow: textOf(row.workflowName) || textOf(row.workflow),
    state: textOf(row.state) || ofRun || textOf(row.bucket),
    link: linkOf(row.detailsUrl) || linkOf(row.targetUrl) || linkOf(row.link),
    startedAt: instantOf(row.startedAt) ?? instantOf(row.createdAt),
  };
}

/** A row of `gh run list`. */
export function readRun(row: Fields): Run | undefined {
  if (typeof row.databaseId !== 'number') return undefined;
  const status = textOf(row.status);
  return {
    id: row.databaseId,
    workflowId: typeof row.workflowDatabaseId === 'number' ? row.workflowDatabaseId : null,
    workflow: textOf(row.workflowName) || textOf(row.name) || 'unnamed',
    event: textOf(row.event),
    state: status.toLowerCase() === 'completed' ? textOf(row.conclusion) : status,
    link: linkOf(row.url),
    createdAt: instantOf(row.createdAt),
    startedAt: instantOf(row.startedAt),
  };
}

/** Is the check a job of the run? A status, or another app's check, may link to anything. */
export function isJobOf({ isStatus, link }: Check, run: Run): boolean {
  if (isStatus) return false;
  if (run.link !== '' && !link.startsWith(run.link)) return false;
  return runIdIn(link) === run.id;
}

/** A job of some workflow run, by its own address. */
export function isJob({ isStatus, link }: Check): boolean {
  return !isStatus && runIdIn(link) !== undefined;
}

function runIdIn(link: string): number | undefined {
  const id = /\/actions\/runs\/(\d{1,15})(?:\/|$)/.exec(link)?.[1];
  return id === undefined ? undefined : Number(id);
}
