// Ending a whole tree. Members are found by three marks: the shim's session and group, the parent chain (remembered from
// scan to scan, so that a process whose parent died is still known), and a random word in the environment. A process
// that carries another job's word, with everything below it, is never touched. Every signal is sent to a pid whose start
// time was compared just before. What left session, tree and environment cannot be found (docs/assumptions.md).
import { monotonicMs, sleep } from './clock.ts';
import { markVariable } from './env.ts';
import { isDeadState } from './identity.ts';
import type { PidBaseline } from './pid-baseline.ts';
import { type ProcessRow, readProcess, readProcesses, readProcessVariable } from './process-table.ts';

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
}

export interface TerminateReport {
  /** The strongest step that was needed. */
  step: 'none' | 'term' | 'kill';
  ended: Member[];
  survivors: Member[];
}

/** The living members of a tree now. */
export function findMembers(tree: Tree): Member[] {
  const rows = readProcesses(tree.baseline).filter(
    (row) => !isDeadState(row.state) && !(Number(row.start) < tree.since),
  );
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

  const members = new Map<number, ProcessRow>();
  const found: Member[] = [];
  if (tree.reach === 'session') {
    for (const row of rows)
      if (isOurSession && inSession(row) && !isForeign(row.pid) && !isSpared(row, tree)) found.push(memberOf(row));
    return found;
  }
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
  for (const row of members.values()) {
    if (isSpared(row, tree)) continue;
    tree.known.set(row.pid, row.start);
    found.push(memberOf(row));
  }
  return found;
}

/** Of a tree that reaches only as far as its session: the processes that left it, and carry its word or descend from one that does. */
export function findEscaped(tree: Tree): Member[] {
  const within = new Set(findMembers(tree).map(({ pid }) => pid));
  // What we run ourselves meanwhile is no part of the job.
  const isOurs = ({ pid, parent }: Member): boolean => within.has(pid) || parent === process.pid;
  return findMembers({ ...tree, reach: 'all', known: new Map() }).filter((one) => !isOurs(one));
}

function memberOf({ pid, start, name, parent }: ProcessRow): Member {
  return { pid, start, name, parent };
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

/** TERM, grace, KILL, and a look whether it worked. Never signals anybody when the tree is empty. */
export async function terminate(tree: Tree, options: { graceMs: number; settleMs: number }): Promise<TerminateReport> {
  const report: TerminateReport = { step: 'none', ended: [], survivors: [] };
  const seen = new Map<number, Member>();
  const told = new Set<number>();
  const note = (members: Member[]): Member[] => {
    for (const member of members) seen.set(member.pid, member);
    return members;
  };
  let left = note(findMembers(tree));
  if (left.length === 0) return report;

  report.step = 'term';
  const termUntil = monotonicMs() + options.graceMs;
  for (let pause = 5; left.length > 0 && monotonicMs() < termUntil; pause = Math.min(pause * 2, 100)) {
    for (const member of left) if (!told.has(member.pid) && signal(member, 'SIGTERM')) told.add(member.pid);
    await sleep(Math.min(pause, Math.max(1, termUntil - monotonicMs())));
    left = note(stillThere(left, tree));
  }
  if (left.length > 0) {
    report.step = 'kill';
    const killUntil = monotonicMs() + options.settleMs;
    for (let pause = 5; left.length > 0 && monotonicMs() < killUntil; pause = Math.min(pause * 2, 200)) {
      for (const member of left) signal(member, 'SIGKILL');
      await sleep(pause);
      left = note(findMembers(tree));
    }
  }
  report.survivors = left;
  report.ended = [...seen.values()].filter(
    (member) => !left.some((one) => one.pid === member.pid) && !isShimsOwn(member, tree),
  );
  return report;
}

/** The guard and the clock of the shim: ignoring TERM, gone as soon as the child is. */
function isShimsOwn(member: Member, tree: Tree): boolean {
  return tree.child !== null && tree.session !== null && member.parent === tree.session && member.pid !== tree.child;
}

/** A cheap look at the ones we know; only when they are all gone, a whole one. */
function stillThere(members: Member[], tree: Tree): Member[] {
  const living = members.filter(isAlive);
  return living.length > 0 ? living : findMembers(tree);
}

export function isAlive(member: { pid: number; start: string }): boolean {
  const row = readProcess(member.pid);
  return row !== undefined && row.start === member.start && !isDeadState(row.state);
}

function signal(member: Member, name: NodeJS.Signals): boolean {
  if (!isAlive(member)) return false;
  try {
    process.kill(member.pid, name);
    return true;
  } catch {
    return false;
  }
}
