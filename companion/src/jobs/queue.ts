// Who is before a job in its queue (`--max-live`), and who is at work. A pool are the jobs of one owner in one state folder, watches apart
// from all others (they only look); a timer belongs to none. A job may begin when fewer of its pool are at work than it asked for, and
// no earlier one of its pool waits. This file looks; worker/turn.ts waits and takes the turn.
//
// An earlier job is waited for as long as somebody gives signs of life for it. One that gives none for longer than a lease lasts - its
// worker stopped, unseen from here and silent, or not to be replaced - is passed over until it comes back. Records that others wrote do not count.
import { FaultError } from '../core/errors.ts';
import { compareIds } from '../core/ids.ts';
import type { Spec } from '../core/job.ts';
import { leaseMs, leaseStaleMs } from '../core/limits.ts';
import { monotonicMs, nowMs } from '../platform/clock.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { livenessOf } from '../platform/identity.ts';
import { listActive } from '../store/catalog.ts';
import { type JobPaths, jobPaths } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { readLaunch, readSpec, readWorker } from '../store/records.ts';
import { hasQueue, readTurn } from '../store/turn.ts';
import { isSettleable } from './reconcile.ts';
import { type Condition, conditionOf, inspect, isEnded } from './view.ts';

export interface Standing {
  /** Earlier ones of its pool that wait, oldest first. */
  ahead: Waiting[];
  /** Of its pool, let go or never queued. */
  atWork: AtWork[];
  /** 1 is the next. */
  place: number;
  mayGo: boolean;
}

export interface Waiting {
  id: string;
  isAlive: boolean;
}

export interface AtWork {
  id: string;
  /** `supervised` without a further look when its worker lives. */
  condition: Condition;
}

/** What one process knows of the jobs around: specs never change, and a silence is measured here. */
export interface QueueMemory {
  pools: Map<string, { pool: string | null; isQueued: boolean }>;
  /** Since when, on the monotonic clock, nobody has given a sign of life for it. */
  silent: Map<string, number>;
  /** Over, and their end could not be published from here. */
  unsettled: Set<string>;
}

export function makeQueueMemory(): QueueMemory {
  return { pools: new Map(), silent: new Map(), unsettled: new Set() };
}

/** Null: it belongs to none. */
export function poolOf(spec: Spec): string | null {
  if (spec.kind === 'timer') return null;
  return JSON.stringify([spec.kind === 'watch' ? 'watch' : 'work', spec.owner]);
}

export async function lookAtQueue(root: string, spec: Spec, memory: QueueMemory): Promise<Standing> {
  const own = poolOf(spec);
  const key = readKey();
  const active = listActive(root);
  forgetGone(memory, active);
  const ahead: Waiting[] = [];
  const atWork: AtWork[] = [];
  for (const id of active) {
    if (id === spec.id) continue;
    const paths = jobPaths(root, id);
    const known = memory.pools.get(id) ?? (await readPool(paths, key));
    if (!known) continue;
    memory.pools.set(id, known);
    if (known.pool !== own) continue;
    const isAlive = hasLivingWorker(paths);
    if (known.isQueued && readTurn(paths, id) === undefined && !exists(paths.started)) {
      if (compareIds(id, spec.id) < 0 && !isSilent(memory, paths, id) && !isOver(root, id, isAlive))
        ahead.push({ id, isAlive });
      continue;
    }
    const condition = isAlive ? 'supervised' : look(root, id);
    if (condition !== undefined && takesPlace(condition, memory, paths, id)) atWork.push({ id, condition });
  }
  const mayGo = ahead.length === 0 && atWork.length < (spec.max_live ?? Number.POSITIVE_INFINITY);
  return { ahead, atWork, place: ahead.length + 1, mayGo };
}

/** Ended, gone, or settled already by whoever looks: undefined. */
function look(root: string, id: string): Condition | undefined {
  try {
    const view = inspect(root, id);
    return isEnded(view.state) ? undefined : conditionOf(view);
  } catch (error) {
    if (error instanceof FaultError && error.code === 'unknown_job') return undefined;
    throw error;
  }
}

/** Not when nothing of it lives, and nobody can change that from here. */
function takesPlace(condition: Condition, memory: QueueMemory, paths: JobPaths, id: string): boolean {
  if (condition === 'damaged') return false;
  if (condition === 'unclaimed') return !isSilent(memory, paths, id);
  return !isSettleable(condition) || !memory.unsettled.has(id);
}

function isOver(root: string, id: string, isAlive: boolean): boolean {
  if (isAlive) return false;
  const condition = look(root, id);
  return condition === undefined || condition === 'damaged' || isSettleable(condition);
}

/** Undefined while there is no spec yet; no pool of ours when its launcher did not write it. */
async function readPool(
  paths: JobPaths,
  key: string | undefined,
): Promise<{ pool: string | null; isQueued: boolean } | undefined> {
  const read = readSpec(paths);
  if (read.kind !== 'ok') return undefined;
  if (!(await isGenuine(read.value, key))) return { pool: null, isQueued: false };
  return { pool: poolOf(read.value), isQueued: hasQueue(read.value) };
}

function hasLivingWorker(paths: JobPaths): boolean {
  const [worker, launch] = [readWorker(paths), readLaunch(paths)];
  return [worker, launch].some((read) => read.kind === 'ok' && livenessOf(read.value.worker) === 'alive');
}

/** In two looks with time for a sign of life between them: after a machine slept, all signs are old for a moment. */
function isSilent(memory: QueueMemory, paths: JobPaths, id: string): boolean {
  const last = factsOf(paths.lease) ?? factsOf(paths.launch) ?? factsOf(paths.spec);
  if (last && nowMs() - last.modifiedMs <= leaseStaleMs) {
    memory.silent.delete(id);
    return false;
  }
  const since = memory.silent.get(id) ?? monotonicMs();
  memory.silent.set(id, since);
  return monotonicMs() - since > leaseMs;
}

function forgetGone(memory: QueueMemory, active: readonly string[]): void {
  if (memory.pools.size <= active.length) return;
  const there = new Set(active);
  for (const known of [memory.pools, memory.silent, memory.unsettled])
    for (const id of known.keys()) if (!there.has(id)) known.delete(id);
}
