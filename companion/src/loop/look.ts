// Looking at files that a repository brings: links and pipes are never opened.
import { factsOf } from '../platform/folders.ts';

export function isRegularFile(file: string): boolean {
  try {
    return factsOf(file)?.kind === 'file';
  } catch {
    return false;
  }
}

export function isThere(file: string): boolean {
  try {
    return factsOf(file) !== undefined;
  } catch {
    return false;
  }
}
