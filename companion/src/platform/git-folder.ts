// What can be known of a git worktree without starting git: where it begins, and whether its index holds files below a folder.
// (Starting git costs more than the rest of a launch.)
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { factsOf, isFile, isFolder, realPath } from './folders.ts';

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

/** Does git track anything below `folder`? False outside git and when the index has a form that we do not know. */
export function tracksAnything(folder: string): boolean {
  // As git sees it: links on the way resolved, names as bytes.
  const real = path.join(realPath(path.dirname(folder)), path.basename(folder));
  const root = findWorktree(path.dirname(real));
  if (root === undefined) return false;
  const index = readIndex(root);
  if (!index) return false;
  const wanted = Buffer.from(`${path.relative(root, real)}/`).toString('latin1');
  for (const name of indexNames(index.bytes, index.hashBytes)) {
    // A submodule stands there under the folder's own name.
    if (name.startsWith(wanted) || `${name}/` === wanted) return true;
    if (name > wanted && name.slice(0, wanted.length) > wanted) return false;
  }
  return false;
}

function readIndex(root: string): { bytes: Buffer; hashBytes: number } | undefined {
  try {
    const dotGit = path.join(root, '.git');
    const folder = isFolder(dotGit) ? dotGit : linkedFolder(root, readFileSync(dotGit, 'utf8'));
    const bytes = readFileSync(path.join(folder, 'index'));
    if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
    return { bytes, hashBytes: usesSha256(folder) ? 32 : 20 };
  } catch {
    return undefined;
  }
}

/** Object names of 32 bytes; a linked worktree has its config in the common folder. */
function usesSha256(folder: string): boolean {
  const places = [folder, path.join(folder, '../..')];
  return places.some((place) => {
    try {
      return /^\s*objectformat\s*=\s*sha256/im.test(readFileSync(path.join(place, 'config'), 'utf8'));
    } catch {
      return false;
    }
  });
}

function linkedFolder(root: string, text: string): string {
  return path.resolve(root, text.replace(/^gitdir:\s*/, '').trim());
}

/** The names in an index of version 2, 3 or 4, in its order (gitformat-index). */
function* indexNames(bytes: Buffer, hashBytes: number): Generator<string> {
  const head = 42 + hashBytes;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return;
  let at = 12;
  let name = '';
  for (let left = bytes.readUInt32BE(8); left > 0 && at + head < bytes.length; left -= 1) {
    const start = at;
    const isExtended = version >= 3 && (bytes.readUInt16BE(at + head - 2) & 0x4000) !== 0;
    at += isExtended ? head + 2 : head;
    let kept = 0;
    if (version === 4) {
      let byte = bytes[at++] ?? 0;
      let strip = byte & 0x7f;
      while (byte & 0x80) {
        byte = bytes[at++] ?? 0;
        strip = ((strip + 1) << 7) | (byte & 0x7f);
      }
      kept = Math.max(0, name.length - strip);
    }
    const end = bytes.indexOf(0, at);
    if (end < 0) return;
    name = name.slice(0, kept) + bytes.toString('latin1', at, end);
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
    yield name;
  }
}
