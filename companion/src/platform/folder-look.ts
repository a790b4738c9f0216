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
    const itself = await lstat(folder);
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
    for (const name of names.sort()) {
      const seen = await lookAtFile(`${folder}/${name}`);
      if (seen) files.push({ name, ...seen });
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

async function lookAtFile(file: string): Promise<Omit<SeenFile, 'name'> | undefined> {
  try {
    const stat = await lstat(file, { bigint: true });
    return stat.isFile() ? { size: Number(stat.size), stamp: stampOf(stat) } : undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}

function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].join('/');
}

/** The bytes of a file that is still as it was seen; undefined when it is not, or cannot be read. */
export async function readUnchanged(
  file: string,
  { size, stamp }: Omit<SeenFile, 'name'>,
): Promise<Buffer | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const before = await handle.stat({ bigint: true });
    if (!before.isFile() || stampOf(before) !== stamp) return undefined;
    const bytes = Buffer.alloc(size);
    let done = 0;
    while (done < size) {
      const { bytesRead } = await handle.read(bytes, done, size - done, done);
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
