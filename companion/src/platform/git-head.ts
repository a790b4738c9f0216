// Did somebody commit in this worktree? A word for where its HEAD stands, from facts of a few files of git's: no git is started, and a file
// system that does not answer is not waited for.
import path from 'node:path';
import { fileFacts } from './file-facts.ts';
import { readText } from './files.ts';
import { isFolder } from './folders.ts';
import { findWorktree } from './git-folder.ts';

const headBytes = 4096;
const lookMs = 5000;

/** The folder in which git keeps the HEAD of this worktree; undefined outside git. */
export function headFolder(folder: string): string | undefined {
  const root = findWorktree(folder);
  if (root === undefined) return undefined;
  const dotGit = path.join(root, '.git');
  if (isFolder(dotGit)) return dotGit;
  const named = /^gitdir: (.+)$/m.exec(readText(dotGit, headBytes) ?? '')?.[1]?.trim();
  return named === undefined || named === '' ? undefined : path.resolve(root, named);
}

/** Another word: a commit, a reset or a switch. Undefined: not known this time. */
export async function headStamp(gitFolder: string): Promise<string | undefined> {
  const head = path.join(gitFolder, 'HEAD');
  const [itself, log] = await Promise.all([
    fileFacts(head, lookMs),
    fileFacts(path.join(gitFolder, 'logs/HEAD'), lookMs),
  ]);
  if (itself === undefined || log === undefined) return undefined;
  const text = readText(head, headBytes)?.trim() ?? '';
  return JSON.stringify([text, log, await refFacts(gitFolder, text)]);
}

/** The branch itself: its log may be switched off. A linked worktree has it in the common folder; packed refs are replaced as a whole. */
async function refFacts(gitFolder: string, head: string): Promise<unknown> {
  const ref = /^ref: (refs\/[^\0]+)$/.exec(head)?.[1];
  if (ref === undefined || ref.split('/').includes('..')) return null;
  const common = path.resolve(gitFolder, readText(path.join(gitFolder, 'commondir'), headBytes)?.trim() || '.');
  return (await fileFacts(path.join(common, ref), lookMs)) ?? null;
}
