// Which job came from which: a continued or restarted one hangs below the one it goes on from, a job that a job started (its owner is that job's id) below
// that one. Records may say anything: a parent that is gone is a name, and of a ring each job is told once.
import { isId } from '../core/ids.ts';
import type { View } from './view.ts';

export interface Relative {
  id: string;
  /** Null for a parent that is gone. */
  view: View | null;
  /** What it is to the one above it; null at the top. */
  relation: 'continue' | 'restart' | 'started by' | null;
  depth: number;
  /** For the nearest levels, its own last: is there another one to come on that level? */
  hasMore: boolean[];
}

interface Parent {
  id: string;
  relation: NonNullable<Relative['relation']>;
}

export function parentOf({ id, spec }: View): Parent | null {
  const { lineage, owner } = spec ?? {};
  if (lineage && isId(String(lineage.parent)) && lineage.parent !== id)
    return { id: lineage.parent, relation: lineage.relation === 'continue' ? 'continue' : 'restart' };
  return owner && isId(owner) && owner !== id ? { id: owner, relation: 'started by' } : null;
}

/** Parents first, in the order in which the jobs were given. */
export function familyOf(views: readonly View[]): Relative[] {
  const known = new Map(views.map((view) => [view.id, view]));
  const children = new Map<string, string[]>();
  const tops: string[] = [];
  for (const view of views) {
    const parent = parentOf(view);
    const above = parent?.id ?? null;
    if (above === null) tops.push(view.id);
    else if (children.has(above)) children.get(above)?.push(view.id);
    else {
      children.set(above, [view.id]);
      if (!known.has(above)) tops.push(above);
    }
  }
  const told = new Set<string>();
  const rows: Relative[] = [];
  const tell = (top: string): void => {
    // No recursion: a chain may be as long as there are jobs.
    const open: { id: string; depth: number; hasMore: boolean[] }[] = [{ id: top, depth: 0, hasMore: [] }];
    for (let one = open.pop(); one; one = open.pop()) {
      if (told.has(one.id)) continue;
      told.add(one.id);
      const view = known.get(one.id) ?? null;
      const relation = one.depth === 0 || view === null ? null : (parentOf(view)?.relation ?? null);
      rows.push({ ...one, view, relation });
      const below = (children.get(one.id) ?? []).filter((id) => !told.has(id));
      const { depth, hasMore } = one;
      open.push(
        ...below
          .map((id, at) => ({ id, depth: depth + 1, hasMore: [...hasMore.slice(-levelsKept), at < below.length - 1] }))
          .reverse(),
      );
    }
  };
  for (const top of tops) tell(top);
  // A ring has no top: it begins with the first that was given.
  for (const view of views) tell(view.id);
  return rows;
}

/** More are not drawn. */
const levelsKept = 8;
