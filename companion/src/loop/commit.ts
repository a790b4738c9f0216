// The commit of a checkpoint: code and loop files together, which is the boundary. No hooks, no signing, no filters are run (git-tool.ts), so a file that
// a filter should have turned into something else (LFS) is refused instead of committed raw.
import path from 'node:path';
import { FaultError } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import { loopLimits } from '../core/limits-loop.ts';
import type { Git } from '../platform/git-tool.ts';
import { headOf } from './git.ts';
import { isThere } from './look.ts';

const slow = { timeoutMs: loopLimits.commitMs };

/** Could a commit be made now? Asked before anything is written. Throws 'preflight'. */
export function requireCommittable(git: Git, stays: string): void {
  const refuse = (reason: string): never => {
    throw new FaultError('preflight', `cannot make the commit of the checkpoint: ${reason}`, stays);
  };
  const gitFolder = git.run(['rev-parse', '--absolute-git-dir']);
  const at = gitFolder.ok ? gitFolder.bytes.toString('utf8').trim() : refuse(gitFolder.reason);
  for (const [name, what] of [
    ['MERGE_HEAD', 'a merge'],
    ['CHERRY_PICK_HEAD', 'a cherry-pick'],
    ['REVERT_HEAD', 'a revert'],
    ['rebase-merge', 'a rebase'],
    ['rebase-apply', 'a rebase'],
  ] as const)
    if (isThere(path.join(at, name))) refuse(`${what} is going on`);
  const who = git.run(['var', 'GIT_AUTHOR_IDENT']);
  if (!who.ok) refuse('git does not know who you are (git config user.name and user.email)');
  const filtered = filteredFile(git);
  if (filtered !== undefined) refuse(`${filtered} passes a filter of git (LFS?), which is not run here`);
}

/** The first changed file to which a filter applies. */
function filteredFile(git: Git): string | undefined {
  const changed = git.run(['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames']);
  if (!changed.ok) return undefined;
  const files = changed.bytes
    .toString('utf8')
    .split('\0')
    .filter((row) => row.length > 3)
    .map((row) => row.slice(3));
  if (files.length === 0) return undefined;
  const answer = git.run(['check-attr', '-z', '--stdin', 'filter'], { input: `${files.join('\0')}\0` });
  if (!answer.ok) return undefined;
  const words = answer.bytes.toString('utf8').split('\0');
  for (let index = 0; index + 2 < words.length; index += 3)
    if (!['unspecified', 'unset'].includes(words[index + 2] ?? '')) return plainText(words[index] ?? '');
  return undefined;
}

/**
 * Everything that is not ignored goes into one commit; true when there was something to commit. `state` is the text that `.loop/state.json` has in
 * that commit: a commit that is there already is not made twice.
 */
export function commitAll(git: Git, message: string, state: string): { made: boolean; head: string | null } {
  const there = git.run(['cat-file', 'blob', 'HEAD:.loop/state.json']);
  if (there.ok && there.bytes.toString('utf8') === state) return { made: false, head: headOf(git) };
  must(git.run(['add', '--all', '--', '.'], slow));
  // Ours even where the project ignores dot-folders.
  must(git.run(['add', '--force', '--', '.loop/state.json', '.loop/journal.md', '.loop/handoff.md'], slow));
  must(
    git.run(
      ['commit', '--quiet', '--no-verify', '--no-gpg-sign', '--allow-empty-message', '--cleanup=verbatim', '-F', '-'],
      { ...slow, input: message },
    ),
  );
  return { made: true, head: headOf(git) };
}

function must(answer: ReturnType<Git['run']>): void {
  if (!answer.ok) throw new FaultError('preflight', `cannot make the commit of the checkpoint: ${answer.reason}`);
}
