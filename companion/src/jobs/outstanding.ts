// One job that has not ended, as a woken caller needs it: how it stands against what is on disk and alive, whether it is past what was expected of it,
// and the one command that comes next.
import { lateShare } from '../core/limits.ts';
import { ageOf, instantOf } from '../core/recorded-time.ts';
import { monotonicMs, nowMs } from '../platform/clock.ts';
import { boundOf } from './bound.ts';
import { pastExpectation } from './expectation.ts';
import { findStopped, type HealthSeen, healthOf } from './health-seen.ts';
import { isIdleTimer } from './late-wakes.ts';
import { nextCommands } from './next-commands.ts';
import { type QueueSeen, queueSeen } from './parts-seen.ts';
import { type Condition, conditionOf, isEnded, type View } from './view.ts';
import { readWaiters } from './waiters.ts';

export interface Outstanding {
  view: View;
  condition: Condition;
  health: HealthSeen;
  ageMs: number;
  /** Of its hard limit, or until a timer is due; null where none counts now. */
  leftMs: number | null;
  worker: WorkerWord;
  lastEventMs: number | null;
  queue: QueueSeen | null;
  /** Why it should be over, or further, by now. */
  late: string | null;
  /** Somebody would be woken by its end: a wait that lives and is not stopped. */
  isAwaited: boolean;
  next: string;
}

export type WorkerWord = 'alive' | 'stopped' | 'gone' | 'unseen' | 'not needed' | 'not yet';

export function outstanding(view: View, newestMs: number | null, option: readonly string[]): Outstanding {
  const condition = conditionOf(view);
  const health = healthOf(view, condition);
  const isIdle = isIdleTimer(view);
  const facts = {
    view,
    condition,
    health,
    ageMs: ageOf(view.state.created_at, nowMs()) ?? 0,
    leftMs: leftOf(view),
    worker: workerWord(view),
    lastEventMs: newestMs === null ? null : Math.max(0, nowMs() - newestMs),
    queue: queueSeen(view),
    late: isIdle ? 'all that it may have been set for has ended; it would wake for nothing' : lateWords(view, health),
    isAwaited: isHeld(view),
  };
  return { ...facts, next: isIdle ? nextCommands.cancel(view.id, option) : nextOf(facts, option) };
}

/** A folder that cannot be looked at holds nobody. */
function isHeld({ root, id }: View): boolean {
  try {
    return readWaiters(root, id).some((one) => one.fault === null);
  } catch {
    return false;
  }
}

/** ms; null for a queued job, whose limit counts from its turn, and for what has no spec. */
export function leftOf({ spec, state, turn }: View): number | null {
  if (!spec || isEnded(state)) return null;
  if (spec.timer) return Math.max(0, (instantOf(spec.timer.due_at) ?? nowMs()) - nowMs());
  const left = Math.round(boundOf(spec, turn) - monotonicMs());
  return Number.isFinite(left) ? Math.max(0, left) : null;
}

function workerWord(view: View): WorkerWord {
  if (findStopped(view)?.cause === 'worker_stopped') return 'stopped';
  const { worker } = view.seen;
  if (worker === 'alive') return 'alive';
  if (worker === 'unknown') return 'unseen';
  if (view.spec?.timer && !view.spec.notify) return 'not needed';
  return worker === 'none' ? 'not yet' : 'gone';
}

/** Over what its caller expected; or an agent near its limit of which nothing moves. */
function lateWords(view: View, { health }: HealthSeen): string | null {
  const { spec, state } = view;
  const ran = ageOf(state.started_at, nowMs());
  if (!spec || ran === null) return null;
  const past = pastExpectation(view);
  if (past !== null) return past;
  const left = leftOf(view);
  if (!spec.staff || left === null || health === 'progressing') return null;
  const used = 1 - left / spec.deadline_ms;
  return used < lateShare ? null : `${Math.floor(used * 100)} % of its limit are used, and nothing moves`;
}

function nextOf(one: Omit<Outstanding, 'next'>, option: readonly string[]): string {
  const { view, condition, health, late } = one;
  if (condition === 'damaged') return nextCommands.doctor(view.id, option);
  // A wait takes over from a lost worker.
  if (health.attention_kind === 'monitor_attention' && one.worker !== 'stopped')
    return nextCommands.wait(view.id, option);
  const needsLook = health.health === 'attention' || late !== null || one.isAwaited;
  return needsLook ? nextCommands.observe(view.id, option) : nextCommands.wait(view.id, option);
}
