// What the tree of a job uses: the CPU figures of its processes (core/cpu-use.ts makes a use of them) and how many descendants of the
// command live. Neither the shim's own processes nor those of a probe count.
import type { CpuRow } from '../core/cpu-use.ts';
import { isDeadState } from './identity.ts';
import { findProbes, findRows, type Tree, withBelow } from './process-members.ts';
import { hasCpu, type ProcessRow, tickMs } from './process-table.ts';

export interface TreeUsage {
  /** Null where CPU time cannot be told. The ended that nobody has waited for yet are among them: their time is not lost. */
  cpu: CpuRow[] | null;
  descendants: number;
}

export function measureTree(tree: Tree): TreeUsage {
  const own = ownRows(tree);
  return {
    cpu: cpuOf(own),
    descendants: own.filter((row) => row.pid !== tree.child && !isDeadState(row.state)).length,
  };
}

/** The processes of the command and of everything below it. */
export function ownRows(tree: Tree): ProcessRow[] {
  const rows = findRows({ ...tree, reach: 'all' }, () => true);
  // What has ended is of no use any more, and a job may run for weeks.
  tree.known = new Map(rows.map((row) => [row.pid, row.start]));
  const others = findProbes(rows);
  for (const pid of withBelow(rows, new Set(rows.filter((row) => isShimsOwn(row, tree)).map((row) => row.pid))))
    others.add(pid);
  return rows.filter((row) => !others.has(row.pid));
}

export function cpuOf(rows: readonly ProcessRow[]): CpuRow[] | null {
  return hasCpu ? rows.map(cpuRowOf) : null;
}

/** The guard and the clock of the shim. */
function isShimsOwn(row: ProcessRow, tree: Tree): boolean {
  return tree.child !== null && tree.session !== null && row.parent === tree.session && row.pid !== tree.child;
}

function cpuRowOf({ pid, start, parent, cpu, waited }: ProcessRow): CpuRow {
  return { pid, start, parent, ownMs: cpu * tickMs, waitedMs: waited * tickMs };
}
