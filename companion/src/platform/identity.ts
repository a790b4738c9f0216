// Who a process is: pid, start time, boot and pid namespace. A pid alone proves nothing: it may be a stranger's by now, and
// a zombie still answers `kill(pid, 0)`. Liveness has three answers; "cannot see from here" is never "dead".
import { readFileSync, readlinkSync } from 'node:fs';
import { errnoOf } from '../core/errors.ts';
import type { Identity } from '../core/job.ts';
import { readProcess } from './process-table.ts';

export type Liveness = 'alive' | 'dead' | 'unknown';

let boot: string | undefined;
let namespace: string | undefined;

/** Where there is no /proc, main.ts brings the name of this boot. */
export function installBootId(id: string): void {
  boot = id;
}

/** Names this boot of the machine. */
export function bootId(): string {
  boot ??= readBootId();
  return boot;
}

export function pidNamespace(): string {
  namespace ??= process.platform === 'linux' ? link('/proc/self/ns/pid') : process.platform;
  return namespace;
}

/** The identity of a living process, or undefined when there is none of that pid. */
export function identityOf(pid: number): Identity | undefined {
  const row = readProcess(pid);
  if (!row) return undefined;
  return { pid, start_token: row.start, boot_id: bootId(), pid_ns: pidNamespace() };
}

export function ownIdentity(): Identity {
  return identityOf(process.pid) ?? { pid: process.pid, start_token: '', boot_id: bootId(), pid_ns: pidNamespace() };
}

/** Who started this process (or took it over since); undefined where that is nobody of this namespace, or its first process. */
export function parentIdentity(): Identity | undefined {
  return identityOf(process.ppid);
}

/** Did whoever started it end, perhaps before it could see who that was? A child is in the session of its parent, or leads one of its own. */
export function isTakenOver({ pid }: Identity): boolean {
  const row = readProcess(pid);
  if (!row || row.session === pid) return false;
  // The first process has a session of that number, or one from outside its namespace, which is told as 0.
  if (row.parent === 1) return row.session > 1;
  const parent = readProcess(row.parent);
  return parent !== undefined && parent.session !== row.session;
}

export function livenessOf(identity: Identity): Liveness {
  if (!isIdentity(identity)) return 'dead';
  if (identity.boot_id !== bootId()) return 'dead';
  if (identity.pid_ns !== pidNamespace()) return 'unknown';
  const row = readProcess(identity.pid);
  if (row) return row.start === identity.start_token && !isDeadState(row.state) ? 'alive' : 'dead';
  return isHidden(identity.pid) ? 'alive' : 'dead';
}

export function isDeadState(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X');
}

/** Is it this very process, stopped by a signal? Not told of one that a debugger holds. */
export function isStopped(identity: Identity): boolean {
  if (!isIdentity(identity) || identity.boot_id !== bootId() || identity.pid_ns !== pidNamespace()) return false;
  const row = readProcess(identity.pid);
  return row !== undefined && row.start === identity.start_token && row.state.startsWith('T');
}

export function sameIdentity(a: Identity, b: Identity): boolean {
  return a.pid === b.pid && a.start_token === b.start_token && a.boot_id === b.boot_id && a.pid_ns === b.pid_ns;
}

/** Does a value from disk have the form of an identity? Pids of 1 and below are nobody's. */
export function isIdentity(value: unknown): value is Identity {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, start_token, boot_id, pid_ns } = value as Record<string, unknown>;
  return (
    Number.isSafeInteger(pid) &&
    (pid as number) > 1 &&
    typeof start_token === 'string' &&
    start_token !== '' &&
    typeof boot_id === 'string' &&
    typeof pid_ns === 'string'
  );
}

/** Send a signal, after comparing who the pid is now. False when it is not (or no longer) that process. */
export function signalIdentity(identity: Identity, signal: NodeJS.Signals): boolean {
  if (livenessOf(identity) !== 'alive') return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** /proc may hide other users' processes: then only the answer to signal 0 tells that one lives. */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

function link(target: string): string {
  try {
    return readlinkSync(target);
  } catch {
    return 'none';
  }
}
