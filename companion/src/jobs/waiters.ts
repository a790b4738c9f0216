// waiters/: who waits for a job - one file for each, with identity, what wakes it and how long it stays - and which of them would really
// be woken. A file proves nothing: a waiter counts while its process lives, is not stopped, is such a call by its own command line and has
// not come to its end. Best effort: a wait that cannot register waits all the same.
import path from 'node:path';
import type { Identity } from '../core/job.ts';
import { backstopMs, waiterFiles } from '../core/limits.ts';
import { instantOf } from '../core/recorded-time.ts';
import type { Wanted } from '../core/wakes.ts';
import { isoNow, isoOf, monotonicMs, nowMs } from '../platform/clock.ts';
import { readJson, removeFile, writeJson } from '../platform/files.ts';
import { factsOf, listNames } from '../platform/folders.ts';
import { isIdentity, isStopped, isTakenOver, livenessOf, ownIdentity, parentIdentity } from '../platform/identity.ts';
import { jobPaths } from '../store/layout.ts';
import { isWaitingCall, type WaiterKind } from './waiter-call.ts';

export type { WaiterKind };

export interface WaitTerms {
  kind: WaiterKind;
  mode: 'any' | 'all';
  /** What wakes it beside the end. */
  until: readonly Wanted[];
  timeoutMs: number;
}

/** Why a waiter is no delivery. `unseen`: it is in another pid namespace. `stranger`: the process that it names is no wait. */
export type WaiterFault = 'dead' | 'stopped' | 'unseen' | 'stranger' | 'over';

export interface Waiter extends WaitTerms {
  identity: Identity;
  ids: readonly string[];
  since: string;
  /** How long it will still stay, in ms; null: until the end of what it waits for (or so long that it is no backstop). */
  leftMs: number | null;
  endsAt: string | null;
  /** Null: it would be woken. */
  fault: WaiterFault | null;
  /** Who started it is gone: it is woken, and perhaps nobody hears it. */
  isOrphan: boolean;
}

/** Register for the time that `fn` runs. */
export async function withRegistration<T>(
  root: string,
  ids: readonly string[],
  terms: WaitTerms,
  fn: () => Promise<T>,
): Promise<T> {
  const note = noteOf(ids, terms);
  const { pid, start_token } = note.waiter;
  const files: string[] = [];
  for (const id of ids) {
    const folder = jobPaths(root, id).waiters;
    const file = path.join(folder, `${pid}-${start_token.replace(/\W/g, '')}.json`);
    try {
      // Nothing is written through a link.
      if (factsOf(folder)?.kind !== 'folder') continue;
      removeDead(folder);
      writeJson(file, note, { sync: false });
      files.push(file);
    } catch {
      // The folder is not ours to write from here: we wait all the same.
    }
  }
  try {
    return await fn();
  } finally {
    for (const file of files) {
      try {
        removeFile(file);
      } catch {
        // As above.
      }
    }
  }
}

function noteOf(ids: readonly string[], { kind, mode, until, timeoutMs }: WaitTerms) {
  const hasEnd = timeoutMs <= backstopMs;
  return {
    waiter: ownIdentity(),
    parent: parentIdentity() ?? null,
    kind,
    ids,
    mode,
    until,
    since: isoNow(),
    timeout_ms: timeoutMs,
    ends_at: hasEnd ? isoOf(nowMs() + timeoutMs) : null,
    // The clock that the patience itself goes by: it stands still while the machine sleeps.
    ends_mono_ms: hasEnd ? monotonicMs() + timeoutMs : null,
  };
}

/** What killed waiters left. */
function removeDead(folder: string): void {
  for (const name of namesIn(folder)) {
    const read = readJson(path.join(folder, name));
    if (read.kind !== 'ok' || !isIdentity(read.value.waiter) || livenessOf(read.value.waiter) !== 'dead') continue;
    removeFile(path.join(folder, name));
  }
}

/** Everybody who says that it waits for this job; without a `fault`: who would be woken. Throws where nobody may look. */
export function readWaiters(root: string, id: string): Waiter[] {
  const folder = jobPaths(root, id).waiters;
  // A folder of somebody else's in its place says nothing of this job.
  if (factsOf(folder)?.kind !== 'folder') return [];
  return namesIn(folder).flatMap((name) => {
    const read = readJson(path.join(folder, name));
    return read.kind === 'ok' ? (waiterOf(read.value, id) ?? []) : [];
  });
}

function waiterOf(value: Record<string, unknown>, id: string): Waiter | undefined {
  const { waiter, parent, kind, ids, mode, until, since, timeout_ms, ends_at, ends_mono_ms } = value;
  if (!isIdentity(waiter) || !isTexts(ids) || !ids.includes(id) || instantOf(since) === null) return undefined;
  const timeoutMs = typeof timeout_ms === 'number' ? timeout_ms : Number.MAX_SAFE_INTEGER;
  const endsAt = instantOf(ends_at) ?? (timeoutMs <= backstopMs ? (instantOf(since) ?? 0) + timeoutMs : null);
  const leftMs =
    typeof ends_mono_ms === 'number' ? ends_mono_ms - monotonicMs() : endsAt === null ? null : endsAt - nowMs();
  const terms: WaitTerms = {
    kind: kind === 'foreground' ? 'foreground' : 'wait',
    mode: mode === 'any' ? 'any' : 'all',
    until: (isTexts(until) ? until : []) as Wanted[],
    timeoutMs,
  };
  return {
    ...terms,
    identity: waiter,
    ids,
    since: since as string,
    leftMs: leftMs === null ? null : Math.max(0, leftMs),
    endsAt: endsAt === null ? null : isoOf(endsAt),
    fault: faultOf(waiter, terms.kind, leftMs),
    isOrphan: isAlone(waiter, parent),
  };
}

function isAlone(waiter: Identity, parent: unknown): boolean {
  if (isIdentity(parent) && livenessOf(parent) === 'dead') return true;
  return livenessOf(waiter) === 'alive' && isTakenOver(waiter);
}

function faultOf(waiter: Identity, kind: WaiterKind, leftMs: number | null): WaiterFault | null {
  // Read before its identity is compared: then it was that process's.
  const isCall = isWaitingCall(waiter.pid, kind);
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

/** Registrations; what else lies there (what was delivered) is none. The newest names are as good as any when somebody floods the folder. */
function namesIn(folder: string): string[] {
  return listNames(folder)
    .filter((name) => /^\d+-\w+\.json$/.test(name))
    .slice(0, waiterFiles);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
