// Which jobs are there. Listing the live ones reads only `active/`, so it costs O(live), not O(all).
import path from 'node:path';
import { FaultError } from '../core/errors.ts';
import { isId, isIdPrefix, sortIds } from '../core/ids.ts';
import { quoteWords } from '../core/shell-words.ts';
import { factsOf, listNames } from '../platform/folders.ts';
import { selfWords } from '../platform/self.ts';
import { rootPaths, type StateRoot } from './layout.ts';

/** All ids, newest first. */
export function listJobs(root: string): string[] {
  return sortIds(listNames(rootPaths(root).jobs).filter(isId)).reverse();
}

/** Ids of live jobs, oldest first. */
export function listActive(root: string): string[] {
  return sortIds(listNames(rootPaths(root).active).filter(isId));
}

/** A whole id or a unique beginning of one -> the id. */
export function findJob(root: StateRoot, text: string): string {
  const list = listCommand(root);
  if (!isIdPrefix(text)) {
    throw new FaultError(
      'unknown_job',
      `cannot take ${JSON.stringify(text)} as a job id: ids look like run-mik3x9ab-4f7q2z`,
      list,
    );
  }
  const all = listNames(rootPaths(root.folder).jobs).filter(isId);
  if (all.includes(text)) return requireFolder(root, text);
  const matches = all.filter((id) => id.startsWith(text));
  if (matches.length === 1) return requireFolder(root, matches[0] as string);
  if (matches.length === 0) throw unknownJob(root, text);
  const shown = sortIds(matches).slice(-5).join(', ');
  throw new FaultError(
    'ambiguous_id',
    `cannot tell which job ${text} is: ${matches.length} jobs begin so, the newest are ${shown}`,
    'give more of the id',
  );
}

/** A whole id, for commands that change something. */
export function requireWholeId(root: StateRoot, text: string): string {
  const id = findJob(root, text);
  if (id === text) return id;
  throw new FaultError(
    'ambiguous_id',
    `cannot take the short id ${text}: this command needs the whole id`,
    `the one job that begins so is ${id}`,
  );
}

export function jobsFolder(root: string): string {
  return path.join(root, 'jobs');
}

/** A link of that name is no job: nothing is read or written through it. */
function requireFolder(root: StateRoot, id: string): string {
  const folder = path.join(rootPaths(root.folder).jobs, id);
  const facts = factsOf(folder);
  if (facts?.kind === 'folder') return id;
  if (!facts) throw unknownJob(root, id);
  throw new FaultError('state_unusable', `cannot use job ${id}: ${folder} is no folder of its own`);
}

/** Nobody ever started a job here: most likely it was started in another worktree. */
export function noFolderFault(root: StateRoot, what: string): FaultError | undefined {
  if (factsOf(root.folder)) return undefined;
  return new FaultError(
    'unknown_job',
    `cannot find ${what}: there is no state folder ${root.folder}`,
    'go to the worktree where it was started (the state of jobs lies per worktree), or name the folder with --state-dir DIR',
  );
}

function unknownJob(root: StateRoot, text: string): FaultError {
  const fault = noFolderFault(root, `job ${text}`);
  if (fault) return fault;
  return new FaultError(
    'unknown_job',
    `cannot find job ${text}: there is no such job in the state folder ${root.folder}`,
    `${listCommand(root)}, or name another folder with --state-dir DIR`,
  );
}

function listCommand(root: StateRoot): string {
  return `list them with: ${quoteWords([...selfWords(), 'status', ...root.option])}`;
}
