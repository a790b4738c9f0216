// Trouble of a judgement is none of the job's: it is noted in the worker's log, and the next interval tries again.
import { messageOf } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import { appendText } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import type { JobPaths } from '../store/layout.ts';

export function noteTrouble(paths: JobPaths, error: unknown): void {
  try {
    if (exists(paths.folder)) appendText(paths.workerLog, `cannot judge: ${plainText(messageOf(error))}\n`);
  } catch {
    // No room, or the folder has just gone.
  }
}
