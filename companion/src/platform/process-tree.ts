// Ending a whole tree. Every signal is sent to a pid whose start time was compared just before.
import { monotonicMs, sleep } from './clock.ts';
import { isDeadState } from './identity.ts';
import { findMembers, type Member, type Tree } from './process-members.ts';
import { readProcess } from './process-table.ts';

export interface TerminateReport {
  /** The strongest step that was needed. */
  step: 'none' | 'term' | 'kill';
  ended: Member[];
  survivors: Member[];
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
    (member) => !left.some((one) => one.pid === member.pid) && !isShimsOwn(member, tree) && !member.isProbe,
  );
  return report;
}

/** The guard and the clock of the shim: ignoring TERM, gone as soon as the child is. */
function isShimsOwn(member: Member, tree: Tree): boolean {
  return tree.child !== null && tree.session !== null && member.parent === tree.session && member.pid !== tree.child;
}

/** KILL for what a probe left behind (or what is left of a probe whose worker died). Never anybody of the command. */
export function endProbes(tree: Tree): void {
  for (const member of findMembers({ ...tree, reach: 'all' })) if (member.isProbe) signal(member, 'SIGKILL');
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
