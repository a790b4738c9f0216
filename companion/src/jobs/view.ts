// One job as readers see it: the record and what is alive. `conditionOf` is the one answer to "who looks after this job now?";
// wait, observe, status, result, cancel, clean and doctor all ask it.

import { FaultError } from '../core/errors.ts';
import type { ExitRecord, Identity, JobState, LaunchRecord, Spec, TimerPart, Turn, WorkerRecord } from '../core/job.ts';
import { isWorkerOnly, outcomes } from '../core/job.ts';
import { leaseStaleMs, startLimitMs, unseenGraceMs } from '../core/limits.ts';
import { defaultEngine, findEngine } from '../engines/registry.ts';
import { nowMs } from '../platform/clock.ts';
import type { Read } from '../platform/files.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { bootId, type Liveness } from '../platform/identity.ts';
import { type JobPaths, jobPaths } from '../store/layout.ts';
import type { CancelRequest } from '../store/records.ts';
import {
  readCancel,
  readExit,
  readLaunch,
  readMark,
  readReason,
  readSpec,
  readState,
  readWorker,
} from '../store/records.ts';
import { hasQueue, readTurn } from '../store/turn.ts';
import { isPastBound, wallBoundOf } from './bound.ts';
import { damagedState, earlyState } from './early-state.ts';

export type Seen = Liveness | 'none';

export interface View {
  id: string;
  root: string;
  paths: JobPaths;
  spec: Spec | null;
  /** Why the record cannot be used; null for a sound one. */
  damage: string | null;
  state: JobState;
  launch: LaunchRecord | null;
  worker: WorkerRecord | null;
  shim: Identity | null;
  child: Identity | null;
  seen: { worker: Seen; shim: Seen };
  isOtherBoot: boolean;
  isClaimed: boolean;
  /** Of a job that was queued: when it was let go. */
  turn: Turn | null;
  exit: ExitRecord | undefined;
  reason: string | undefined;
  cancel: CancelRequest | undefined;
  leaseAgeMs: number | null;
}

export type Condition =
  | 'ended'
  | 'damaged'
  /** A living worker looks after it. */
  | 'supervised'
  /** Its processes cannot be seen from here (another pid namespace). */
  | 'unseen'
  /** A launcher is still at it. */
  | 'starting'
  /** A timer before its instant: nobody needs to look after it. */
  | 'armed'
  /** The worker is gone, the shim lives: a replacement can take over. */
  | 'orphaned'
  /** The worker is gone before the child was started: a replacement may start it. */
  | 'unclaimed'
  /** The end is on disk, nobody published it. */
  | 'over'
  /** Everything is gone and nobody wrote how it ended. */
  | 'lost'
  | 'host_restarted'
  | 'never_started';

export function isEnded(state: JobState): boolean {
  return (outcomes as readonly string[]).includes(state.state);
}

export function inspect(root: string, id: string): View {
  const paths = jobPaths(root, id);
  const [state, spec] = [readState(paths), readSpec(paths)];
  if (spec.kind === 'missing' && !exists(paths.folder)) throw goneError(id, paths);
  const isOver = state.kind === 'ok' && isEnded(state.value);
  const who = isOver ? nobody : whoIsThere(paths, spec);
  const damage = damageOf(spec, state, who.seen.worker);
  return {
    id,
    root,
    paths,
    spec: presentIn(spec),
    damage,
    state: damage === null ? (presentIn(state) ?? earlyState(id, presentIn(spec))) : damagedState(id, damage),
    ...who,
  };
}

/** `clean`, or somebody's rm, took it between the look for the id and this one. */
export function goneError(id: string, paths: JobPaths): FaultError {
  return new FaultError('unknown_job', `cannot find job ${id} any more: its folder ${paths.folder} is gone`);
}

type Who = Omit<View, 'id' | 'root' | 'paths' | 'spec' | 'damage' | 'state'>;

/** Of an ended job nobody needs to know who was who. */
const nobody: Who = {
  launch: null,
  worker: null,
  shim: null,
  child: null,
  seen: { worker: 'none', shim: 'none' },
  isOtherBoot: false,
  isClaimed: false,
  turn: null,
  exit: undefined,
  reason: undefined,
  cancel: undefined,
  leaseAgeMs: null,
};

function whoIsThere(paths: JobPaths, spec: Read<Spec>): Who {
  const launch = presentIn(readLaunch(paths));
  const worker = presentIn(readWorker(paths));
  const boot = worker?.worker ?? launch?.worker ?? null;
  const shim = worker?.shim ?? (boot ? readMark(paths.shimMark, boot) : undefined) ?? null;
  const child = worker?.child ?? (boot ? readMark(paths.childMark, boot) : undefined) ?? null;
  const engine = findEngine(spec.kind === 'ok' ? spec.value.engine : 'local') ?? defaultEngine;
  // A worker that never got as far as its first sign of life is as old as its launch.
  const lease = factsOf(paths.lease) ?? factsOf(paths.launch);
  return {
    launch,
    worker,
    shim,
    child,
    seen: { worker: bestOf([launch?.worker, worker?.worker], engine.alive), shim: bestOf([shim], engine.alive) },
    // Without a word of any worker the launcher's boot counts: whatever it started ended with that boot.
    isOtherBoot:
      (boot ?? (spec.kind === 'ok' ? spec.value.launcher : null))?.boot_id !== bootId() &&
      (boot !== null || spec.kind === 'ok'),
    isClaimed: exists(paths.started),
    turn: spec.kind === 'ok' && hasQueue(spec.value) ? (readTurn(paths, spec.value.id) ?? null) : null,
    exit: readExit(paths),
    reason: readReason(paths),
    cancel: readCancel(paths),
    leaseAgeMs: lease ? Math.max(0, nowMs() - lease.modifiedMs) : null,
  };
}

export function conditionOf(view: View): Condition {
  if (view.damage !== null) return 'damaged';
  if (isEnded(view.state)) return 'ended';
  const { worker, shim } = view.seen;
  if (view.spec?.timer) return conditionOfTimer(view, view.spec.timer);
  if (worker === 'alive') return 'supervised';
  if (!view.spec) return 'damaged';
  if (worker === 'unknown') return isLongOver(view) ? 'lost' : 'unseen';
  if (isQueued(view)) return view.launch || view.worker ? 'unclaimed' : startingOf(view, view.spec);
  if (isWorkerOnly(view.spec)) return conditionOfWatch(view, view.spec);
  // What the shim wrote before the restart is known; only without it the restart is the end.
  if (view.isOtherBoot) return view.exit ? 'over' : 'host_restarted';
  if (view.isClaimed) {
    if (view.exit) return 'over';
    if (shim === 'alive') return 'orphaned';
    if (shim === 'unknown') return 'unseen';
    // Between the claim and the shim's own mark lie microseconds; a shim that never wrote it is lost.
    return shim === 'none' && ageOf(view.paths.started) < 1000 ? 'orphaned' : 'lost';
  }
  if (view.launch || view.worker) return 'unclaimed';
  return startingOf(view, view.spec);
}

/** It waits for its turn: whatever became of its worker, and of the machine, another one goes on waiting. */
export function isQueued({ spec, turn, isClaimed, state }: View): boolean {
  return spec !== null && hasQueue(spec) && turn === null && !isClaimed && !isEnded(state);
}

/** An instant that has come counts also while the timer's worker is stopped; a moment is left to a worker that lives. */
function conditionOfTimer(view: View, timer: TimerPart): Condition {
  const isAlive = view.seen.worker === 'alive';
  if (nowMs() >= Date.parse(timer.due_at) + (isAlive ? timerPatienceMs : 0)) return 'over';
  if (view.cancel && !isAlive) return 'over';
  return isAlive ? 'supervised' : 'armed';
}

/** Past its instant a living worker of a timer gets this long. */
export const timerPatienceMs = 2000;

/** A watch, a gate, a loop. Whatever became of its worker, and of the machine: another one goes on from the cursor, until the bound. */
function conditionOfWatch(view: View, spec: Spec): Condition {
  if (isPastBound(spec, view.turn)) return 'lost';
  if (view.launch || view.worker) return 'unclaimed';
  return startingOf(view, spec);
}

function startingOf(view: View, spec: Spec): Condition {
  const isLauncherAlive = (findEngine(spec.engine) ?? defaultEngine).alive(spec.launcher) === 'alive';
  return isLauncherAlive || ageOf(view.paths.spec) < startLimitMs ? 'starting' : 'never_started';
}

/** From another namespace nothing is called dead, until lease and wall clock leave no other reading (contract 7). */
function isLongOver(view: View): boolean {
  if (!view.spec || view.leaseAgeMs === null || view.leaseAgeMs < leaseStaleMs) return false;
  return nowMs() > wallBoundOf(view.spec, view.turn) + view.spec.kill_grace_ms + unseenGraceMs;
}

function ageOf(target: string): number {
  const facts = factsOf(target);
  return facts ? nowMs() - facts.modifiedMs : Number.POSITIVE_INFINITY;
}

function bestOf(identities: (Identity | null | undefined)[], alive: (identity: Identity) => Liveness): Seen {
  const seen = identities.filter((one): one is Identity => one !== null && one !== undefined).map(alive);
  for (const answer of ['alive', 'unknown', 'dead'] as const) if (seen.includes(answer)) return answer;
  return 'none';
}

/** A living worker has the record in its memory and writes it again; an ended job is readable without its spec. */
function damageOf(spec: Read<Spec>, state: Read<JobState>, worker: Seen): string | null {
  if (worker === 'alive') return null;
  if (state.kind === 'damaged') return state.reason;
  if (state.kind === 'ok' && isEnded(state.value)) return null;
  if (spec.kind === 'ok') return null;
  return spec.kind === 'damaged' ? spec.reason : 'spec.json is missing';
}

function presentIn<T>(read: Read<T>): T | null {
  return read.kind === 'ok' ? read.value : null;
}
