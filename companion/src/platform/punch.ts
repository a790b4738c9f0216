// Giving back the blocks of the middle of a file that another process appends to. Linux does it exactly (a hole, by the
// `fallocate` program of util-linux); where that is missing, the file is cut and its tail appended again, which can lose what is
// written in between.
import { execFile } from 'node:child_process';
import { toolEnvironment } from './env.ts';
import { appendText, readRange } from './files.ts';
import { cutFile, factsOf } from './folders.ts';

let canPunch: boolean | undefined;

/** How it was done, and where the kept tail begins (later than asked for when a cut cannot carry so much). */
export interface Trimmed {
  how: 'punched' | 'cut' | 'failed';
  to: number;
}

const carriedBytes = 64 * 1024 * 1024;

/** Free the bytes [from, to). Offsets are whole pages. After `cut`, what followed `to` stands right after `from`. */
export async function freeRange(file: string, from: number, to: number): Promise<Trimmed> {
  if (canPunch !== false) {
    canPunch = await punch(file, from, to - from);
    if (canPunch) return { how: 'punched', to };
  }
  return cutMiddle(file, from, to);
}

function punch(file: string, offset: number, length: number): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(
      'fallocate',
      ['-p', '-o', String(offset), '-l', String(length), file],
      { timeout: 30_000, env: toolEnvironment() },
      (error) => resolve(error === null),
    );
  });
}

function cutMiddle(file: string, from: number, to: number): Trimmed {
  const start = Math.max(to, (factsOf(file)?.size ?? 0) - carriedBytes);
  const tail = readRange(file, start, carriedBytes);
  if (!tail) return { how: 'failed', to };
  cutFile(file, from);
  appendText(file, tail.bytes);
  return { how: 'cut', to: start };
}
