// Claimed files: did each of them change while the job ran? What its end recorded counts first, then its commits, and where that is not all that
// there was, what lies there now.
import path from 'node:path';
import { showName } from '../../core/byte-names.ts';
import type { ClaimResult, ClaimVerdict } from '../../core/claims.ts';
import { excerpt } from '../../core/excerpt.ts';
import { verifyCommits, verifyFiles } from '../../core/limits.ts';
import { isFolder } from '../../platform/folders.ts';
import { findWorktree } from '../../platform/git-folder.ts';
import type { Git } from '../../platform/git-tool.ts';
import { compareWorkspace } from '../workspace/compare.ts';
import { captureWorkspace, notInGit } from '../workspace/snapshot.ts';
import type { WorkspaceChanges } from '../workspace/types.ts';
import { type ClaimsPlace, since } from './place.ts';

type Judgement = { result: ClaimResult; detail: string };

/** `commits`: claimed ones that hold. */
export function judgeFiles(place: ClaimsPlace, claimed: readonly string[], commits: readonly string[]): ClaimVerdict[] {
  if (claimed.length === 0) return [];
  const evidence = gather(place, commits);
  const judged = claimed.map((name) => judgeFile(place, name, evidence));
  const ignored = ignoredOf(
    place,
    claimed.filter((_, at) => judged[at]?.result === 'contradicted'),
  );
  return claimed.map((name, at) => ({
    kind: 'file',
    claim: shown(name),
    check: 'it is another one than at the start of the job, or a commit of the job changes it',
    ...(ignored.has(name)
      ? { result: 'unverifiable' as const, detail: 'git ignores it, so nobody looked at it' }
      : (judged[at] ?? { result: 'unverifiable' as const, detail: '' })),
  }));
}

interface Evidence {
  atEnd: Changed;
  /** Names in commits of the job. */
  committed: Changed;
  /** Only where the end has not recorded everything. */
  now: Changed | null;
  /** Why a name that is nowhere in all this may have changed all the same. */
  doubt: string | null;
}

/** What became of each name. */
type Changed = Map<string, string>;

function gather(place: ClaimsPlace, commits: readonly string[]): Evidence {
  const { changes } = place;
  const committed = new Map(
    [...namesInCommits(place, commits)].map((name) => [name, 'a commit of the job changes it']),
  );
  const atEnd = changes ? changedIn(changes, 'when the job ended') : new Map();
  if (changes && isWhole(changes)) return { atEnd, committed, now: null, doubt: null };
  const { before, spec, paths } = place;
  if (before === null)
    return { atEnd, committed, now: null, doubt: 'what was there when the job started is not recorded' };
  const look = captureWorkspace(spec.cwd, { exclude: [paths.root] });
  const compared = compareWorkspace(before, look, { mostFiles: verifyFiles });
  const doubt = isWhole(compared) ? null : (compared.reason ?? 'there is more than could be looked at');
  return { atEnd, committed, now: changedIn(compared, 'now'), doubt };
}

function isWhole(changes: WorkspaceChanges): boolean {
  const isAsked = changes.reason === null || changes.reason === notInGit;
  return changes.exact && isAsked && changes.files.length === changes.file_count;
}

function changedIn({ files }: WorkspaceChanges, when: string): Changed {
  const changed: Changed = new Map();
  for (const { path: name, from, change, committed } of files) {
    if (from !== undefined) changed.set(from, `renamed to ${shown(name)} ${when}`);
    changed.set(name, `${change}${committed ? ' and committed' : ''} ${when}`);
  }
  return changed;
}

/** Of the commits that the job has added, or of those that are named where its start is not known. */
function namesInCommits(place: ClaimsPlace, commits: readonly string[]): string[] {
  const { git, knownTips, changes } = place;
  const end = changes?.head.after ?? '';
  const tips = knownTips !== null && /^[0-9a-f]{40,64}$/.test(end) ? [...commits, end] : commits;
  if (!git || tips.length === 0) return [];
  const range = knownTips === null ? ['--no-walk'] : [`--max-count=${verifyCommits}`];
  const listed = git.run(['rev-list', ...range, '--ignore-missing', '--stdin'], {
    input: since(knownTips ?? [], tips),
  });
  return listed.ok ? filesOf(git, listed.bytes.toString('latin1')) : [];
}

function filesOf(git: Git, commits: string): string[] {
  const shape = ['--stdin', '-r', '-m', '--root', '-z', '--name-only', '--no-commit-id', '--no-renames'];
  const answer = git.run(['diff-tree', ...shape], { input: commits });
  return answer.ok ? answer.bytes.toString('utf8').split('\0').filter(Boolean) : [];
}

function judgeFile(place: ClaimsPlace, claimed: string, evidence: Evidence): Judgement {
  const wanted = candidates(place, claimed);
  for (const changed of [evidence.atEnd, evidence.committed, evidence.now]) {
    const found = changed && wanted.map((name) => whatOf(changed, name)).find((what) => what !== undefined);
    if (found) return { result: 'verified', detail: found };
  }
  const other = wanted.map((name) => foreign(place, name)).find((why) => why !== null) ?? null;
  const doubt = other ?? evidence.doubt;
  if (doubt !== null) return { result: 'unverifiable', detail: doubt };
  return {
    result: 'contradicted',
    detail: 'it is as it was when the job started, and no commit of the job changes it',
  };
}

/** Relative to the root of the work tree, or to where the agent stood. */
function candidates({ below }: ClaimsPlace, claimed: string): string[] {
  return [...new Set([path.normalize(claimed), path.normalize(path.join(below, claimed))])];
}

/** A folder has changed when something in it has. */
function whatOf(changed: Changed, name: string): string | undefined {
  const folder = name.endsWith('/') ? name : `${name}/`;
  const exact = changed.get(folder.slice(0, -1));
  if (exact !== undefined) return exact;
  const inside =
    name === './' || name === '.' ? [...changed.keys()][0] : [...changed.keys()].find((one) => one.startsWith(folder));
  return inside === undefined ? undefined : `${shown(inside)} in it: ${changed.get(inside)}`;
}

/** What no look at the worktree shows. */
function foreign({ root, paths, git }: ClaimsPlace, name: string): string | null {
  const file = path.join(root, name);
  if (`${file}/`.startsWith(`${paths.root}/`)) return 'it lies in the state folder, at which nobody looks';
  if (!git && /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/.test(name)) return 'it lies where nobody looks';
  if (!git || !isFolder(root)) return null;
  const owner = findWorktree(path.dirname(file));
  return owner === undefined || owner === root
    ? null
    : `it lies in a repository of its own (${shown(path.relative(root, owner))})`;
}

/** Of these names, those that git was told to ignore (and does not track), whether they are there or not. */
function ignoredOf(place: ClaimsPlace, names: readonly string[]): Set<string> {
  const { git } = place;
  if (!git || names.length === 0) return new Set();
  const told = askIgnored(git, [...new Set(names.flatMap((name) => candidates(place, name)))]);
  return new Set(names.filter((name) => candidates(place, name).some((one) => told.has(one))));
}

function askIgnored(git: Git, names: readonly string[]): Set<string> {
  // None of them is the beginning of a pattern.
  const input = names.map((name) => `./${name}\0`).join('');
  const answer = git.run(['check-ignore', '-z', '--stdin'], { input });
  if (answer.ok)
    return new Set(
      answer.bytes
        .toString('utf8')
        .split('\0')
        .map((name) => name.slice(2)),
    );
  // At a name behind a link git gives up altogether.
  const isStuck = answer.code !== null && answer.code !== 1 && names.length > 1;
  return new Set(isStuck ? names.flatMap((name) => [...askIgnored(git, [name])]) : []);
}

function shown(name: string): string {
  return showName(excerpt(name, 400));
}
