// How much CPU a tree used between two looks, although its processes come and go. A process that ended leaves its time to the parent
// that waited for it, so what was counted of it before must not be counted there again. Never negative. Pure.

export interface CpuRow {
  pid: number;
  start: string;
  parent: number;
  ownMs: number;
  /** Of children that ended and were waited for, with all below them. */
  waitedMs: number;
}

export interface CpuBooks {
  rows: ReadonlyMap<number, CpuRow>;
  /** Counted already of processes that vanished; it may still come to this pid as time of its children. */
  owed: ReadonlyMap<number, number>;
}

/** From nothing: everything that the tree has used counts. */
export const emptyBooks: CpuBooks = { rows: new Map(), owed: new Map() };

export function cpuSince(before: CpuBooks, now: readonly CpuRow[]): { usedMs: number; books: CpuBooks } {
  const rows = new Map(now.map((row) => [row.pid, row]));
  const isThere = ({ pid, start }: CpuRow): boolean => rows.get(pid)?.start === start;
  const fresh = new Map<number, number>();
  for (const row of before.rows.values()) {
    if (isThere(row)) continue;
    const heir = heirOf(row);
    if (heir !== undefined) fresh.set(heir, (fresh.get(heir) ?? 0) + row.ownMs + row.waitedMs);
  }
  let usedMs = 0;
  const owed = new Map<number, number>();
  for (const row of now) {
    const earlier = before.rows.get(row.pid);
    const known = earlier?.start === row.start ? earlier : undefined;
    usedMs += Math.max(0, row.ownMs - (known?.ownMs ?? 0));
    const came = Math.max(0, row.waitedMs - (known?.waitedMs ?? 0));
    // A debt of the last look is paid now or never: then nobody waited for that process.
    const [old, due] = [known ? (before.owed.get(row.pid) ?? 0) : 0, fresh.get(row.pid) ?? 0];
    usedMs += Math.max(0, came - old - due);
    const left = Math.min(due, Math.max(0, old + due - came));
    if (left > 0) owed.set(row.pid, left);
  }
  return { usedMs, books: { rows, owed } };

  /** The nearest process above a vanished one that still lives. */
  function heirOf(row: CpuRow): number | undefined {
    const seen = new Set<number>();
    for (let parent = before.rows.get(row.parent); parent; parent = before.rows.get(parent.parent)) {
      if (isThere(parent)) return parent.pid;
      if (seen.has(parent.pid)) return undefined;
      seen.add(parent.pid);
    }
    return undefined;
  }
}
