// Claimed commits: is each of them there, does anything lead to it, does its subject say what was claimed, and was it made by this job?
import path from 'node:path';
import { decodeName, oneLine, showName } from '../../core/byte-names.ts';
import type { ClaimResult, Claims, ClaimVerdict } from '../../core/claims.ts';
import { excerpt, plainText } from '../../core/excerpt.ts';
import type { Git } from '../../platform/git-tool.ts';
import { type ClaimsPlace, since } from './place.ts';

type Claimed = Claims['commits'][number];
type Judgement = { result: ClaimResult; detail: string; oid?: string };

export interface JudgedCommits {
  verdicts: ClaimVerdict[];
  /** Full names of those that hold. */
  held: string[];
}

export function judgeCommits(place: ClaimsPlace, claimed: readonly Claimed[]): JudgedCommits {
  const { git } = place;
  const ours = claimed.filter((one) => isOurRepository(place, one.repo));
  const found = git && ours.length > 0 ? findObjects(git, ours) : new Map<string, string>();
  const judged = claimed.map((one): [Claimed, Judgement] => {
    if (!ours.includes(one)) {
      const elsewhere = `it is said to be in ${showName(shown(one.repo ?? ''))}; only the repository of the job is looked at`;
      return [one, { result: 'unverifiable', detail: elsewhere }];
    }
    if (!git) return [one, { result: 'unverifiable', detail: place.reason ?? 'git cannot be asked' }];
    if ('reason' in found) return [one, { result: 'unverifiable', detail: String(found.reason) }];
    return [one, judgeCommit(place, git, one, found.get(one.sha) ?? '')];
  });
  return {
    verdicts: judged.map(([one, { result, detail }]) => ({
      kind: 'commit',
      claim: [one.sha.slice(0, 12), ...(one.subject === null ? [] : [shown(one.subject)])].join(' '),
      check: 'the commit is there, a branch, tag or HEAD leads to it, its subject, new since the start',
      result,
      detail,
    })),
    held: judged.flatMap(([, { result, oid }]) => (result === 'verified' && oid ? [oid] : [])),
  };
}

/** Compared as text: nobody looks where an agent points. */
function isOurRepository({ names }: ClaimsPlace, repo: string | null): boolean {
  return repo === null || names.has(path.normalize(repo).replace(/(?<=.)\/+$/, ''));
}

/** What git says of each name: `NAME TYPE SIZE`, `NAME missing`, `NAME ambiguous`. */
function findObjects(git: Git, claimed: readonly Claimed[]): Map<string, string> | { reason: string } {
  const input = claimed.map(({ sha }) => `${sha}\n`).join('');
  const answer = git.run(['cat-file', '--batch-check'], { input });
  if (!answer.ok) return { reason: answer.reason };
  const lines = answer.bytes.toString('latin1').split('\n');
  return new Map(claimed.map(({ sha }, at) => [sha, lines[at] ?? '']));
}

function judgeCommit(place: ClaimsPlace, git: Git, claimed: Claimed, said: string): Judgement {
  const [oid = '', type = ''] = said.split(' ');
  if (type === 'ambiguous') return { result: 'unverifiable', detail: 'more than one object begins like this' };
  // A branch may be called like this, too; that is no commit of this name.
  if (!/^\d+$/.test(said.split(' ')[2] ?? '') || !oid.startsWith(claimed.sha))
    return { result: 'contradicted', detail: 'there is no such commit in the repository of the job' };
  if (type !== 'commit') return { result: 'contradicted', detail: `it is a ${type}, no commit` };
  const facts = readFacts(git, oid);
  if ('reason' in facts) return { result: 'unverifiable', detail: facts.reason };
  if (!facts.isReachable)
    return { result: 'contradicted', detail: 'it is there, but no branch, tag or HEAD leads to it: it will be lost' };
  const { subject } = facts;
  if (claimed.subject !== null && oneLine(claimed.subject) !== subject)
    return { result: 'contradicted', detail: `its subject is ${shown(subject)}` };
  return { ...judgeAge(place, git, oid, facts.atMs), oid };
}

interface CommitFacts {
  isReachable: boolean;
  subject: string;
  atMs: number;
}

/** Stash and notes lead to commits, but keep no work. */
const leading = ['--exclude=refs/stash', '--exclude=refs/replace/*', '--exclude=refs/notes/*', '--all'];

function readFacts(git: Git, oid: string): CommitFacts | { reason: string } {
  const shape = ['rev-list', '--max-count=1', '--encoding=UTF-8', '--format=%ct %s', oid, '--'];
  const told = git.run(shape);
  if (!told.ok) return { reason: told.reason };
  const lonely = git.run(['rev-list', '--max-count=1', oid, '--not', ...leading, '--']);
  if (!lonely.ok) return { reason: lonely.reason };
  const line = decodeName(told.bytes).split('\n')[1] ?? '';
  const space = line.indexOf(' ');
  const subject = space < 0 ? '' : oneLine(plainText(line.slice(space + 1)));
  return { isReachable: lonely.bytes.length === 0, subject, atMs: Number.parseInt(line, 10) * 1000 };
}

function judgeAge({ spec, knownTips }: ClaimsPlace, git: Git, oid: string, atMs: number): Judgement {
  if (knownTips !== null) {
    const fresh = git.run(['rev-list', '--max-count=1', '--ignore-missing', '--stdin'], {
      input: since(knownTips, [oid]),
    });
    if (!fresh.ok) return { result: 'unverifiable', detail: fresh.reason };
    if (fresh.bytes.length === 0) return { result: 'contradicted', detail: 'it was there before the job started' };
  }
  // Commits know whole seconds, and hold whatever date they were given.
  if (!(atMs >= Math.floor(Date.parse(spec.created_at) / 1000) * 1000))
    return { result: 'unverifiable', detail: 'by its date it was made before the job started' };
  const detail =
    knownTips === null ? 'it is dated after the start (which commits were there then is not recorded)' : '';
  return { result: 'verified', detail: detail || 'it is new since the start' };
}

function shown(text: string): string {
  return excerpt(oneLine(plainText(text)), 200);
}
