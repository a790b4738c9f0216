// Waiting for one job. Sleeps on the FIFO that the worker holds: the kernel wakes it within milliseconds when the worker lets go or is
// killed. A file watcher on the journal stands beside it only when the caller asked for more than the end, one on the job's folder only for
// a timer that nobody looks after. A slow look stands behind all of them, for file systems that tell nothing and folders that vanish.
import { FaultError } from '../core/errors.ts';
import { instantOf } from '../core/recorded-time.ts';
import { monotonicMs, nowMs, sleep } from '../platform/clock.ts';
import { watchFifo } from '../platform/fifo.ts';
import { exists } from '../platform/folders.ts';
import { sameIdentity } from '../platform/identity.ts';
import { onEachChange } from '../platform/watch-path.ts';
import { jobPaths } from '../store/layout.ts';
import { makeNap, type Nap } from './nap.ts';
import { refreshAttached } from './reconcile.ts';
import { conditionOf, isEnded, timerPatienceMs, type View } from './view.ts';
import { viewAt } from './wake-standing.ts';
import type { WakeSeen, WakeWatch } from './wake-watch.ts';

export interface Told {
  /** Called with each look. */
  view: (view: View) => void;
  /** Some other job ended the wait. */
  signal: AbortSignal;
  /** The end of the caller's patience, on the monotonic clock. */
  until: number;
}

type Why = 'fifo' | 'journal' | 'folder';

/** Looks in quick succession after the FIFO woke us: for a second, until the record says what happened. */
const quickRounds = 50;
/** Between two cheap looks for what comes without a sign. */
const healthMs = 5000;
/** Between two scans of a journal that is written all the time. */
const journalPauseMs = 50;

/** Until the end, a wake, the signal, or the end of patience; what woke it, when something did. */
export async function waitForOne(
  root: string,
  id: string,
  watch: WakeWatch | undefined,
  told: Told,
): Promise<WakeSeen | undefined> {
  const nap = makeNap<Why>(told.signal);
  let woken = quickRounds;
  for (let round = 0; ; round += 1, woken += 1) {
    let view = await look(root, id);
    // A folder that is being removed loses its files first.
    if (view.damage !== null) await sleep(100);
    if (!exists(view.paths.folder)) throw vanishedError(view.paths.folder, id);
    told.view(view);
    if (isEnded(view.state) || told.signal.aborted) return undefined;
    if (told.until - monotonicMs() <= 0) {
      const wake = watch?.lookAtEvents() ?? watch?.lookAtHealth(view);
      return wake && !(await isOver(root, id, wake, told)) ? wake : undefined;
    }

    const closes = await subscribe(view, nap, watch);
    try {
      // Subscribed first, looked second: a worker that ended in between is seen here, one that ends later wakes us. As long as nothing
      // rings, the subscriptions are good and one look each time is enough.
      for (let isQuiet = true; isQuiet; ) {
        view = await look(root, id);
        told.view(view);
        if (isEnded(view.state) || told.signal.aborted || told.until - monotonicMs() <= 0) break;
        const wake = watch?.lookAtEvents() ?? watch?.lookAtHealth(view);
        if (wake) return (await isOver(root, id, wake, told)) ? undefined : wake;
        // The FIFO may tell of a death some milliseconds before the process table does, and is then held by nobody.
        const pause = woken < quickRounds ? 20 : pauseFor(view, closes, round, watch);
        const seen = await rest(nap, Math.min(told.until - monotonicMs(), pause), view, watch, told.signal);
        if (seen.wake) return (await isOver(root, id, seen.wake, told)) ? undefined : seen.wake;
        if (seen.why.includes('fifo')) woken = 0;
        isQuiet = seen.why.length === 0 && pause > 1000 && exists(view.paths.folder);
      }
    } finally {
      for (const close of Object.values(closes)) close?.();
    }
  }
}

interface Subscriptions {
  fifo: (() => void) | undefined;
  folder: (() => void) | undefined;
  /** Of the journal; it stays open until the watch is closed. */
  journal: (() => void) | undefined;
}

async function subscribe(view: View, nap: Nap<Why>, watch: WakeWatch | undefined): Promise<Subscriptions> {
  const isArmed = conditionOf(view) === 'armed';
  const hasJournal = watch?.subscribe(() => nap.ring('journal'));
  return {
    fifo: await watchFifo(view.paths.leaseFifo, () => nap.ring('fifo')),
    folder: isArmed ? onEachChange(view.paths.folder, () => nap.ring('folder')) : undefined,
    journal: hasJournal ? () => undefined : undefined,
  };
}

/** Sleeps; what comes into the journal meanwhile is looked at without looking at everything. */
async function rest(
  nap: Nap<Why>,
  ms: number,
  view: View,
  watch: WakeWatch | undefined,
  signal: AbortSignal,
): Promise<{ why: readonly Why[]; wake?: WakeSeen | undefined }> {
  const until = monotonicMs() + ms;
  for (;;) {
    const left = Math.max(0, until - monotonicMs());
    const why = await nap.sleep(watch?.isForHealth ? Math.min(left, healthMs) : left);
    if (why.length === 0 && left > healthMs && !signal.aborted && !watch?.isHealthChanged(view)) continue;
    const wake = why.includes('journal') ? watch?.lookAtEvents() : undefined;
    if (wake) return { why, wake };
    if (why.length !== 1 || why[0] !== 'journal' || monotonicMs() >= until) return { why };
    // Only the journal is not listened to for a moment: the end of the job is news at once.
    const more = await nap.sleep(Math.min(journalPauseMs, Math.max(0, until - monotonicMs())), 'journal');
    if (more.length > 0) return { why: more };
  }
}

/** The end wins over whatever came before it; and who is woken gets the job as it is then. */
async function isOver(root: string, id: string, wake: WakeSeen, told: Told): Promise<boolean> {
  const view = await viewAt(wake.event, () => look(root, id), told.signal);
  told.view(view);
  return isEnded(view.state);
}

/** How long to sleep at most before the next look. Short only while a change should come soon, and longer when it does not. */
function pauseFor(
  view: View,
  { fifo, folder, journal }: Subscriptions,
  round: number,
  watch: WakeWatch | undefined,
): number {
  const soon = Math.min(20 * 1.25 ** round, 1000);
  switch (conditionOf(view)) {
    case 'armed':
      return Math.min(untilDue(view), folder ? 60_000 : 2000);
    case 'supervised': {
      // The FIFO tells of a death only when this very worker holds it, which it says in worker.json.
      const isHeld =
        view.worker !== null && view.launch !== null && sameIdentity(view.worker.worker, view.launch.worker);
      if (!isHeld) return soon;
      const isTold = fifo && view.worker?.fifo && (!watch || journal);
      return Math.min(isTold ? 15_000 : 1000, untilDue(view) + timerPatienceMs);
    }
    case 'unseen':
      return 1000;
    default:
      return soon;
  }
}

/** A timer's instant is on the wall clock, which may be set; so it is asked for anew at least every minute. */
function untilDue({ spec }: View): number {
  const due = instantOf(spec?.timer?.due_at);
  return due === null ? Number.POSITIVE_INFINITY : Math.max(1, due - nowMs());
}

async function look(root: string, id: string): Promise<View> {
  try {
    return await refreshAttached(root, id);
  } catch (error) {
    if (error instanceof FaultError && error.code === 'unknown_job') throw vanishedError(jobPaths(root, id).folder, id);
    throw error;
  }
}

function vanishedError(folder: string, id: string): FaultError {
  return new FaultError('state_unusable', `cannot go on waiting for job ${id}: its folder ${folder} is gone`, null);
}
