// Who belongs to the tree of a job. Members are found by three marks: the shim's session and group, the parent chain (remembered from
// scan to scan, so that a process whose parent died is still known), and a random word in the environment. A process that carries another
// job's word, with everything below it, is none. What left session, tree and environment cannot be found (docs/assumptions.md).
import { markVariable, roleVariable } from './env.ts';
import { isDeadState } from './identity.ts';
import type { PidBaseline } from './pid-baseline.ts';
import { type ProcessRow, readProcesses, readProcessVariable } from './process-table.ts';
import { isToolSession } from './tool-sessions.ts';

export interface Tree {
  mark: string;
  /** `session`: only what is still in the session or group of the shim; whatever left it lives on. */
  reach: 'all' | 'session';
  /** The shim's pid: session and group of the tree; null when there never was one or a stranger has that pid now. */
  session: number | null;
  /** Nothing that started before this (kernel ticks) can belong to the tree. */
  since: number;
  /** What existed before the tree did; null when that is not known. */
  baseline: PidBaseline | null;
  /** Pids that the kernel counts to the job, where it has a cgroup of its own. */
  counted: () => readonly number[];
  /** Never touched: worker and shim. */
  spared: number[];
  /** The shim's other children (its guard and clock) leave with it by themselves; they are not told of. */
  child: number | null;
  /** Every member ever seen, by pid: its start time. */
  known: Map<number, string>;
}

/** Only Linux shows environments; elsewhere session and group must do. */
const hasMarks = process.platform === 'linux';

export interface Member {
  pid: number;
  start: string;
  name: string;
  parent?: number;
  /** It belongs to a probe, not to the command. */
  isProbe?: boolean;
}

/** The living members of a tree now. */
export function findMembers(tree: Tree): Member[] {
  const rows = findRows(tree, (row) => !isDeadState(row.state));
  const probes = findProbes(rows);
  return rows.map(({ pid, start, name, parent }) => ({
    ...{ pid, start, name, parent },
    ...(probes.has(pid) ? { isProbe: true } : {}),
  }));
}

/** Of a tree that reaches only as far as its session: the processes that left it, and carry its word or descend from one that does. */
export function findEscaped(tree: Tree): Member[] {
  const within = new Set(findMembers(tree).map(({ pid }) => pid));
  // What we run ourselves meanwhile is no part of the job.
  const isOurs = ({ pid, parent, isProbe }: Member): boolean =>
    within.has(pid) || parent === process.pid || isProbe === true;
  return findMembers({ ...tree, reach: 'all', known: new Map() }).filter((one) => !isOurs(one));
}

/** The rows of a tree, of what the caller wants to look at; remembered in `known`. */
export function findRows(tree: Tree, isWanted: (row: ProcessRow) => boolean): ProcessRow[] {
  const rows = readProcesses(tree.baseline).filter((row) => isWanted(row) && !(Number(row.start) < tree.since));
  const marks = new Map<number, string | undefined>();
  const markOf = (pid: number): string | undefined => {
    if (!marks.has(pid)) marks.set(pid, readProcessVariable(pid, markVariable));
    return marks.get(pid);
  };
  const counted = new Set(tree.counted());
  const foreign = findForeign(rows, markOf, tree.mark);
  const isForeign = (pid: number): boolean => foreign.has(pid);
  const inSession = (row: ProcessRow): boolean => row.session === tree.session || row.group === tree.session;
  // The record may name anybody: a session is the job's when one of its processes carries the job's word.
  const isOurSession =
    tree.session !== null && rows.some((row) => inSession(row) && (!hasMarks || markOf(row.pid) === tree.mark));

  if (tree.reach === 'session')
    return rows.filter((row) => isOurSession && inSession(row) && !isForeign(row.pid) && !isSpared(row, tree));
  const members = new Map<number, ProcessRow>();
  for (const row of rows) {
    const isKnown = tree.known.get(row.pid) === row.start || counted.has(row.pid);
    if (markOf(row.pid) === tree.mark || (((isOurSession && inSession(row)) || isKnown) && !isForeign(row.pid)))
      members.set(row.pid, row);
  }
  // Downwards from every member, except through another job's processes.
  for (let grew = true; grew; ) {
    grew = false;
    for (const row of rows) {
      if (members.has(row.pid) || !members.has(row.parent) || isForeign(row.pid)) continue;
      members.set(row.pid, row);
      grew = true;
    }
  }
  const found = [...members.values()].filter((row) => !isSpared(row, tree));
  for (const row of found) tree.known.set(row.pid, row.start);
  return found;
}

/** Those of a probe (or another small program that we run ourselves): by session, else who says so, and everything below. */
export function findProbes(rows: readonly ProcessRow[]): Set<number> {
  const isOne = (row: ProcessRow): boolean => {
    if (isToolSession(row.session)) return true;
    const role = readProcessVariable(row.pid, roleVariable);
    // For a moment after its start it looks like the worker that started it.
    return role === 'probe' || (role === 'worker' && row.parent === process.pid);
  };
  return withBelow(rows, new Set(rows.filter(isOne).map((row) => row.pid)));
}

/** These pids and everything below them. */
export function withBelow(rows: readonly ProcessRow[], pids: Set<number>): Set<number> {
  for (let size = -1; size !== pids.size; ) {
    size = pids.size;
    for (const row of rows) if (pids.has(row.parent)) pids.add(row.pid);
  }
  return pids;
}

/** Processes of other jobs: what carries another word, and what is below it without a word of ours. */
function findForeign(rows: ProcessRow[], markOf: (pid: number) => string | undefined, mark: string): Set<number> {
  const foreign = new Set(rows.filter((row) => (markOf(row.pid) ?? mark) !== mark).map((row) => row.pid));
  for (let size = -1; size !== foreign.size; ) {
    size = foreign.size;
    for (const row of rows) if (foreign.has(row.parent) && markOf(row.pid) !== mark) foreign.add(row.pid);
  }
  return foreign;
}

function isSpared(row: ProcessRow, tree: Tree): boolean {
  return row.pid === process.pid || tree.spared.includes(row.pid);
}
