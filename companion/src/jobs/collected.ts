// collected.json: who has read the result of an ended job. Best effort: failing at it never fails the read.
import { isoNow } from '../platform/clock.ts';
import { variables } from '../platform/env.ts';
import { createFile } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import type { View } from './view.ts';

export function noteCollected(view: View, by: 'wait' | 'result'): void {
  if (view.damage !== null || isCollected(view)) return;
  try {
    createFile(
      view.paths.collected,
      `${JSON.stringify({ by, pid: process.pid, owner: variables.owner() ?? null, at: isoNow() })}\n`,
      { sync: false },
    );
  } catch {
    // A read-only or full folder: the caller has the result all the same.
  }
}

export function isCollected(view: View): boolean {
  return exists(view.paths.collected);
}
