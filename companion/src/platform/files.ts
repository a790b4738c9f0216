// Files that others may read at any moment: replaced by rename, created exclusively, appended in whole lines, always 0600
// (folders 0700) whatever the umask. Reading never follows a link and never opens anything but a regular file, because
// the folder lies where an agent may write.
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { errnoOf } from '../core/errors.ts';

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const appendFlags =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
let serial = 0;

/** A file that can be read, nothing there, or something that cannot be used (with the reason). */
export type Read<T> = { kind: 'ok'; value: T } | { kind: 'missing' } | { kind: 'damaged'; reason: string };

/** Make one folder, 0700. False when something of that name exists already. */
export function createFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  chmodSync(folder, 0o700);
  return true;
}

/** Replace a file by a whole new one. `sync: false` for files whose loss costs nothing. */
export function writeFile(file: string, data: string | Uint8Array, options: { sync?: boolean } = {}): void {
  putInPlace(writeBeside(file, data, options.sync ?? true), file);
}

/** A folder that somebody put in the place of a file is moved aside, never removed. */
function putInPlace(temporary: string, file: string): void {
  try {
    renameSync(temporary, file);
  } catch (error) {
    if (errnoOf(error) === 'EISDIR') {
      moveAside(file);
      renameSync(temporary, file);
      return;
    }
    removeFile(temporary);
    throw error;
  }
}

/** What has no business there is kept under another name. */
export function moveAside(target: string): void {
  serial += 1;
  renameSync(target, `${target}.odd-${process.pid}-${serial}`);
}

export function writeJson(file: string, value: unknown, options: { sync?: boolean } = {}): void {
  writeFile(file, `${JSON.stringify(value)}\n`, options);
}

/** As `writeFile`, with the forcing to the disk beside whatever the caller does meanwhile. */
export async function writeFileMeanwhile(file: string, data: string): Promise<void> {
  const temporary = writeBeside(file, data, false);
  const fd = openSync(temporary, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await new Promise<void>((resolve, reject) => fsync(fd, (error) => (error ? reject(error) : resolve())));
  } catch (error) {
    removeFile(temporary);
    throw error;
  } finally {
    closeSync(fd);
  }
  putInPlace(temporary, file);
}

/** Create a file with its whole content, or leave what is there. True for the one that created it. */
export function createFile(file: string, data: string, options: { sync?: boolean } = {}): boolean {
  const temporary = writeBeside(file, data, options.sync ?? true);
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    removeFile(temporary);
  }
}

/** Append text in one write. The caller brings whole lines. */
export function appendText(file: string, text: string | Uint8Array): void {
  const fd = openSync(file, appendFlags, 0o600);
  try {
    const stat = fstatSync(fd);
    if (stat.size === 0 && (stat.mode & 0o777) !== 0o600) fchmodSync(fd, 0o600);
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  } finally {
    closeSync(fd);
  }
}

/** Open for appending by a child or by ourselves; made 0600 when new. */
export function openAppend(file: string): number {
  const fd = openSync(file, appendFlags, 0o600);
  if (fstatSync(fd).size === 0) fchmodSync(fd, 0o600);
  return fd;
}

/** Bytes from `offset`, at most `length`; `size` is the file's. Undefined when there is no such regular file. */
export function readRange(file: string, offset: number, length: number): { bytes: Buffer; size: number } | undefined {
  let fd: number;
  try {
    fd = openSync(file, readFlags);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    const start = offset < 0 ? Math.max(0, stat.size + offset) : offset;
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, stat.size - start)));
    let done = 0;
    while (done < bytes.length) {
      const got = readSync(fd, bytes, done, bytes.length - done, start + done);
      if (got === 0) break;
      done += got;
    }
    return { bytes: bytes.subarray(0, done), size: stat.size };
  } finally {
    closeSync(fd);
  }
}

export function readText(file: string, limit = 16 * 1024 * 1024): string | undefined {
  return readRange(file, 0, limit)?.bytes.toString('utf8');
}

/** A JSON object in a file. Anything that is no object is damage. */
export function readJson(file: string): Read<Record<string, unknown>> {
  let text: string | undefined;
  try {
    text = readText(file);
  } catch (error) {
    return { kind: 'damaged', reason: `${path.basename(file)} cannot be read (${errnoOf(error) ?? 'error'})` };
  }
  if (text === undefined) return { kind: 'missing' };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { kind: 'ok', value: value as Record<string, unknown> };
    }
  } catch {
    // Told below: a torn or foreign file is the same to the reader.
  }
  return { kind: 'damaged', reason: `${path.basename(file)} is no JSON object` };
}

/** Force the names in a folder to the disk, where the file system can do that. */
export function syncFolder(folder: string): void {
  let fd: number | undefined;
  try {
    fd = openSync(folder, constants.O_RDONLY | constants.O_NOFOLLOW);
    fsyncSync(fd);
  } catch {
    // Some file systems refuse it; they write names in order.
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** True when it was there. */
export function removeFile(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errnoOf(error) ?? '')) return false;
    throw error;
  }
}

function writeBeside(file: string, data: string | Uint8Array, sync: boolean): string {
  const { fd, temporary } = openBeside(file);
  try {
    fchmodSync(fd, 0o600);
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    let done = 0;
    while (done < bytes.length) done += writeSync(fd, bytes, done);
    if (sync) fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    removeFile(temporary);
    throw error;
  }
  closeSync(fd);
  return temporary;
}

/** A killed process of the same pid may have left one of these names behind: then the next one. */
function openBeside(file: string): { fd: number; temporary: string } {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  for (let tries = 0; ; tries += 1) {
    serial += 1;
    const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.${serial}.tmp`);
    try {
      return { fd: openSync(temporary, flags, 0o600), temporary };
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST' || tries > 1000) throw error;
    }
  }
}
/** Write bytes at an offset of an existing file, over what is there. */
export function overwrite(file: string, offset: number, text: string): void {
  const fd = openSync(file, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    writeSync(fd, Buffer.from(text), 0, null, offset);
  } finally {
    closeSync(fd);
  }
}

export function closeFile(fd: number): void {
  closeSync(fd);
}
