// Waiting for the end of jobs. A wait holds nothing and changes nothing but what reconcile.ts allows; killing it harms no job. It sleeps
// on the FIFO that the worker holds: the kernel wakes it within milliseconds when the worker lets go or is killed. A slow
// poll stands behind it for file systems without FIFOs and for folders that vanish.
import { FaultError } from '../core/errors.ts';
import { monotonicMs, sleep } from '../platform/clock.ts';
import { watchFifo } from '../platform/fifo.ts';
import { exists } from '../platform/folders.ts';
import { sameIdentity } from '../platform/identity.ts';
import { jobPaths } from '../store/layout.ts';
import { refreshAttached } from './reconcile.ts';
import { type Condition, conditionOf, isEnded, type View } from './view.ts';

export interface WaitOptions {
  mode: 'any' | 'all';
  /** Patience in ms. */
  timeoutMs: number;
  heartbeatMs: number | null;
  onHeartbeat?: (views: View[]) => void;
}

/** The jobs as they are when the wait is over, in the order of `ids`. */
export async function waitForJobs(root: string, ids: readonly string[], options: WaitOptions): Promise<View[]> {
  const until = monotonicMs() + options.timeoutMs;
  const views = new Map<string, View>();
  const stop = new AbortController();
  const beat =
    options.heartbeatMs === null
      ? undefined
      : setInterval(() => options.onHeartbeat?.([...views.values()]), options.heartbeatMs);
  let failure: unknown;
  let ended = 0;
  await Promise.all(
    ids.map(async (id) => {
      try {
        await waitForOne(root, id, until, stop.signal, (view) => views.set(id, view));
      } catch (error) {
        failure ??= error;
        stop.abort();
        return;
      }
      const view = views.get(id);
      if (view && isEnded(view.state)) ended += 1;
      if (options.mode === 'any' && ended > 0) stop.abort();
    }),
  );
  clearInterval(beat);
  if (failure !== undefined) throw failure;
  return ids.flatMap((id) => views.get(id) ?? []);
}

async function waitForOne(
  root: string,
  id: string,
  until: number,
  signal: AbortSignal,
  tell: (view: View) => void,
): Promise<void> {
  let woken = quickRounds;
  for (let round = 0; ; round += 1, woken += 1) {
    let view = await look(root, id);
    // A folder that is being removed loses its files first.
    if (view.damage !== null) await sleep(100);
    if (!exists(view.paths.folder)) throw vanishedError(view.paths.folder, id);
    tell(view);
    if (isEnded(view.state) || signal.aborted) return;
    const rest = until - monotonicMs();
    if (rest <= 0) return;

    const nap = makeNap(signal);
    const close = await watchFifo(view.paths.leaseFifo, nap.wake);
    try {
      // Opened first, looked second: a worker that ended in between is seen here, one that ends later wakes us.
      view = await look(root, id);
      tell(view);
      if (!isEnded(view.state) && !signal.aborted) {
        // The FIFO may tell of a death some milliseconds before the process table does, and is then held by nobody.
        const pause = woken < quickRounds ? 20 : pauseFor(view, close !== undefined, round);
        if (await nap.sleep(Math.min(rest, pause))) woken = 0;
      }
    } finally {
      close?.();
    }
  }
}

/** How long to sleep at most before the next look. Short only while a change should come soon, and longer when it does not. */
function pauseFor(view: View, hasFifo: boolean, round: number): number {
  const condition: Condition = conditionOf(view);
  const soon = Math.min(20 * 1.25 ** round, 1000);
  if (condition === 'supervised') {
    // The FIFO tells of a death only when this very worker holds it, which it says in worker.json.
    const isHeld = view.worker !== null && view.launch !== null && sameIdentity(view.worker.worker, view.launch.worker);
    if (isHeld && hasFifo && view.worker?.fifo) return 15_000;
    return isHeld ? 1000 : soon;
  }
  if (condition === 'unseen') return 1000;
  return soon;
}

/** Looks in quick succession after the FIFO woke us: for a second, until the record says what happened. */
const quickRounds = 50;

/** `sleep` gives true when it was ended by `wake`. */
function makeNap(signal: AbortSignal): { wake: () => void; sleep: (ms: number) => Promise<boolean> } {
  let isAwake = false;
  let wake = (): void => {
    isAwake = true;
  };
  return {
    wake: () => wake(),
    sleep: (ms) =>
      new Promise((resolve) => {
        if (isAwake || signal.aborted) return resolve(isAwake);
        const end = (isWoken: boolean): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', stop);
          resolve(isWoken);
        };
        const stop = (): void => end(false);
        const timer = setTimeout(stop, Math.min(ms, 2 ** 31 - 1));
        signal.addEventListener('abort', stop);
        wake = () => end(true);
      }),
  };
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
