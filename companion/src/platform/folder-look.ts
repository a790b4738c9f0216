// Looking into a folder that somebody else writes to, without waiting for a file system that does not answer: the regular files by name,
// what tells one state of a file from the next, and the bytes of one that stands still. Never through a link.
import type { BigIntStats } from 'node:fs';
import { constants, type FileHandle, lstat, open, opendir, realpath } from 'node:fs/promises';
import { errnoOf } from '../core/errors.ts';

export interface SeenFile {
  name: string;
  size: number;
  /** Another one after every change of the file, whatever its size and times say. */
  stamp: string;
  /** The file system knows when a file was made: two of one number can be told apart. */
  hasBirth: boolean;
}

export type FolderLook = { files: SeenFile[] } | { trouble: string };

export interface Bounds {
  /** Names in the folder that are looked at, and files of them that are wanted. */
  names: number;
  files: number;
}

/** The regular files that are wanted, sorted by name; or why the folder cannot be looked into. */
export async function lookIntoFolder(
  folder: string,
  isWanted: (name: string) => boolean,
  bounds: Bounds,
): Promise<FolderLook> {
  try {
    const itself = await lstat(folder, { bigint: true });
    if (itself.isSymbolicLink()) return { trouble: 'it is a link now' };
    if (!itself.isDirectory()) return { trouble: 'it is no folder any more' };
    if ((await realpath(folder)) !== folder) return { trouble: 'its path leads through a link now' };
    const names: string[] = [];
    let count = 0;
    for await (const { name } of await opendir(folder)) {
      count += 1;
      if (count > bounds.names) return { trouble: `it holds more than ${bounds.names} names` };
      if (isWanted(name)) names.push(name);
    }
    if (names.length > bounds.files) return { trouble: `it holds more than ${bounds.files} ordered files` };
    const files: SeenFile[] = [];
    // Where it is not known, it is zero or the time of the last change: a folder has changed since it was made, for there is a file in it.
    const hasBirth = itself.birthtimeNs > 0n && itself.birthtimeNs !== itself.ctimeNs;
    for (const name of names.sort()) {
      const seen = await lookAtFile(`${folder}/${name}`);
      if (seen) files.push({ name, ...seen, hasBirth });
    }
    return { files };
  } catch (error) {
    const code = errnoOf(error) ?? 'error';
    return { trouble: ['ENOENT', 'ENOTDIR'].includes(code) ? 'it is gone' : `it cannot be read (${code})` };
  }
}

/** What comes in time, or `late`. Leaves no timer behind. */
export async function inTime<T>(coming: Promise<T>, timeoutMs: number, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), timeoutMs);
  });
  try {
    return await Promise.race([coming, expiry]);
  } finally {
    clearTimeout(timer);
  }
}

async function lookAtFile(file: string): Promise<Pick<SeenFile, 'size' | 'stamp'> | undefined> {
  try {
    const stat = await lstat(file, { bigint: true });
    return stat.isFile() ? { size: Number(stat.size), stamp: stampOf(stat) } : undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}

function stampOf({ ino, size, mtimeNs, ctimeNs, birthtimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, birthtimeNs].join('/');
}

/**
 * Another file than the one that had this stamp, of whatever content. The number alone says too little: a new file may have that of one that
 * was removed, and some file systems give a file another number at each look (but no other times).
 */
export function isOtherFile(stamp: string, { stamp: now, hasBirth }: SeenFile): boolean {
  const [ino, , modified, changed, birth] = stamp.split('/');
  const [inoNow, , modifiedNow, changedNow, birthNow] = now.split('/');
  if (ino !== inoNow) return modified !== modifiedNow || changed !== changedNow;
  return hasBirth && birth !== undefined && birth !== birthNow;
}

/** The bytes of a file that is still as it was seen, or so many of both its ends; undefined when it is not, or cannot be read. */
export async function readUnchanged(
  file: string,
  { size, stamp }: Pick<SeenFile, 'size' | 'stamp'>,
  ends: number | null,
): Promise<Buffer | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const before = await handle.stat({ bigint: true });
    if (!before.isFile() || stampOf(before) !== stamp) return undefined;
    const half = ends === null || 2 * ends >= size ? size : ends;
    const bytes = Buffer.alloc(half === size ? size : 2 * half);
    let done = 0;
    while (done < bytes.length) {
      const [end, at] = done < half ? [half, done] : [bytes.length, size - bytes.length + done];
      const { bytesRead } = await handle.read(bytes, done, end - done, at);
      if (bytesRead === 0) return undefined;
      done += bytesRead;
    }
    return stampOf(await handle.stat({ bigint: true })) === stamp ? bytes : undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  } finally {
    await handle?.close().catch(() => undefined);
  }
}
