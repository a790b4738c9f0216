// The process table where there is no /proc (macOS): one call of `ps` per look.
import { execFileSync } from 'node:child_process';
import type { ProcessRow } from './process-table.ts';

export function readPs(which: string[]): ProcessRow[] {
  const text = ps([...which, '-o', 'pid=,ppid=,pgid=,sess=,stat=,lstart=,comm=']);
  const rows: ProcessRow[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+\S+\s+\d+)\s+(.*)$/.exec(line);
    if (!match) continue;
    const [, pid, parent, group, , state, start, name] = match;
    rows.push({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      // macOS shows no usable session id; the group stands in for it.
      session: Number(group),
      state: state ?? '',
      start: start ?? '',
      cpu: 0,
      waited: 0,
      name: name ?? '',
    });
  }
  return rows;
}

function ps(args: string[]): string {
  try {
    return execFileSync('ps', args, {
      encoding: 'utf8',
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}

/** What names this boot on macOS. */
export function readBootTime(): string {
  return execFileSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' }).trim();
}
