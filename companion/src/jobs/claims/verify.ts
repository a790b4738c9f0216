// `verify` as a story: the claims of an ended job, each held against what is there, and one verdict over all. Reads only; the one program that it
// runs is the caller's own (`--rerun`), after everything else was looked at.
import type { ClaimResult, Claims, ClaimVerdict } from '../../core/claims.ts';
import type { BlockError } from '../../core/completion-block.ts';
import { excerpt, plainText } from '../../core/excerpt.ts';
import type { JobState, Spec } from '../../core/job.ts';
import { isForged, isOurs } from '../may-act.ts';
import type { View } from '../view.ts';
import type { WorkspaceChanges } from '../workspace/types.ts';
import { claimsOf } from './answer.ts';
import { judgeCommits } from './commits.ts';
import { judgeFiles } from './files.ts';
import { type ClaimsPlace, placeOf } from './place.ts';
import type { Rerun } from './rerun.ts';
import { judgeTests } from './tests.ts';

export interface Verification {
  verdict: 'verified' | 'contradicted' | 'unverifiable';
  /** Null where there is nothing to verify: `reason` says why. */
  claims: Claims | null;
  verdicts: ClaimVerdict[];
  reason: string | null;
  block_error: BlockError | null;
  rerun: Rerun | null;
  unclaimed: Unclaimed | null;
}

/** What the end of the job has recorded and nobody claims. */
export interface Unclaimed {
  files: string[];
  file_count: number;
  commits: { sha: string; subject: string }[];
  commit_count: number;
}

export async function verifyClaims(view: View, rerun: ((cwd: string) => Promise<Rerun>) | null): Promise<Verification> {
  const { spec, paths, state } = view;
  // A command runs only where the caller's own launcher has put the job.
  if (rerun ? !(await isOurs(view)) : await isForged(view))
    return nothing(
      `its spec.json was changed, or comes from another user or machine: nothing in its record can be trusted${rerun ? ', and --rerun was not run' : ''}`,
    );
  const parsed = claimsOf(view);
  if (spec === null) return nothing('its record cannot be read');
  // The caller asked for it, whatever the agent says.
  if (parsed.kind === 'fault')
    return { ...nothing(parsed.error.message, parsed.error), rerun: rerun && (await rerun(spec.cwd)) };
  const { claims } = parsed;
  const place = placeOf(spec, paths);
  const commits = judgeCommits(place, claims.commits);
  const files = judgeFiles(place, claims.filesChanged, commits.held);
  const held = {
    commits: new Set(commits.held).size,
    files: files.filter(({ result }) => result === 'verified').length,
  };
  const again = rerun && (await rerun(spec.cwd));
  const verdicts = [
    judgeStatus(claims, state, spec),
    ...commits.verdicts,
    ...files,
    ...judgeTests(claims, again),
    ...claims.commands.map(recordCommand),
  ];
  return {
    verdict: verdictOf(verdicts),
    claims,
    verdicts,
    reason: null,
    block_error: null,
    rerun: again,
    unclaimed: place.changes && unclaimedOf(place, place.changes, claims, held),
  };
}

function nothing(reason: string, block_error: BlockError | null = null): Verification {
  const empty = { claims: null, verdicts: [], rerun: null, unclaimed: null };
  return { verdict: 'unverifiable', reason, block_error, ...empty };
}

/** One that does not hold counts more than many that do. */
function verdictOf(verdicts: readonly ClaimVerdict[]): Verification['verdict'] {
  const has = (result: ClaimResult): boolean => verdicts.some((one) => one.result === result);
  return has('contradicted') ? 'contradicted' : has('unverifiable') ? 'unverifiable' : 'verified';
}

/** Of a job that is not done nobody says that the work is; that work is left over can only be taken down. */
function judgeStatus(claims: Claims, state: JobState, spec: Spec): ClaimVerdict {
  const verdict = { kind: 'status', claim: claims.status, check: 'how the job ended' } as const;
  if (claims.status !== 'done') {
    const why = claims.blockedReason === null ? '' : `: ${short(claims.blockedReason)}`;
    return { ...verdict, result: 'recorded', detail: `said to be ${claims.status}${why}` };
  }
  if (state.state !== 'done') {
    const error = state.error ? ` (${state.error.code})` : '';
    return { ...verdict, result: 'contradicted', detail: `the job is ${state.state}${error}` };
  }
  const unfinished = state.warnings.find(({ code }) => code === 'not_finished');
  if (unfinished) return { ...verdict, result: 'contradicted', detail: short(unfinished.message) };
  return {
    ...verdict,
    result: 'verified',
    detail: spec.kind === 'run' ? `exit code ${state.exit_code}` : 'the job is done',
  };
}

function recordCommand({ command, exitCode, note }: Claims['commands'][number]): ClaimVerdict {
  const code = exitCode === null ? 'no exit code' : `exit code ${exitCode}`;
  const detail = note === null ? code : `${code}: ${short(note)}`;
  return {
    kind: 'command',
    claim: short(command),
    check: 'none: no command of an agent is run',
    result: 'recorded',
    detail,
  };
}

const told = 20;

/** The record names a part of what it counts: of the rest, what was claimed and holds is taken off. */
function unclaimedOf(
  { below }: ClaimsPlace,
  changes: WorkspaceChanges,
  claims: Claims,
  held: { commits: number; files: number },
): Unclaimed {
  const named = claims.filesChanged.map((one) => one.replace(/^(?:\.\/)+/, '').replace(/\/+$/, ''));
  const claimed = new Set(below === '' ? named : [...named, ...named.map((one) => `${below}/${one}`)]);
  const isClaimed = (file: string): boolean => {
    for (let at = file; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) if (claimed.has(at)) return true;
    return false;
  };
  const files = changes.files.filter(({ path, from }) => !isClaimed(path) && !(from !== undefined && isClaimed(from)));
  const commits = changes.commits.filter(({ sha }) => !claims.commits.some((one) => sha.startsWith(one.sha)));
  return {
    files: files.slice(0, told).map(({ path }) => excerpt(plainText(path), 400)),
    file_count: countOf(files, changes.files, changes.file_count, held.files),
    commits: commits.slice(0, told).map(({ sha, subject }) => ({ sha, subject: short(subject) })),
    commit_count: countOf(commits, changes.commits, changes.commit_count, held.commits),
  };
}

function countOf(left: readonly object[], named: readonly object[], total: number, held: number): number {
  return named.length === total ? left.length : Math.max(left.length, total - held);
}

function short(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' '), 240);
}
