// What a watch of GitHub is about: a repository and a pull request, from the caller's words.
import { usageError } from '../../core/errors.ts';
import type { Given, OptionTable } from '../../core/option-table.ts';
import { variables } from '../../platform/env.ts';

export const targetOptions = {
  repo: { kind: 'text', value: 'OWNER/REPO', help: 'repository, also HOST/OWNER/REPO (default: that of the folder)' },
  pr: { kind: 'text', value: 'N', help: 'pull request: its number or address' },
} satisfies OptionTable;

export interface Target {
  /** `OWNER/REPO`, with `HOST/` before it where it is not gh's own default; null: what gh finds in the folder of the job. */
  repo: string | null;
  pr: number;
}

const form = 'a number, OWNER/REPO#N, or the address https://HOST/OWNER/REPO/pull/N';

/** `--pr N`, or the one word: a number, `#N`, `OWNER/REPO#N`, or an address. */
export function readPull(given: Given, verb: string): Target {
  const text = given.text('pr') ?? given.words[0];
  if (text === undefined) throw usageError(`cannot watch ${verb} without a pull request: give --pr N`);
  if (given.has('pr') && given.words.length > 0)
    throw usageError(`cannot watch ${verb} of both --pr ${text} and ${JSON.stringify(given.words[0])}: name one`);
  const match =
    /^(?:https?:\/\/([^/]+)\/)?(?:([^/#]+\/[^/#]+)(?:\/pull\/|#)|#)?(\d{1,9})(?:\/[\w./-]*)?(?:[?#].*)?$/.exec(text);
  const [, host, named, number] = match ?? [];
  const isWhole = match && Number(number) > 0 && (host === undefined || named !== undefined);
  if (!isWhole) throw usageError(`cannot watch ${verb} of ${JSON.stringify(text)}: allowed are ${form}`);
  const said = named === undefined ? undefined : readRepository(host === undefined ? named : `${host}/${named}`);
  const repo = repositoryOf(given);
  if (said !== undefined && given.has('repo') && !sameRepository(said, repo))
    throw usageError(`cannot watch ${verb} of ${JSON.stringify(text)} with --repo ${repo}: they name two repositories`);
  return { repo: said ?? repo, pr: Number(number) };
}

/** Frozen into the spec, so that a later worker with another environment still means the same. */
export function repositoryOf(given: Given): string | null {
  const text = given.text('repo') ?? variables.githubRepository();
  return text === undefined ? null : readRepository(text);
}

function readRepository(text: string): string {
  const parts = text.split('/');
  const [repo = '', owner = '', host] = [...parts].reverse();
  const isWhole =
    (parts.length === 2 || parts.length === 3) &&
    /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/.test(owner) &&
    /^[A-Za-z0-9._][A-Za-z0-9._-]{0,99}$/.test(repo) &&
    !/^\.\.?$/.test(repo) &&
    (host === undefined || /^[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?$/.test(host));
  if (!isWhole)
    throw usageError(`cannot take the repository ${JSON.stringify(text)}: allowed are OWNER/REPO and HOST/OWNER/REPO`);
  const usual = variables.githubHost() ?? 'github.com';
  const where = (host ?? usual).toLowerCase();
  return where === 'github.com' && usual === 'github.com' ? `${owner}/${repo}` : `${where}/${owner}/${repo}`;
}

/** The repository in the address of one of its pull requests or of itself. */
export function repositoryIn(link: string): string | undefined {
  const match = /^https?:\/\/([^/]+)\/([^/]+)\/([^/]+?)(?:\/.*)?$/.exec(link);
  if (!match) return undefined;
  try {
    const [, host, owner, repo] = match;
    return readRepository(`${host}/${owner}/${repo}`);
  } catch {
    return undefined;
  }
}

function sameRepository(a: string | null, b: string | null): boolean {
  return a?.toLowerCase() === b?.toLowerCase();
}
