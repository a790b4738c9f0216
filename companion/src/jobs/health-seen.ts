// The judgement beside the state, as a reader sees it now. `monitor_attention` is the readers' own word: it says that whoever should look
// after the job does not, so a worker can never write it, and one that stands in state.json is not believed.
import { formatDuration } from '../core/duration.ts';
import { type AttentionKind, type Health, type Identity, isWorkerOnly } from '../core/job.ts';
import { checkpointGraceMs, leaseStaleMs, limits, progressingMs } from '../core/limits.ts';
import { instantOf } from '../core/recorded-time.ts';
import { defaultEngine, findEngine } from '../engines/registry.ts';
import { monotonicMs, nowMs } from '../platform/clock.ts';
import { factsOf } from '../platform/folders.ts';
import { bootId, sameIdentity } from '../platform/identity.ts';
import { boundOf } from './bound.ts';
import { checkpointOf, livenessSeen, queueSeen, watchOf } from './parts-seen.ts';
import { type Condition, isEnded, isQueued, type View } from './view.ts';

export interface HealthSeen {
  health: Health;
  attention_kind: AttentionKind;
  reason?: string;
}

/** Names the cause of a `monitor_attention`: the same cause, the same word. */
export type MonitorCause =
  | 'worker_gone'
  | 'worker_stopped'
  | 'shim_stopped'
  | 'lease_stale'
  | 'checkpoint_missing'
  | 'end_unstored'
  | 'queue_held';

export function healthOf(view: View, condition: Condition): HealthSeen {
  const monitor = monitorAttention(view, condition);
  if (monitor) return { health: 'attention', attention_kind: 'monitor_attention', reason: monitor.reason };
  const { state, spec } = view;
  if (isEnded(state)) return { health: state.health, attention_kind: null };
  const reason = reasonTold(view);
  const told = reason === undefined ? {} : { reason };
  if (state.health === 'attention') return { health: 'attention', attention_kind: 'task_attention', ...told };
  if (spec?.staff && isMoving(view)) return { health: 'progressing', attention_kind: null };
  return { health: state.health, attention_kind: null, ...told };
}

/** Why nobody looks after the job as it should be; undefined when somebody does. */
export function monitorAttention(
  view: View,
  condition: Condition,
): { cause: MonitorCause; reason: string } | undefined {
  switch (condition) {
    case 'unclaimed':
    case 'orphaned':
      // A wait brings a new worker, and that one sees to the shim.
      return { cause: 'worker_gone', reason: goneWords(view, condition) };
    case 'armed':
      // Only with a notifier it has one; the instant itself needs nobody.
      if (view.seen.worker !== 'dead') return undefined;
      return {
        cause: 'worker_gone',
        reason: 'its worker is gone; whoever looks first when it is due has the notifier told',
      };
    case 'over':
    case 'lost':
    case 'host_restarted':
    case 'never_started':
      return { cause: 'end_unstored', reason: unstoredWords(view) };
    case 'supervised':
    case 'unseen':
      return stoppedMember(view) ?? staleLease(view) ?? missingCheckpoint(view) ?? heldQueue(view);
    default:
      return undefined;
  }
}

function goneWords(view: View, condition: 'unclaimed' | 'orphaned'): string {
  const { spec, launch, paths } = view;
  if (isQueued(view))
    return 'the worker that waits for its turn is gone; the job behind it in the queue, or the next wait, starts a new one';
  if (spec?.kind === 'watch')
    return 'the worker is gone and nobody looks at the condition; the next wait starts a new one';
  if (spec && isWorkerOnly(spec))
    return 'the worker is gone and nobody goes on with it; the next wait starts a new one';
  if (condition === 'orphaned')
    return 'the worker is gone; the command runs on under its shim, and the next wait attaches a new worker';
  return `the worker died before it started the command (${launch?.generation ?? 1} tried); the next wait starts a new one; see ${paths.workerLog}`;
}

function unstoredWords({ spec }: View): string {
  return spec?.run?.status_cmd
    ? 'it is over, and how its task stands was not asked yet; the next wait asks and stores its end'
    : 'it is over, and its end could not be stored from here';
}

/** Seen at once: a stopped worker keeps its identity and would look alive until its lease is stale; a stopped shim never tells an end. */
function stoppedMember(view: View): { cause: MonitorCause; reason: string } | undefined {
  const stopped = findStopped(view);
  if (!stopped) return undefined;
  const goesOn = `it goes on after: ${continueCommand(view)}`;
  if (stopped.cause === 'shim_stopped')
    return {
      cause: stopped.cause,
      reason: `the shim is stopped (SIGSTOP?), the end of its command is not seen; ${goesOn}`,
    };
  const rest =
    view.spec?.kind === 'watch'
      ? 'nobody looks at the condition'
      : view.spec && isWorkerOnly(view.spec)
        ? 'nothing of it goes on'
        : 'the command itself may run on';
  return { cause: stopped.cause, reason: `the worker is stopped (SIGSTOP?), ${rest}; ${goesOn}` };
}

export interface Stopped {
  cause: 'worker_stopped' | 'shim_stopped';
  who: Identity;
}

/** The worker or the shim, when it is stopped: two looks at the process table, cheap enough to be taken often. */
export function findStopped(view: View): Stopped | undefined {
  const { spec, worker, launch, shim } = view;
  const engine = findEngine(spec?.engine ?? 'local') ?? defaultEngine;
  const [first, second] = [worker?.worker, launch?.worker];
  if (first && engine.isStopped(first)) return { cause: 'worker_stopped', who: first };
  const isOther = second && !(first && sameIdentity(first, second));
  if (isOther && engine.isStopped(second)) return { cause: 'worker_stopped', who: second };
  return shim && !isEnded(view.state) && engine.isStopped(shim) ? { cause: 'shim_stopped', who: shim } : undefined;
}

/** Lets go on whoever is stopped; with the shim also its command, when somebody stopped the whole job. */
export function continueCommand(view: View): string | undefined {
  const stopped = findStopped(view);
  if (!stopped) return undefined;
  const engine = findEngine(view.spec?.engine ?? 'local') ?? defaultEngine;
  const { shim, child } = view;
  const isShimToo = shim !== null && engine.isStopped(shim);
  const others = isShimToo ? [shim, child].filter((one) => one !== null && engine.isStopped(one)) : [];
  return `kill -CONT ${[...new Set([stopped.who, ...others].map((one) => one?.pid))].join(' ')}`;
}

function staleLease({ leaseAgeMs }: View): { cause: MonitorCause; reason: string } | undefined {
  if (leaseAgeMs === null || leaseAgeMs <= leaseStaleMs) return undefined;
  const reason = `no sign of life of the worker for ${Math.round(leaseAgeMs / 1000)} s`;
  return { cause: 'lease_stale', reason };
}

/** Its own worker says that those before it do not go on by themselves. */
function heldQueue(view: View): { cause: MonitorCause; reason: string } | undefined {
  const held = queueSeen(view)?.held;
  return held === undefined ? undefined : { cause: 'queue_held', reason: held };
}

/** A whole interval without a checkpoint: says something of the worker, nothing of the command. */
function missingCheckpoint(view: View): { cause: MonitorCause; reason: string } | undefined {
  const { spec, state } = view;
  const every = spec?.run?.checkpoint_ms;
  if (!spec || typeof every !== 'number' || !(every > 0) || state.state !== 'running') return undefined;
  const last = checkpointOf(state);
  const since = instantOf(last?.at) ?? instantOf(state.started_at) ?? instantOf(state.created_at);
  if (since === null) return undefined;
  const probe = spec.run?.probe ? (spec.run.probe_ms ?? limits.probe.default) : 0;
  const patience = every + probe + checkpointGraceMs;
  const ageMs = nowMs() - since;
  // A machine that slept an hour has missed none: the worker counts awake time, and so must who judges it.
  if (ageMs <= patience || awakeSince(view, (last?.n ?? 0) * (spec.run?.checkpoint_fast_ms ?? every)) <= patience)
    return undefined;
  const reason = `no checkpoint for ${formatDuration(ageMs)}, one is due every ${formatDuration(every)}; this says nothing of the command itself`;
  return { cause: 'checkpoint_missing', reason };
}

/** Awake time since so many ms after the launch, or the turn. */
function awakeSince({ spec, turn }: View, offsetMs: number): number {
  if (!spec || (turn?.boot_id ?? spec.launcher.boot_id) !== bootId()) return Number.POSITIVE_INFINITY;
  return monotonicMs() - (boundOf(spec, turn) - spec.deadline_ms + offsetMs);
}

/** What the worker last said of a run, an agent or a watch. */
function reasonTold({ state }: View): string | undefined {
  const checkpoint = checkpointOf(state);
  if (checkpoint) return checkpoint.reason;
  return livenessSeen(state)?.reason ?? watchOf(state)?.trouble ?? undefined;
}

/** Of a command's output nothing can be concluded; an agent tells what it does. */
function isMoving({ state, paths }: View): boolean {
  if (state.state !== 'running') return false;
  const output = factsOf(paths.output);
  return output !== undefined && output.size > 0 && nowMs() - output.modifiedMs < progressingMs;
}
