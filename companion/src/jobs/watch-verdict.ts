// The verdict of a watch as cursor.json keeps it, for whoever publishes the end when its worker did not live to. The file lies where an
// agent may write, so a verdict counts only with a MAC made with the user's key over the job, the end and what was seen; without it the
// next worker looks again.
import type { WatchNote } from '../core/job.ts';
import type { EndReason } from '../core/outcome.ts';
import { readJson } from '../platform/files.ts';
import type { JobPaths } from '../store/layout.ts';
import { macOfAnswer, readKey, sameMac } from '../store/mac.ts';

export interface WatchEnd {
  reason: Extract<EndReason, 'met' | 'watch_failed' | 'watch_error'>;
  detail: string;
}

/** Null when there is no key: then the verdict is not kept. */
export async function sealVerdict(id: string, end: WatchEnd, note: WatchNote): Promise<string | null> {
  try {
    const key = readKey();
    if (key === undefined) return null;
    // As texts: what JSON leaves out or changes is the same when it was read again.
    return await macOfAnswer({ what: 'verdict', id, end: JSON.stringify(end), note: JSON.stringify(note) }, key);
  } catch {
    return null;
  }
}

/** What an earlier worker of this user stored, and did not live to publish. */
export async function storedVerdict(
  paths: JobPaths,
  id: string,
): Promise<{ end: WatchEnd; note: WatchNote } | undefined> {
  const read = readJson(paths.cursor);
  if (read.kind !== 'ok') return undefined;
  const { end, note, seal } = read.value as { end?: WatchEnd | null; note?: WatchNote; seal?: unknown };
  if (!end || !note || typeof seal !== 'string') return undefined;
  const expected = await sealVerdict(id, end, note);
  return expected !== null && sameMac(expected, seal) ? { end, note } : undefined;
}
