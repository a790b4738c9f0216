// Pairs what went with what came: where git says so, and where the content is exactly the same.
import type { Change } from './sides.ts';

const emptyBlobs = new Set([
  'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
]);

/** The same changes, with each pair as one change that has `from`; all others lose theirs. */
export function pairRenames(changes: Change[]): Change[] {
  const gone = new Map(changes.filter(({ was, is }) => was && !is).map((change) => [change.path, change]));
  const byContent = new Map<string, Change[]>();
  for (const change of gone.values()) {
    const key = change.was && contentKey(change.was);
    if (key) byContent.set(key, [...(byContent.get(key) ?? []), change]);
  }
  const taken = new Set<string>();
  const originOf = new Map<string, Change>();
  const take = (change: Change, origin: Change | undefined): void => {
    if (!origin || taken.has(origin.path)) return;
    taken.add(origin.path);
    originOf.set(change.path, origin);
  };
  const fresh = changes.filter(({ was, is }) => !was && is);
  for (const change of fresh) if (change.from !== undefined) take(change, gone.get(change.from));
  for (const change of fresh) {
    const key = change.is && contentKey(change.is);
    if (!key || originOf.has(change.path)) continue;
    const free = (byContent.get(key) ?? []).filter(({ path }) => !taken.has(path));
    const namesake = free.find(({ path }) => lastPart(path) === lastPart(change.path));
    // Empty files are all alike: only the name tells.
    take(change, namesake ?? (emptyBlobs.has(change.is?.content ?? '') ? undefined : free[0]));
  }
  return changes
    .filter(({ path }) => !taken.has(path))
    .map(({ from: _, ...change }) => {
      const origin = originOf.get(change.path);
      if (!origin) return change;
      return { ...change, from: origin.path, was_dirty: change.was_dirty || origin.was_dirty };
    });
}

function contentKey({ mode, content }: { mode: string; content: string | null }): string | null {
  return content === null ? null : `${mode.slice(0, 3)} ${content}`;
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
