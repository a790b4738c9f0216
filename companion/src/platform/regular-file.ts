// Reading a file of a repository's, which somebody else has put there: links are followed, as git does, and nothing but a regular file is ever
// opened. A pipe or a device in its place would hold up whoever reads it, or give bytes for ever.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { errnoOf } from '../core/errors.ts';

const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

export interface OpenFile {
  fd: number;
  size: number;
}

/** Undefined: there is nothing. Throws, with the reason, when what is there cannot be read as a file. */
export function openRegular(file: string): OpenFile | undefined {
  try {
    // Asked before it is opened, because opening alone may do something to a device; and again, of what was opened.
    if (!statSync(file).isFile()) throw notRegular(file);
    const fd = openSync(file, flags);
    const stat = fstatSync(fd);
    if (stat.isFile()) return { fd, size: stat.size };
    closeSync(fd);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw code === undefined ? error : new Error(`${file} cannot be read (${code})`);
  }
  throw notRegular(file);
}

/** The whole text. Throws also when it is longer than `limit`. */
export function readRegular(file: string, limit: number): string | undefined {
  const opened = openRegular(file);
  if (!opened) return undefined;
  try {
    if (opened.size > limit) throw new Error(`${file} is too large (${opened.size} bytes)`);
    const bytes = Buffer.alloc(opened.size);
    return bytes.toString('utf8', 0, readAt(opened.fd, bytes, 0));
  } finally {
    closeSync(opened.fd);
  }
}

/** Fills the buffer from this place of the file on; returns how many bytes there were. */
export function readAt(fd: number, bytes: Buffer, position: number): number {
  let done = 0;
  while (done < bytes.length) {
    const got = readSync(fd, bytes, done, bytes.length - done, position + done);
    if (got === 0) break;
    done += got;
  }
  return done;
}

function notRegular(file: string): Error {
  return new Error(`${file} is no regular file`);
}
