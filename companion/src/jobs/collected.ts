// What has been read of a job, and by whom: collected.json for the result of an ended one, waiters/delivered.json for the newest event that
// woke a waiter. Best effort: failing at it never fails the read, and nobody misses anything by it.
import path from 'node:path';
import { instantOf } from '../core/recorded-time.ts';
import { isNumbered, type Wanted } from '../core/wakes.ts';
import { isoNow } from '../platform/clock.ts';
import { variables } from '../platform/env.ts';
import { createFile, readJson, writeJson } from '../platform/files.ts';
import { exists, factsOf } from '../platform/folders.ts';
import type { JobPaths } from '../store/layout.ts';
import type { View } from './view.ts';

export function noteCollected(view: View, by: 'wait' | 'result'): void {
  if (view.damage !== null || isCollected(view)) return;
  try {
    const note = { by, pid: process.pid, owner: variables.owner() ?? null, at: isoNow(), seq: view.state.seq };
    createFile(view.paths.collected, `${JSON.stringify(note)}\n`, { sync: false });
  } catch {
    // A read-only or full folder: the caller has the result all the same.
  }
}

export function isCollected(view: View): boolean {
  return exists(view.paths.collected);
}

/** A waiter that listened to these causes was woken by this event and its caller has it in hand. */
export function noteDelivered(view: View, seq: number, causes: readonly Wanted[]): void {
  try {
    // Nothing is written through a link.
    if (factsOf(view.paths.waiters)?.kind !== 'folder') return;
    const before = deliveredSeq(view.paths) ?? 0;
    // Of one cause everything up to its number was heard, whatever number another cause has got to.
    const news = causes.filter((cause) => seq > (heardSeq(view.paths, cause) ?? 0));
    if (seq <= before && news.length === 0) return;
    const heard = { ...heardIn(view.paths), ...Object.fromEntries(news.map((cause) => [cause, seq])) };
    const note = {
      seq: Math.max(seq, before),
      heard,
      pid: process.pid,
      owner: variables.owner() ?? null,
      at: isoNow(),
    };
    writeJson(deliveredFile(view.paths), note, { sync: false });
  } catch {
    // As above.
  }
}

/** Who has read the result first; null while nobody has. */
export function collectedBy({ paths }: View): Record<string, unknown> | null {
  const read = readJson(paths.collected);
  if (read.kind === 'missing') return null;
  const { by, owner, at } = read.kind === 'ok' ? read.value : {};
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return { by: text(by), owner: text(owner), at: instantOf(at) === null ? null : at };
}

/** The newest event that anybody is known to have been told by a wait; null when nobody was. */
export function lastCollectedSeq({ paths }: View): number | null {
  const seqs = [numberIn(paths.collected), deliveredSeq(paths)].filter((seq) => seq !== null);
  return seqs.length === 0 ? null : Math.max(...seqs);
}

/** Every event of this cause up to here was told by a wait; null when none is known to have been. */
export function heardSeq(paths: JobPaths, cause: Wanted): number | null {
  const seq = heardIn(paths)[cause];
  return typeof seq === 'number' && isNumbered({ seq }) ? seq : null;
}

function heardIn(paths: JobPaths): Partial<Record<Wanted, unknown>> {
  const read = readJson(deliveredFile(paths));
  const heard = read.kind === 'ok' ? read.value.heard : null;
  return typeof heard === 'object' && heard !== null && !Array.isArray(heard) ? heard : {};
}

function deliveredFile(paths: JobPaths): string {
  return path.join(paths.waiters, 'delivered.json');
}

function deliveredSeq(paths: JobPaths): number | null {
  return numberIn(deliveredFile(paths));
}

function numberIn(file: string): number | null {
  const read = readJson(file);
  if (read.kind !== 'ok' || typeof read.value.seq !== 'number') return null;
  return isNumbered({ seq: read.value.seq }) ? read.value.seq : null;
}
