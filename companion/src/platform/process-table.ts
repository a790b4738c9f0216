// One look at the system's processes. Linux reads /proc; macOS asks `ps` (one call per look, because there is no /proc).
import { readFileSync, readlinkSync } from 'node:fs';
import { type PidBaseline, pidsSince } from './pid-baseline.ts';

export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** `Z` and `X` are dead. */
  state: string;
  /** Start time as the kernel tells it: clock ticks since boot on Linux, text on macOS. */
  start: string;
  /** CPU ticks used so far (Linux; 0 elsewhere). */
  cpu: number;
  /** The same of its children that ended and were waited for, with all below them. */
  waited: number;
  name: string;
}

const isLinux = process.platform === 'linux';
/** Can CPU time be told here? */
export const hasCpu = isLinux;
/** A tick of CPU time, as Linux tells it to everybody. */
export const tickMs = 10;

/** How rows are read where there is no /proc: main.ts installs it (process-table-ps.ts), so that Linux does not load it. */
type ReadPs = (which: string[]) => ProcessRow[];
let readPs: ReadPs = () => [];

export function installPs(read: ReadPs): void {
  readPs = read;
}

/** The row of one process, or undefined when there is none. */
export function readProcess(pid: number): ProcessRow | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  return isLinux ? readProc(pid) : readPs(['-p', String(pid)])[0];
}

/** All processes, or those that are newer than a baseline. */
export function readProcesses(baseline: PidBaseline | null = null): ProcessRow[] {
  if (!isLinux) return readPs(['-ax']);
  return pidsSince(baseline).flatMap((pid) => readProc(pid) ?? []);
}

/** The value of a variable in the environment that a process was started with; undefined when unset or not readable. */
export function readProcessVariable(pid: number, name: string): string | undefined {
  // Only Linux shows the environment cheaply; elsewhere group and parents must do.
  const text = isLinux ? readWhole(`/proc/${pid}/environ`) : undefined;
  if (text === undefined) return undefined;
  const at = text.startsWith(`${name}=`) ? 0 : text.indexOf(`\0${name}=`) + 1;
  if (at === 0 && !text.startsWith(`${name}=`)) return undefined;
  const from = at + name.length + 1;
  const end = text.indexOf('\0', from);
  return text.slice(from, end < 0 ? undefined : end);
}

/** The words that a process was started with; undefined when nothing is shown of it. */
export function readCommandLine(pid: number): string[] | undefined {
  if (!isLinux || !Number.isSafeInteger(pid) || pid <= 1) return undefined;
  const bytes = readBytes(`/proc/${pid}/cmdline`);
  return bytes && bytes.length > 0 ? bytes.toString('utf8').replace(/\0$/, '').split('\0') : undefined;
}

/** The folder that a process works in; undefined when nothing is shown of it. */
export function readFolder(pid: number): string | undefined {
  try {
    return isLinux ? readlinkSync(`/proc/${pid}/cwd`) : undefined;
  } catch {
    return undefined;
  }
}

/** A line of /proc/PID/stat; the name may hold spaces and parentheses. */
export function parseStat(text: string): ProcessRow | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const rest = text.slice(close + 2).split(' ');
  const pid = Number.parseInt(text.slice(0, open), 10);
  if (open < 0 || close < open || rest.length < 20 || !Number.isSafeInteger(pid)) return undefined;
  return {
    pid,
    state: rest[0] ?? '',
    parent: Number(rest[1]),
    group: Number(rest[2]),
    session: Number(rest[3]),
    cpu: Number(rest[11]) + Number(rest[12]),
    waited: Number(rest[13]) + Number(rest[14]),
    start: rest[19] ?? '',
    name: text.slice(open + 1, close),
  };
}

function readProc(pid: number): ProcessRow | undefined {
  const text = readWhole(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
}

function readWhole(file: string): string | undefined {
  return readBytes(file)?.toString('latin1');
}

function readBytes(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
