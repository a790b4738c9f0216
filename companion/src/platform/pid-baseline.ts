// Which pids existed before a job's child was started. Until the pid counter wraps around, none of them can belong to the job, so the
// sweep at its end looks at the others only (0.5 ms instead of 6 ms per 100 processes; it stands between a job's end and
// whoever waits). Linux only; without a baseline everything is looked at.
import { readFileSync } from 'node:fs';
import { listNames } from './folders.ts';

export interface PidBaseline {
  pids: ReadonlySet<number>;
  lastPid: number;
  /** Processes and threads that this boot has made so far. */
  forks: number;
}

export function takeBaseline(): PidBaseline | null {
  const counters = readCounters();
  return counters && { ...counters, pids: new Set(listPids()) };
}

/** The pids that may be newer than the baseline. */
export function pidsSince(baseline: PidBaseline | null): number[] {
  const all = listPids();
  return baseline && !hasWrapped(baseline) ? all.filter((pid) => !baseline.pids.has(pid)) : all;
}

function listPids(): number[] {
  return listNames('/proc')
    .map(Number)
    .filter((pid) => Number.isSafeInteger(pid));
}

/** A pid is used again only after the counter went once around. */
function hasWrapped(baseline: PidBaseline): boolean {
  const now = readCounters();
  if (!now) return true;
  const highest = Number(readOrEmpty('/proc/sys/kernel/pid_max'));
  return now.lastPid < baseline.lastPid || !(now.forks - baseline.forks < highest / 2);
}

function readCounters(): { lastPid: number; forks: number } | null {
  const lastPid = Number(readOrEmpty('/proc/loadavg').trim().split(' ')[4]);
  const forks = Number(/^processes (\d+)$/m.exec(readOrEmpty('/proc/stat'))?.[1]);
  return Number.isSafeInteger(lastPid) && Number.isSafeInteger(forks) ? { lastPid, forks } : null;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
