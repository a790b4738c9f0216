// What can be known of a git worktree without starting git: where it begins, and whether its index holds files below a folder.
// (Starting git costs more than the rest of a launch.)
import path from 'node:path';
import { messageOf } from '../core/errors.ts';
import { factsOf, isFile, isFolder, realPath } from './folders.ts';
import { isInIndex } from './git-index.ts';
import { readRegular } from './regular-file.ts';

const nameFileBytes = 64 * 1024;
const configBytes = 4 * 1024 * 1024;

/** The root of the worktree that holds this folder, or undefined outside git. */
export function findWorktree(folder: string): string | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (isGitPlace(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

/** As git takes it: a folder, a file that names one, or a link to either. */
function isGitPlace(dotGit: string): boolean {
  const facts = factsOf(dotGit);
  if (facts?.kind !== 'link') return facts?.kind === 'folder' || facts?.kind === 'file';
  return isFolder(dotGit) || isFile(dotGit);
}

/** `doubt`: why it cannot be said. Nothing is tracked outside git, and in an index of a form that we do not know. */
export interface Tracking {
  isTracked: boolean;
  doubt?: string;
}

/** Does git track anything below `folder`? */
export function trackingOf(folder: string): Tracking {
  // As git sees it: links on the way resolved, names as bytes.
  const real = path.join(realPath(path.dirname(folder)), path.basename(folder));
  const root = findWorktree(path.dirname(real));
  if (root === undefined) return { isTracked: false };
  const wanted = Buffer.from(`${path.relative(root, real)}/`).toString('latin1');
  try {
    const place = gitFolderOf(root);
    const isTracked = isInIndex(path.join(place, 'index'), usesSha256(place) ? 32 : 20, (name) => {
      // A submodule stands there under the folder's own name.
      if (name.startsWith(wanted) || `${name}/` === wanted) return 'yes';
      return name > wanted && name.slice(0, wanted.length) > wanted ? 'past' : 'no';
    });
    return { isTracked };
  } catch (error) {
    return { isTracked: false, doubt: messageOf(error) };
  }
}

/** The folder of a worktree's own git files; a linked one has a file that names it. */
function gitFolderOf(root: string): string {
  const dotGit = path.join(root, '.git');
  if (isFolder(dotGit)) return dotGit;
  const text = readRegular(dotGit, nameFileBytes) ?? '';
  return path.resolve(root, text.replace(/^gitdir:\s*/, '').trim());
}

/** Object names of 32 bytes; a linked worktree has its config in the common folder. */
function usesSha256(folder: string): boolean {
  const places = [folder, path.join(folder, '../..')];
  return places.some((place) =>
    /^\s*objectformat\s*=\s*sha256/im.test(readRegular(path.join(place, 'config'), configBytes) ?? ''),
  );
}
