// One check of a commit and one workflow run, from the three places that gh tells them in.
import { type Fields, instantOf, linkOf, textOf } from './json.ts';

/** A check run (a job of a workflow, or of another app) or a status. */
export interface Check {
  name: string;
  workflow: string;
  /** GitHub's word: the conclusion once it is over, the status before. */
  state: string;
  link: string;
  startedAt: number | null;
}

export interface Run {
  id: number;
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
    workflow: textOf(row.workflowName) || textOf(row.name) || 'unnamed',
    event: textOf(row.event),
    state: status.toLowerCase() === 'completed' ? textOf(row.conclusion) : status,
    link: linkOf(row.url),
    createdAt: instantOf(row.createdAt),
    startedAt: instantOf(row.startedAt),
  };
}

/** The run that a check is a job of. */
export function runIdOf({ link }: Check): number | undefined {
  const id = /\/actions\/runs\/(\d{1,15})(?:\/|$)/.exec(link)?.[1];
  return id === undefined ? undefined : Number(id);
}
