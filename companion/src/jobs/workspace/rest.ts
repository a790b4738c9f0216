// What does not fit into the full list of a snapshot: kept as path, letters, mode and stat, which tell that something changed and
// where. Beyond that only a digest, which tells that something changed.
import { createHash } from 'node:crypto';
import type { BriefEntry, Entry, WorkspaceSnapshot } from './types.ts';

/** An entry, or what is known of a brief one: no content, and of HEAD only whether it is there. */
export type KnownEntry = Entry & { isBrief?: true };

/** `beyond` are paths with what tells two versions apart. */
export function makeRest(files: BriefEntry[], beyond: [string, string | null][]): WorkspaceSnapshot['rest'] {
  const count = files.length + beyond.length;
  if (count === 0) return null;
  return { count, files, digest: beyond.length === 0 ? null : digestOf(beyond) };
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}

/** By path: all that a snapshot names. */
export function entriesOf({ entries, rest }: Pick<WorkspaceSnapshot, 'entries' | 'rest'>): Map<string, KnownEntry> {
  const known = new Map<string, KnownEntry>(entries.map((entry) => [entry.path, entry]));
  for (const brief of rest?.files ?? []) known.set(brief[0], expand(brief));
  return known;
}

function expand([path, xy, mode, stat]: BriefEntry): KnownEntry {
  const isInHead = !/[?ARC]/.test(xy);
  return {
    path,
    xy,
    head: isInHead ? `${mode || '100644'} ?` : null,
    index: null,
    tree_mode: null,
    mode: mode || null,
    content: null,
    stat: stat || null,
    isBrief: true,
  };
}

/** Are there paths that it does not name? */
export function isCutOff({ rest }: Pick<WorkspaceSnapshot, 'rest'>): boolean {
  return rest !== null && rest.digest !== null;
}

/** What git was told to overlook is dirty to nobody. */
export function isDirty(entry: { xy: string }): boolean {
  return entry.xy !== '..';
}

export function countDirty({ entries, rest }: Pick<WorkspaceSnapshot, 'entries' | 'rest'>): number {
  const brief = rest?.files ?? [];
  const unnamed = (rest?.count ?? 0) - brief.length;
  return entries.filter(isDirty).length + brief.filter(([, xy]) => isDirty({ xy })).length + unnamed;
}
