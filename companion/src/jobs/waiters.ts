// waiters/: who waits for a job - one file for each, with identity, what wakes it and how long it stays - and which of them would really
// be woken. A file proves nothing: a waiter counts while its process lives, is not stopped, is such a call by its own command line and has
// not come to its end; and what it waits for is sealed (waiter-seal.ts), or stands in that command line.
import path from 'node:path';
import type { Identity } from '../core/job.ts';
import { backstopMs, waiterFiles } from '../core/limits.ts';
import { instantOf } from '../core/recorded-time.ts';
import type { Wanted } from '../core/wakes.ts';
import { isoOf, monotonicMs, nowMs } from '../platform/clock.ts';
import { readJson } from '../platform/files.ts';
import { factsOf, listNames, writeFault } from '../platform/folders.ts';
import { isIdentity, isStopped, isTakenOver, livenessOf } from '../platform/identity.ts';
import { jobPaths } from '../store/layout.ts';
import { type CallSeen, isWaitingCall, readCall, type WaiterKind } from './waiter-call.ts';
import { isSealed } from './waiter-seal.ts';

export type { WaiterKind };

export interface WaitTerms {
  kind: WaiterKind;
  mode: 'any' | 'all';
  /** What wakes it beside the end. */
  until: readonly Wanted[];
  timeoutMs: number;
}

/** Why a waiter is no delivery. `unseen`: it is in another pid namespace. `stranger`: the process that it names is no wait for this job.
 * `other_owner`: it wakes somebody else. */
export type WaiterFault = 'dead' | 'stopped' | 'unseen' | 'stranger' | 'over' | 'other_owner';

export interface Waiter extends WaitTerms {
  identity: Identity;
  ids: readonly string[];
  /** Whose wait it is; null: nobody said. */
  owner: string | null;
  since: string;
  /** How long it will still stay, in ms; null: until the end of what it waits for (or so long that it is no backstop). */
  leftMs: number | null;
  endsAt: string | null;
  /** Null: it would be woken. */
  fault: WaiterFault | null;
  /** Who started it is gone: it is woken, and perhaps nobody hears it. */
  isOrphan: boolean;
}

/** Everybody who says that it waits for this job; without a `fault`: who would be woken. Throws where nobody may look. */
export function readWaiters(root: string, id: string): Waiter[] {
  return lookAtWaiters(root, id).waiters;
}

export interface WaitersSeen {
  waiters: Waiter[];
  /** Files that were not read because there are too many. */
  cut: number;
  /** Why a wait could not register from here; null when it could. */
  closed: string | null;
}

export function lookAtWaiters(root: string, id: string): WaitersSeen {
  const folder = jobPaths(root, id).waiters;
  // A folder of somebody else's in its place says nothing of this job.
  const kind = factsOf(folder)?.kind;
  if (kind !== 'folder') return { waiters: [], cut: 0, closed: kind === undefined ? 'ENOENT' : 'ENOTDIR' };
  const { names, cut } = namesIn(folder);
  const waiters = names.flatMap((name) => {
    const read = readJson(path.join(folder, name));
    return read.kind === 'ok' ? (waiterOf(read.value, id) ?? []) : [];
  });
  return { waiters, cut, closed: writeFault(folder) ?? null };
}

function waiterOf(value: Record<string, unknown>, id: string): Waiter | undefined {
  const { waiter, parent, owner, ids, mode, until, since, timeout_ms, ends_at, ends_mono_ms } = value;
  if (!isIdentity(waiter) || !isTexts(ids) || !ids.includes(id) || instantOf(since) === null) return undefined;
  const timeoutMs = typeof timeout_ms === 'number' ? timeout_ms : Number.MAX_SAFE_INTEGER;
  const endsAt = instantOf(ends_at) ?? (timeoutMs <= backstopMs ? (instantOf(since) ?? 0) + timeoutMs : null);
  const kind = value.kind === 'foreground' ? 'foreground' : 'wait';
  // The command line is read before its identity is compared: then it was that process's.
  const isTrusted = isSealed(value);
  const call = isTrusted ? undefined : readCall(waiter.pid, kind, id);
  const isCall = isTrusted ? isWaitingCall(waiter.pid, kind) : call !== undefined;
  const written =
    typeof ends_mono_ms === 'number' ? ends_mono_ms - monotonicMs() : endsAt === null ? null : endsAt - nowMs();
  const leftMs = call ? leastOf(written, call) : written;
  const causes = isTexts(until) ? until : [];
  const terms: WaitTerms = {
    kind,
    mode: mode === 'any' ? 'any' : 'all',
    until: (call ? causes.filter((one) => call.until.includes(one)) : causes) as Wanted[],
    timeoutMs,
  };
  return {
    ...terms,
    identity: waiter,
    ids,
    owner: call ? call.owner : typeof owner === 'string' ? owner : null,
    since: since as string,
    leftMs: leftMs === null ? null : Math.max(0, leftMs),
    endsAt: endsAt === null ? null : isoOf(endsAt),
    fault: faultOf(waiter, isCall, leftMs),
    isOrphan: isAlone(waiter, parent),
  };
}

function isAlone(waiter: Identity, parent: unknown): boolean {
  if (isIdentity(parent) && livenessOf(parent) === 'dead') return true;
  return livenessOf(waiter) === 'alive' && isTakenOver(waiter);
}

/** Never longer than the call itself would stay. */
function leastOf(leftMs: number | null, { timeoutMs }: CallSeen): number | null {
  return leftMs === null || timeoutMs > backstopMs ? null : Math.min(leftMs, timeoutMs);
}

function faultOf(waiter: Identity, isCall: boolean, leftMs: number | null): WaiterFault | null {
  const liveness = livenessOf(waiter);
  if (liveness === 'unknown') return 'unseen';
  if (liveness === 'dead') return 'dead';
  if (!isCall) return 'stranger';
  if (isStopped(waiter)) return 'stopped';
  return leftMs !== null && leftMs <= 0 ? 'over' : null;
}

/** Is a living process waiting for this job? One that cannot be seen from here counts. */
export function isAwaited(root: string, id: string): boolean {
  const folder = jobPaths(root, id).waiters;
  return listNames(folder).some((name) => {
    const read = readJson(path.join(folder, name));
    return read.kind === 'ok' && isIdentity(read.value.waiter) && livenessOf(read.value.waiter) !== 'dead';
  });
}

/** Registrations; what else lies there (what was delivered) is none. When somebody floods the folder the newest of our own are read. */
export function namesIn(folder: string): { names: string[]; cut: number } {
  const names = listNames(folder).filter((name) => /^\d+-\w+\.json$/.test(name));
  if (names.length <= waiterFiles) return { names, cut: 0 };
  const own = names.flatMap((name) => {
    const facts = factsOf(path.join(folder, name));
    return facts?.kind === 'file' && facts.uid === process.getuid?.() ? [{ name, at: facts.modifiedMs }] : [];
  });
  own.sort((a, b) => b.at - a.at);
  const kept = own.slice(0, waiterFiles).map(({ name }) => name);
  return { names: kept, cut: names.length - kept.length };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
