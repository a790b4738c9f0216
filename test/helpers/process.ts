/**
 * Looks at processes of this machine from a test: a process is its pid plus its start time, which no later process with
 * the same pid shares. Signals are sent only after that identity was compared. Linux reads /proc; elsewhere the start
 * time comes from `ps`, and processes cannot be found by their environment or folder.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Identity {
  readonly pid: number;
  /** Clock ticks since boot (Linux) or the text of `ps -o lstart` (elsewhere). */
  readonly startTime: string;
}

/** The identity of a living process; undefined when it is gone or a zombie. */
export function readIdentity(pid: number): Identity | undefined {
  const found = process.platform === 'linux' ? readStat(pid) : readPs(pid);
  if (!found || found.state === 'Z' || found.state === 'X') return undefined;
  return { pid, startTime: found.startTime };
}

export function isAlive(identity: Identity): boolean {
  return readIdentity(identity.pid)?.startTime === identity.startTime;
}

/** False, and no signal sent, when that process is gone or its pid belongs to another one. */
export function killByIdentity(identity: Identity, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  if (identity.pid <= 1 || !isAlive(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** What `ps` would print, on one line and short enough for a failure message. */
export function describeProcess({ pid }: Identity): string {
  const commandLine = readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim();
  return `pid ${pid} (${commandLine ? commandLine.slice(0, 200) : 'command unknown'})`;
}

/** Living processes, this one left out, whose environment holds `NAME=value...` or whose folder lies in `folder`. */
export function listProcesses(search: { environment?: string; folder?: string }): Identity[] {
  if (process.platform !== 'linux') return [];
  const found: Identity[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    if (!hasEnvironment(pid, search.environment) && !isInFolder(pid, search.folder)) continue;
    const identity = readIdentity(pid);
    if (identity) found.push(identity);
  }
  return found;
}

function hasEnvironment(pid: number, start: string | undefined): boolean {
  return start !== undefined && `\0${readText(`/proc/${pid}/environ`) ?? ''}`.includes(`\0${start}`);
}

function isInFolder(pid: number, folder: string | undefined): boolean {
  if (folder === undefined) return false;
  try {
    // A removed folder reads as `/path (deleted)`.
    return `${readlinkSync(`/proc/${pid}/cwd`)}/`.replace(/ \(deleted\)\/$/, '/').startsWith(`${folder}/`);
  } catch {
    return false;
  }
}

function readStat(pid: number): { state: string; startTime: string } | undefined {
  // The second field is the name in brackets and may itself hold spaces and brackets.
  const fields = readText(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ');
  const [state, startTime] = [fields?.[0], fields?.[19]];
  return state && startTime ? { state, startTime } : undefined;
}

function readPs(pid: number): { state: string; startTime: string } | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line ? { state: line[0] ?? '', startTime: line.replace(/^\S+\s+/, '') } : undefined;
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
