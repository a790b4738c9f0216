// Looking at folders and paths: listing, facts about one path, moving and removing. No following of links.
import {
  accessSync,
  constants,
  type Dir,
  existsSync,
  lstatSync,
  opendirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { errnoOf } from '../core/errors.ts';

export interface PathFacts {
  kind: 'file' | 'folder' | 'link' | 'other';
  uid: number;
  /** Permission bits. */
  mode: number;
  size: number;
  /** Bytes really allocated on disk. */
  allocated: number;
  modifiedMs: number;
}

/** Facts of the path itself (a link is a link), or undefined when there is nothing. */
export function factsOf(target: string): PathFacts | undefined {
  const stat = lookAt(target);
  if (!stat) return undefined;
  const kind = stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other';
  return {
    kind,
    uid: stat.uid,
    mode: stat.mode & 0o7777,
    size: stat.size,
    allocated: stat.blocks * 512,
    modifiedMs: stat.mtimeMs,
  };
}

export interface Behind {
  kind: 'file' | 'folder' | 'other';
  size: number;
  /** With what the file system knows below a millisecond. */
  modifiedMs: number;
  inode: number;
  /** Where the last name of the path is a link: the path that it leads to. */
  linkTo: string | null;
}

/** What is at the end of a path, links followed; undefined where there is nothing. Throws where we may not look. */
export function lookBehind(target: string): Behind | undefined {
  let stat: Stats | undefined;
  try {
    stat = statSync(target, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR') throw error;
  }
  return stat && behindOf(stat, lookAt(target)?.isSymbolicLink() ? realpathSync(target) : null);
}

export function behindOf(stat: Stats, linkTo: string | null): Behind {
  return {
    kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other',
    size: stat.size,
    modifiedMs: stat.mtimeMs,
    inode: stat.ino,
    linkTo,
  };
}

/** A way that leads through a file leads to nothing. */
function lookAt(target: string): Stats | undefined {
  try {
    return lstatSync(target, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

export function exists(target: string): boolean {
  return existsSync(target);
}

/** Names in a folder; empty when it is not there. */
export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  }
}

/** The names in a folder, none when it is not there; undefined when there are more than `most`. */
export function listSome(folder: string, most: number): string[] | undefined {
  const names: string[] = [];
  let opened: Dir;
  try {
    opened = opendirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  }
  try {
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
      if (names.length === most) return undefined;
      names.push(entry.name);
    }
    return names;
  } finally {
    opened.closeSync();
  }
}

export function isFolder(target: string): boolean {
  return lookThrough(target)?.isDirectory() ?? false;
}

/** Links are followed, as by `isFolder`. */
export function isFile(target: string): boolean {
  return lookThrough(target)?.isFile() ?? false;
}

export interface TargetFacts {
  kind: 'file' | 'folder' | 'other';
  size: number;
  modifiedMs: number;
  inode: number;
}

/** What a path leads to, links followed; undefined when it leads to nothing. Throws when it cannot be looked at. */
export function targetOf(target: string): TargetFacts | undefined {
  try {
    const stat = statSync(target, { throwIfNoEntry: false });
    if (!stat) return undefined;
    const kind = stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other';
    return { kind, size: stat.size, modifiedMs: stat.mtimeMs, inode: stat.ino };
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Is it a regular file that we may execute (links followed)? */
export function isExecutable(target: string): boolean {
  if (!lookThrough(target)?.isFile()) return false;
  return isAllowed(target, constants.X_OK);
}

/** What a path leads to; nothing where we may not look. */
function lookThrough(target: string): Stats | undefined {
  try {
    return statSync(target, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

export function isWritable(target: string): boolean {
  return writeFault(target) === undefined;
}

/** Why we may not write there (`EACCES`, `EROFS`, ...), or undefined. */
export function writeFault(target: string): string | undefined {
  try {
    accessSync(target, constants.W_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? 'error';
  }
}

export function realPath(target: string): string {
  return realpathSync(target);
}

/** False when the target name is taken (by a non-empty folder) or the source is gone. */
export function moveFolder(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(error) ?? '')) return false;
    throw error;
  }
}

/** Removes a folder only when nothing is in it. */
export function removeEmptyFolder(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

export function removeTree(target: string): void {
  rmSync(target, { recursive: true, force: true });
}

/** Renew a file's times; false when the file is gone. */
export function touch(file: string, atMs: number): boolean {
  try {
    utimesSync(file, atMs / 1000, atMs / 1000);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return false;
    throw error;
  }
}

export function cutFile(file: string, length: number): void {
  truncateSync(file, length);
}

function isAllowed(target: string, mode: number): boolean {
  try {
    accessSync(target, mode);
    return true;
  } catch {
    return false;
  }
}
