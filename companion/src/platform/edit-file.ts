// Changing a file that a person or another program wrote: a copy of what was there stays beside it, its mode stays as it is, the new
// text is put in place at once, and nothing is written when somebody else changed it in the meantime.
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { FaultError } from '../core/errors.ts';
import { createFile, createFolder, readRange, removeFile, writeFile } from './files.ts';
import { exists, factsOf, realPath } from './folders.ts';

export interface FileEdit {
  file: string;
  /** The text that the new one was made from; null when there was no file. */
  before: string | null;
  /** The whole new text; null removes the file. */
  after: string | null;
  /** Change what a link leads to. Otherwise a link is refused. */
  followsLink: boolean;
}

/**
 * Write the new text. Returns the path of the copy (`FILE.job-companion-STAMP.bak`), or null when there was no file. Throws
 * `preflight` for a file that is not ours or no regular one, `busy` for one that has changed, and the system's error.
 */
export function applyEdit(edit: FileEdit, stamp: string): string | null {
  const { file, before, after } = edit;
  if (before === null) {
    if (factsOf(file)) throw changed(file);
    createFolders(path.dirname(file));
    if (after !== null && !createFile(file, after)) throw changed(file);
    return null;
  }
  const target = edit.followsLink ? realPath(file) : file;
  const facts = factsOf(target);
  if (facts?.kind !== 'file' || facts.uid !== process.getuid?.())
    throw new FaultError('preflight', `cannot change ${file}: it is no regular file of yours`);
  if (readRange(target, 0, facts.size + 1)?.bytes.toString('utf8') !== before) throw changed(file);
  const copy = keepCopy(file, before, stamp, facts.mode);
  if (after === null) {
    removeFile(target);
    return copy;
  }
  writeFile(target, after);
  chmodSync(target, facts.mode);
  return copy;
}

/** Make a folder with all that lead to it, 0700 where they are missing. */
export function createFolders(folder: string): void {
  if (exists(folder)) return;
  createFolders(path.dirname(folder));
  createFolder(folder);
}

/** Never over an earlier copy. */
function keepCopy(file: string, text: string, stamp: string, mode: number): string {
  for (let number = 1; ; number += 1) {
    const copy = `${file}.job-companion-${stamp}${number === 1 ? '' : `-${number}`}.bak`;
    if (!createFile(copy, text)) continue;
    chmodSync(copy, mode);
    return copy;
  }
}

function changed(file: string): FaultError {
  return new FaultError('busy', `cannot change ${file}: somebody else has just changed it`, 'try it again');
}
