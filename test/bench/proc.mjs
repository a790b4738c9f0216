/** What Linux tells of a process in /proc. Elsewhere `isProc` is false, and rows that need it are skipped and say so. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export const isProc = existsSync('/proc/self/stat');

function read(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}

/** Gone or a zombie is not alive. */
export function isAlive(pid) {
  if (isProc) {
    const stat = read(`/proc/${pid}/stat`);
    return stat !== undefined && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** CPU of all threads in ms: the scheduler's nanoseconds where the kernel counts them, else clock ticks of 10 ms. */
export function cpuMs(pid) {
  let ns = 0;
  for (const task of tasks(pid)) {
    const text = read(`/proc/${pid}/task/${task}/schedstat`);
    if (text === undefined) return tickMs(pid);
    ns += Number(text.split(' ')[0]);
  }
  return ns / 1e6;
}

function tickMs(pid) {
  const stat = read(`/proc/${pid}/stat`) ?? '';
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** How often the main thread, and how often any thread, went to sleep of its own accord: once for each wakeup. */
export function wakeups(pid) {
  const count = (task) =>
    Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(read(`/proc/${pid}/task/${task}/status`) ?? '')?.[1]);
  const all = tasks(pid).map((task) => count(task) || 0);
  return { main: count(pid) || 0, all: all.reduce((sum, one) => sum + one, 0) };
}

/** Memory in MB: `VmRSS` (now) or `VmHWM` (most ever). Undefined when the process is gone. */
export function memoryMb(pid, field) {
  const kb = new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return kb === undefined ? undefined : Number(kb) / 1024;
}

/** The share of memory that is this process's own, in MB. */
export function pssMb(pid) {
  const kb = /^Pss:\s*(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')?.[1];
  return kb === undefined ? undefined : Number(kb) / 1024;
}

/** Pids of living processes with this word in their environment, but for ourselves. */
export function listMarked(word) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && isAlive(Number(name)))
    .filter((name) => (read(`/proc/${name}/environ`) ?? '').split('\0').includes(word))
    .map(Number);
}

/** Type of the file system that holds a path, by the longest mount point above it. */
export function fileSystemOf(path) {
  const mounts = (read('/proc/mounts') ?? '').split('\n').map((line) => line.split(' '));
  const above = mounts.filter(([, at]) => at && (path === at || path.startsWith(at === '/' ? '/' : `${at}/`)));
  return above.sort((a, b) => a[1].length - b[1].length).at(-1)?.[2];
}

function tasks(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
