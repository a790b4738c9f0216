// `--after-seq N` and `--after-seq ID:N`: where a caller of `wait` has got to in the events of each job.
import { usageError } from '../core/errors.ts';
import { maxSeq } from '../core/wakes.ts';
import type { WaitCursor } from '../jobs/wake-watch.ts';
import { findJob } from '../store/catalog.ts';
import type { StateRoot } from '../store/layout.ts';

/** By whole id; jobs that no word names are not in it. */
export function parseCursors(
  texts: readonly string[],
  ids: readonly string[],
  root: StateRoot,
): Map<string, WaitCursor> {
  const cursors = new Map<string, WaitCursor>();
  for (const text of texts) {
    const colon = text.lastIndexOf(':');
    const id = colon < 0 ? onlyOf(ids, text) : jobOf(text.slice(0, colon), ids, root);
    if (cursors.has(id)) throw usageError(`cannot take two --after-seq for job ${id}: each job has one`);
    cursors.set(id, { seq: numberOf(text.slice(colon + 1), text), isGiven: true });
  }
  return cursors;
}

function onlyOf(ids: readonly string[], text: string): string {
  const [id, ...others] = ids;
  if (id !== undefined && others.length === 0) return id;
  throw usageError(
    `cannot tell which of the ${ids.length} jobs --after-seq ${JSON.stringify(text)} is for: write it as ID:N, once for each`,
  );
}

function jobOf(word: string, ids: readonly string[], root: StateRoot): string {
  const id = findJob(root, word);
  if (ids.includes(id)) return id;
  throw usageError(`cannot take --after-seq for job ${id}: this wait is for ${ids.join(', ')}`);
}

function numberOf(digits: string, text: string): number {
  const value = /^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN;
  if (value <= maxSeq) return value;
  throw usageError(
    `cannot take --after-seq ${JSON.stringify(text)}: allowed are N or ID:N with a whole number from 0 to ${maxSeq} (next_seq of an earlier wait)`,
  );
}
