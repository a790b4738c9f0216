// How this program is called again: by workers, and by whoever copies a command that we printed.

import path from 'node:path';
import { realPath } from './folders.ts';
import { findProgram } from './which.ts';

/** The file that runs now. */
export function companionFile(): string {
  const file = path.resolve('/', process.argv[1] ?? '');
  try {
    return realPath(file);
  } catch {
    // Removed or moved under a running command (a plugin that was updated): the name is all that is left.
    return file;
  }
}

/** The Node that runs now. */
export function nodeFile(): string {
  return process.execPath;
}

/** `node FILE`, with the Node that runs now when `node` on PATH is another one or none. */
export function selfWords(): string[] {
  const onPath = findProgram('node', '/');
  return [onPath !== undefined && isSameFile(onPath, process.execPath) ? 'node' : process.execPath, companionFile()];
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realPath(a) === realPath(b);
  } catch {
    return false;
  }
}
