// Asks git about one work tree: where HEAD is, which branches there are, what is not as HEAD has it, and what git was told to
// overlook (assume-unchanged, skip-worktree). Five calls.
import { type Git, openGit } from '../../platform/git-tool.ts';
import type { HashName } from '../../platform/raw-content.ts';
import { readRefs } from './refs.ts';
import { nameOf, parseStatus, type Status } from './status.ts';
import type { GitPart } from './types.ts';

export interface Repository {
  git: Git;
  hash: HashName;
  status: Status;
  /** Files whose changes git does not tell; undefined when that cannot be known. */
  overlooked: string[] | undefined;
}

/** A work tree by its root. `reason` when there is none, or git cannot tell (`until`: of the monotonic clock). */
export function openRepository(root: string, until: number): Repository | { reason: string } {
  const opened = openGit(root, { until });
  if ('reason' in opened) return opened;
  const { git } = opened;
  const place = placeOf(git);
  if (place !== undefined) return { reason: place };
  const status = readStatus(git, '--find-renames') ?? readStatus(git, '--no-renames');
  if (status === undefined || 'reason' in status) return status ?? { reason: 'git status failed' };
  const hash = git.setting('extensions.objectformat')?.toLowerCase() === 'sha256' ? 'sha256' : 'sha1';
  return { git, hash, status, overlooked: readOverlooked(git) };
}

/** What only the outermost repository is asked for. */
export function describeRepository({ git, hash, status }: Repository): GitPart {
  const { head, branch } = status;
  const refs = readRefs(git);
  const subject = head === null ? null : readSubject(git);
  return { root: git.folder, hash, head, branch, subject, ...refs };
}

/** `core.worktree` can point anywhere: then this folder is not what git talks about. */
function placeOf(git: Git): string | undefined {
  if (git.setting('core.worktree') === undefined) return undefined;
  const answer = git.run(['rev-parse', '--show-toplevel']);
  if (!answer.ok) return answer.reason;
  const top = answer.bytes.toString('utf8').replace(/\n$/, '');
  return top === git.folder ? undefined : `its work tree is elsewhere (core.worktree is ${top})`;
}

/** Undefined when finding renames was too much (it reads contents, which a partial clone may lack). */
function readStatus(git: Git, renames: string): Status | { reason: string } | undefined {
  const answer = git.run([
    ...['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--untracked-files=all', renames],
  ]);
  if (answer.ok) return parseStatus(answer.bytes);
  return renames === '--no-renames' || answer.code === null ? { reason: answer.reason } : undefined;
}

/** Lower-case tags are assume-unchanged, S is skip-worktree (git ls-files). */
function readOverlooked(git: Git): string[] | undefined {
  const answer = git.run(['ls-files', '-v', '-z']);
  if (!answer.ok) return undefined;
  const names: string[] = [];
  const { bytes } = answer;
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    if (end < 0) break;
    const tag = bytes[at] ?? 0;
    if (tag === 0x53 || tag >= 0x61) names.push(nameOf(bytes.toString('latin1', at + 2, end)));
    at = end + 1;
  }
  return names;
}

function readSubject(git: Git): string | null {
  const answer = git.run(['rev-list', '--max-count=1', '--encoding=UTF-8', '--format=%s', 'HEAD', '--']);
  return answer.ok ? nameOf(answer.bytes.toString('latin1').split('\n')[1] ?? '') : null;
}
