// Who is before a job in its queue (`--max-live`), and who is at work. A pool are the jobs of one owner in one state folder, watches apart
// from all others (they only look); a timer belongs to none. A job may begin when fewer of its pool are at work than it asked for, and
// no earlier one of its pool waits. This file looks; worker/turn.ts waits and takes the turn.
//
// An earlier job is waited for as long as somebody gives signs of life for it. One that gives none for longer than a lease lasts - its
// worker stopped, unseen from here and silent, or not to be replaced - is passed over until it comes back. Records that others wrote do not count.
import { FaultError } from '../core/errors.ts';
import { compareIds } from '../core/ids.ts';
import type { Identity, Spec } from '../core/job.ts';
import { leaseMs, leaseStaleMs, queueNamed, unseenGraceMs } from '../core/limits.ts';
import { monotonicMs, nowMs } from '../platform/clock.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { isStopped, type Liveness, livenessOf } from '../platform/identity.ts';
import { listActive } from '../store/catalog.ts';
import { type JobPaths, jobPaths } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { readLaunch, readSpec, readWorker } from '../store/records.ts';
import { hasQueue, readTurn } from '../store/turn.ts';
import { boundOf } from './bound.ts';
import { isSettleable } from './reconcile.ts';
import { type Condition, conditionOf, inspect, isEnded, type View } from './view.ts';

export interface Standing {
  /** Earlier ones of its pool that wait, oldest first. */
  ahead: string[];
  /** Of its pool, let go or never queued. */
  atWork: AtWork[];
  /** 1 is the next. */
  place: number;
  mayGo: boolean;
}

export interface AtWork {
  id: string;
  /** `supervised` without a look, unless the asking job is the first of the queue. */
  condition: Condition;
}

/** What one process knows of the jobs around: specs never change, and a silence is measured here. */
export interface QueueMemory {
  members: Map<string, { pool: string | null; isLetGo: boolean }>;
  /** Since when, on the monotonic clock, nobody has given a sign of life for it. */
  silent: Map<string, number>;
  /** Over, and their end could not be published from here. */
  unsettled: Set<string>;
  /** Since when, on the monotonic clock, its worker has been seen stopped. */
  stopped: Map<string, number>;
}

export function makeQueueMemory(): QueueMemory {
  return { members: new Map(), silent: new Map(), unsettled: new Set(), stopped: new Map() };
}

/** Null: it belongs to none. */
export function poolOf(spec: Spec): string | null {
  if (spec.kind === 'timer') return null;
  return JSON.stringify([spec.kind === 'watch' ? 'watch' : 'work', spec.owner]);
}

export async function lookAtQueue(root: string, spec: Spec, memory: QueueMemory): Promise<Standing> {
  const own = poolOf(spec);
  const active = listActive(root);
  forgetGone(memory, active);
  const ahead: string[] = [];
  const begun: string[] = [];
  for (const id of active) {
    if (id === spec.id) continue;
    const paths = jobPaths(root, id);
    if (!(await isInPool(memory, paths, id, own))) continue;
    if (isLetGo(memory, paths, id)) begun.push(id);
    else if (compareIds(id, spec.id) < 0 && !isSilent(memory, paths, id)) ahead.push(id);
  }
  // Whoever is not the first need not know more of those at work: a look at each of them, by each of many, would cost.
  const isFirst = ahead.length === 0;
  const atWork = begun.flatMap((id) => (isFirst ? lookAtWork(root, id, memory) : [{ id, condition: unlooked }]));
  const mayGo = isFirst && atWork.length < (spec.max_live ?? Number.POSITIVE_INFINITY);
  return { ahead, atWork, place: ahead.length + 1, mayGo };
}

const unlooked: Condition = 'supervised';

function lookAtWork(root: string, id: string, memory: QueueMemory): AtWork[] {
  const paths = jobPaths(root, id);
  const condition = workerOf(paths) === 'alive' ? unlooked : look(root, id);
  if (condition === unlooked && isLeft(root, paths, id, memory)) return [];
  return condition !== undefined && takesPlace(condition, memory, paths, id) ? [{ id, condition }] : [];
}

/** Its worker exists and does nothing for it - stopped, or silent - and its command has ended, or cannot run any more. */
function isLeft(root: string, paths: JobPaths, id: string, memory: QueueMemory): boolean {
  const silent = isSilent(memory, paths, id);
  if (!silent && !stoppedWorkerOf(paths)) return false;
  const view = liveView(root, id);
  if (!view || view.exit) return true;
  const { spec, turn } = view;
  return silent && spec !== null && monotonicMs() > boundOf(spec, turn) + spec.kill_grace_ms + unseenGraceMs;
}

/** The worker of a job, when it is stopped. */
export function stoppedWorkerOf(paths: JobPaths): Identity | undefined {
  return [readWorker(paths), readLaunch(paths)]
    .map((read) => (read.kind === 'ok' ? read.value.worker : undefined))
    .find((worker) => worker !== undefined && isStopped(worker));
}

/** Whom it waits for and whose worker has been stopped for a while: nobody but a reader can help. */
export function hindranceOf(root: string, { ahead, atWork }: Standing, memory: QueueMemory): string | undefined {
  const waitedFor = [...ahead.slice(-queueNamed), ...atWork.slice(0, queueNamed).map(({ id }) => id)];
  let told: string | undefined;
  for (const id of waitedFor) {
    const stopped = stoppedWorkerOf(jobPaths(root, id));
    if (!stopped) memory.stopped.delete(id);
    else {
      const since = memory.stopped.get(id) ?? monotonicMs();
      memory.stopped.set(id, since);
      if (monotonicMs() - since >= leaseMs)
        told ??= `behind ${id}, whose worker is stopped; it goes on after: kill -CONT ${stopped.pid}`;
    }
  }
  return told;
}

/** Its turn is on disk, or it needs none; once so, always so. */
function isLetGo(memory: QueueMemory, paths: JobPaths, id: string): boolean {
  const known = memory.members.get(id);
  if (!known || known.isLetGo) return true;
  known.isLetGo = (exists(paths.turn) && readTurn(paths, id) !== undefined) || exists(paths.started);
  return known.isLetGo;
}

/** Ended, or gone: undefined. */
function look(root: string, id: string): Condition | undefined {
  const view = liveView(root, id);
  return view && conditionOf(view);
}

function liveView(root: string, id: string): View | undefined {
  try {
    const view = inspect(root, id);
    return isEnded(view.state) ? undefined : view;
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

/** Records that others wrote belong to none. */
async function isInPool(memory: QueueMemory, paths: JobPaths, id: string, pool: string | null): Promise<boolean> {
  const known = memory.members.get(id);
  if (known) return known.pool === pool;
  const read = readSpec(paths);
  if (read.kind !== 'ok') return false;
  const key = readKey();
  // Without the key nobody knows who is at work: better no turn than one too many.
  if (key === undefined) throw new FaultError('state_unusable', "cannot look at the queue: this user's key is missing");
  const isOurs = await isGenuine(read.value, key);
  const its = isOurs ? poolOf(read.value) : null;
  memory.members.set(id, { pool: its, isLetGo: !hasQueue(read.value) });
  return its === pool;
}

/** `unknown`: it may live where its processes cannot be seen from here; its signs of life decide. */
export function workerOf(paths: JobPaths): Liveness {
  const seen = [readWorker(paths), readLaunch(paths)].map((read) =>
    read.kind === 'ok' ? livenessOf(read.value.worker) : 'dead',
  );
  return (['alive', 'unknown'] as const).find((one) => seen.includes(one)) ?? 'dead';
}

/** In two looks with time for a sign of life between them: after a machine slept, all signs are old for a moment. */
function isSilent(memory: QueueMemory, paths: JobPaths, id: string): boolean {
  const last = factsOf(paths.lease) ?? factsOf(paths.launch) ?? factsOf(paths.spec);
  // One of the future says nothing: the clock was set back, or somebody touched it; a living worker renews it soon.
  const ageMs = last ? nowMs() - last.modifiedMs : Number.POSITIVE_INFINITY;
  if (ageMs >= -leaseMs && ageMs <= leaseStaleMs) {
    memory.silent.delete(id);
    return false;
  }
  const since = memory.silent.get(id) ?? monotonicMs();
  memory.silent.set(id, since);
  return monotonicMs() - since > 2 * leaseMs;
}

function forgetGone(memory: QueueMemory, active: readonly string[]): void {
  const there = new Set(active);
  for (const known of [memory.members, memory.silent, memory.unsettled, memory.stopped])
    for (const id of known.keys()) if (!there.has(id)) known.delete(id);
}
