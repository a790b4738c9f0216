// Facts of one named path, without waiting for a file system that does not answer (a dead network mount would hold up everything else
// that a worker does).
import { lstat, realpath, stat } from 'node:fs/promises';
import { errnoOf } from '../core/errors.ts';
import { type Behind, behindOf } from './folders.ts';

export interface FileFacts {
  size: number;
  modified_ms: number;
  inode: number;
}

/** Links are followed. Null: nothing there. Undefined: not known (we may not look, or no answer in time). */
export async function fileFacts(target: string, timeoutMs: number): Promise<FileFacts | null | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  const looked = stat(target).then(
    ({ size, mtimeMs, ino }) => ({ size, modified_ms: mtimeMs, inode: ino }),
    (error) => (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '') ? null : undefined),
  );
  try {
    return await Promise.race([looked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** As `lookBehind`, with what it throws as a word. */
export async function lookBehindSoon(
  target: string,
  timeoutMs: number,
): Promise<{ found: Behind | undefined } | { trouble: string }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<{ trouble: string }>((resolve) => {
    timer = setTimeout(() => resolve({ trouble: 'no answer' }), timeoutMs);
  });
  try {
    return await Promise.race([look(target), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function look(target: string): Promise<{ found: Behind | undefined } | { trouble: string }> {
  try {
    const [behind, itself] = [await stat(target), await lstat(target)];
    return { found: behindOf(behind, itself.isSymbolicLink() ? await realpath(target) : null) };
  } catch (error) {
    const code = errnoOf(error) ?? 'error';
    return ['ENOENT', 'ENOTDIR'].includes(code) ? { found: undefined } : { trouble: code };
  }
}
