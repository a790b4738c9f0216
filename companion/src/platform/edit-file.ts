// Changing a file that a person or another program wrote: a copy of what was there is kept (beside it, or where the caller says), its mode stays as it is, the new
// text is put in place at once, and nothing is written when somebody else changed it in the meantime. Several are changed together.
import { chmodSync, linkSync, renameSync } from 'node:fs';
import path from 'node:path';
import { errnoOf, FaultError, messageOf } from '../core/errors.ts';
import { createFile, createFolder, readRange, readText, removeFile, writeFile } from './files.ts';
import { exists, factsOf, listNames, realPath } from './folders.ts';

const copyEnd = /^(\d{8}T\d{6}Z)(?:-(\d+))?\.bak$/;

export interface FileEdit {
  file: string;
  /** The text that the new one was made from; null when there was no file. */
  before: string | null;
  /** The whole new text; null removes the file. */
  after: string | null;
  /** Change what a link leads to. Otherwise a link is refused. */
  followsLink: boolean;
  /** Where copies go, with the beginning of their name, when not beside the file. They are private there. */
  copyBase?: string;
}

/**
 * Write the new text of all of them, or of none: everything is written beside first, then put in place, and put back when one of
 * them cannot be. Returns the paths of the copies (`FILE.job-companion-STAMP.bak`; null where there was no file), in the same order. A text
 * that the newest copy has already is not copied again.
 * Throws `preflight` for a file that is not ours, no regular one or cannot be changed, `busy` for one that has changed.
 */
export function applyAll(edits: readonly FileEdit[], stamp: string): (string | null)[] {
  const staged: Staged[] = [];
  const done: Staged[] = [];
  try {
    for (const edit of edits) naming(edit, () => stage(edit, stamp, staged));
    for (const one of staged)
      naming(one.edit, () => {
        putInPlace(one);
        done.push(one);
      });
    return staged.map(({ copy }) => copy);
  } catch (error) {
    const lost = done.reverse().filter((one) => !putBack(one));
    for (const one of staged) discard(one, lost.includes(one));
    if (lost.length === 0) throw error;
    const kept = lost.map(({ edit, copy }) => `${edit.file} (its old text: ${copy ?? 'none'})`).join(', ');
    throw new FaultError('preflight', `${messageOf(error)}; and these could not be put back: ${kept}`);
  }
}

interface Staged {
  edit: FileEdit;
  /** The file itself, behind a link that is followed. */
  target: string;
  mode: number;
  /** The new text, beside it; null for a file that is removed. */
  fresh: string | null;
  copy: string | null;
  /** The copy is one that was kept before. */
  isOldCopy: boolean;
}

function stage(edit: FileEdit, stamp: string, staged: Staged[]): void {
  const { file, before, after } = edit;
  const one: Staged = { edit, target: file, mode: 0o600, fresh: null, copy: null, isOldCopy: false };
  if (before === null) {
    if (factsOf(file)) throw changed(file);
    createFolders(path.dirname(file));
  } else {
    if (edit.followsLink) one.target = realPath(file);
    const facts = factsOf(one.target);
    if (facts?.kind !== 'file' || facts.uid !== process.getuid?.())
      throw new FaultError('preflight', `cannot change ${file}: it is no regular file of yours`);
    one.mode = facts.mode;
    if (readRange(one.target, 0, facts.size + 1)?.bytes.toString('utf8') !== before) throw changed(file);
  }
  staged.push(one);
  if (before !== null) keepCopy(one, before, stamp);
  if (after !== null) one.fresh = createBeside(`${one.target}.job-companion-${stamp}`, '.new', after, one.mode);
}

function keepCopy(one: Staged, text: string, stamp: string): void {
  const { file, copyBase } = one.edit;
  const base = copyBase ?? file;
  const newest = newestCopy(base);
  one.isOldCopy = newest !== undefined && readText(newest) === text;
  if (one.isOldCopy) {
    one.copy = newest as string;
    return;
  }
  if (copyBase !== undefined) createFolders(path.dirname(copyBase));
  one.copy = createBeside(`${base}.job-companion-${stamp}`, '.bak', text, copyBase === undefined ? one.mode : 0o600);
}

function newestCopy(base: string): string | undefined {
  const copies = copiesOf(base).filter((copy) => factsOf(copy)?.uid === process.getuid?.());
  return copies.at(-1);
}

/** The copies that were kept under this name, oldest first. */
export function copiesOf(base: string): string[] {
  const folder = path.dirname(base);
  const begin = `${path.basename(base)}.job-companion-`;
  const found = listNames(folder).flatMap((one) => {
    const [, stamp, number = '1'] = (one.startsWith(begin) && copyEnd.exec(one.slice(begin.length))) || [];
    return stamp === undefined ? [] : [{ file: path.join(folder, one), stamp, number: Number(number) }];
  });
  found.sort((a, b) => (a.stamp === b.stamp ? a.number - b.number : a.stamp < b.stamp ? -1 : 1));
  return found.map(({ file }) => file);
}

function putInPlace({ edit, target, fresh }: Staged): void {
  if (fresh === null) removeFile(target);
  else if (edit.before !== null) renameSync(fresh, target);
  else linkSync(fresh, target);
  // The link is the file; its other name is not needed any more.
  if (fresh !== null && edit.before === null) removeFile(fresh);
}

/** False when it could not be. */
function putBack({ edit, target, mode }: Staged): boolean {
  try {
    if (edit.before === null) {
      removeFile(target);
      return true;
    }
    writeFile(target, edit.before);
    chmodSync(target, mode);
    return true;
  } catch {
    return false;
  }
}

function discard({ fresh, copy, isOldCopy }: Staged, keepsCopy: boolean): void {
  for (const file of [fresh, keepsCopy || isOldCopy ? null : copy]) {
    try {
      if (file !== null) removeFile(file);
    } catch {
      // It may lie where nothing can be changed any more; what counts is told already.
    }
  }
}

/** An error of the system says which file it was about. */
function naming(edit: FileEdit, fn: () => void): void {
  try {
    fn();
  } catch (error) {
    if (error instanceof FaultError) throw error;
    throw errnoOf(error) === 'EEXIST'
      ? changed(edit.file)
      : new FaultError('preflight', `cannot change ${edit.file}: ${messageOf(error)}; nothing was changed`);
  }
}

/** Make a folder with all that lead to it, 0700 where they are missing. */
export function createFolders(folder: string): void {
  if (exists(folder)) return;
  createFolders(path.dirname(folder));
  createFolder(folder);
}

/** Never over an earlier file. */
function createBeside(name: string, suffix: string, text: string, mode: number): string {
  for (let number = 1; ; number += 1) {
    const file = `${name}${number === 1 ? '' : `-${number}`}${suffix}`;
    if (!createFile(file, text)) continue;
    chmodSync(file, mode);
    return file;
  }
}

function changed(file: string): FaultError {
  return new FaultError('busy', `cannot change ${file}: somebody else has just changed it`, 'try it again');
}
