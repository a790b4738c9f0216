// One job that has not ended, as a woken caller needs it: how it stands against what is on disk and alive, whether it is past what was expected of it,
// and the one command that comes next.
import { lateShare, wakePage } from '../core/limits.ts';
import { ageOf, instantOf } from '../core/recorded-time.ts';
import { monotonicMs, nowMs } from '../platform/clock.ts';
import { boundOf } from './bound.ts';
import { waitersOf } from './deliveries.ts';
import { pastExpectation } from './expectation.ts';
import { findStopped, type HealthSeen, healthOf } from './health-seen.ts';
import { isIdleTimer } from './late-wakes.ts';
import { nextCommand, nextCommands } from './next-commands.ts';
import { type QueueSeen, queueSeen } from './parts-seen.ts';
import { type Condition, conditionOf, isEnded, type View } from './view.ts';

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
  /** The job that started it; null for one of the owner's own. */
  startedBy: string | null;
  /** That job lives, and is the one to wait for it. */
  isBelow: boolean;
  /** Of the newest file that it handed back. */
  handbackSeq: number | null;
  next: string;
}

export type WorkerWord = 'alive' | 'stopped' | 'gone' | 'unseen' | 'not needed' | 'not yet';

interface Known extends Pick<Outstanding, 'startedBy' | 'isBelow' | 'handbackSeq'> {
  /** Of its newest event. */
  newestMs: number | null;
}

const nothing: Known = { newestMs: null, startedBy: null, isBelow: false, handbackSeq: null };

export function outstanding(view: View, known: Partial<Known>, option: readonly string[]): Outstanding {
  const { newestMs, ...others } = { ...nothing, ...known };
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
    ...others,
  };
  return { ...facts, next: isIdle ? nextCommands.cancel(view.id, option) : nextOf(facts, option) };
}

/** A folder that cannot be looked at holds nobody. */
function isHeld(view: View): boolean {
  try {
    return waitersOf(view).waiters.some((one) => one.fault === null);
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
    return waitFor([one], [view.id], option);
  const needsLook = health.health === 'attention' || late !== null || one.isAwaited || one.isBelow;
  return needsLook ? nextCommands.observe(view.id, option) : waitFor([one], [view.id], option);
}

/** For several that nobody waits for: one command that is woken by whichever comes first. */
export function waitForThem(
  open: readonly Outstanding[],
  owner: string | null,
  option: readonly string[],
): string | null {
  const free = open.filter(
    ({ isAwaited, isBelow, condition, late, view }) =>
      !isAwaited && !isBelow && condition !== 'damaged' && !(view.spec?.timer && late !== null),
  );
  if (free.length < 2) return null;
  const ids = free.map(({ view }) => view.id);
  const which = ids.length <= wakePage.ids ? ids : owner === null ? [] : ['--owner', owner];
  return waitFor(free, [...which, '--any'], option);
}

/** Also woken by files that an agent hands back, and only by those that are not there yet. */
function waitFor(
  jobs: readonly Pick<Outstanding, 'view' | 'handbackSeq'>[],
  words: readonly string[],
  option: readonly string[],
): string {
  const agents = jobs.filter(({ view }) => view.spec?.handback);
  const until = agents.length > 0 ? ['--until', 'handback'] : [];
  const after = agents.flatMap(({ view, handbackSeq }) =>
    handbackSeq === null ? [] : ['--after-seq', jobs.length > 1 ? `${view.id}:${handbackSeq}` : String(handbackSeq)],
  );
  return nextCommand(option, 'wait', ...words, ...until, ...after, '--timeout', '10m');
}
