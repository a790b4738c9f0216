// How this program is called again: by workers, and by whoever copies a command that we printed.

import { realPath } from './folders.ts';
import { findProgram } from './which.ts';

/** The file that runs now. */
export function companionFile(): string {
  return realPath(process.argv[1] ?? '');
}

/** `node FILE`, with the Node that runs now when `node` on PATH is another one or none. */
export function selfWords(): string[] {
  const onPath = findProgram('node', '/');
  const isSame = onPath !== undefined && realPath(onPath) === realPath(process.execPath);
  return [isSame ? 'node' : process.execPath, companionFile()];
}
