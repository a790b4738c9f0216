// Waiting for jobs: for the end of one or all, or for what else a caller asked to be woken by. A wait holds nothing and changes nothing
// but what reconcile.ts allows; killing it harms no job.
import { setMaxListeners } from 'node:events';
import type { Wanted } from '../core/wakes.ts';
import { monotonicMs } from '../platform/clock.ts';
import { jobPaths } from '../store/layout.ts';
import { isEnded, type View } from './view.ts';
import { type Told, waitForOne } from './wait-one.ts';
import { type WaitCursor, type WakeSeen, WakeWatch } from './wake-watch.ts';

export interface WaitOptions {
  mode: 'any' | 'all';
  /** Patience in ms. */
  timeoutMs: number;
  heartbeatMs: number | null;
  onHeartbeat?: (views: View[]) => void;
  /** What else wakes; the end always does. */
  until?: readonly Wanted[];
  /** Events up to this number are known to the caller; 0 for jobs that are not in it. */
  cursors?: ReadonlyMap<string, WaitCursor>;
}

export interface Waited {
  /** The jobs as they are when the wait is over, in the order of the ids. */
  views: View[];
  /** The one that ended the wait before its time. */
  woken: (WakeSeen & { id: string }) | null;
  /** Cursors that lie beyond all that was told of their job, and where they count from. */
  beyond: { id: string; given: number; newest: number }[];
}

/** Whichever mode: a wake of any job ends the wait. */
export async function waitForJobs(root: string, ids: readonly string[], options: WaitOptions): Promise<Waited> {
  const until = monotonicMs() + options.timeoutMs;
  const views = new Map<string, View>();
  const watches = new Map<string, WakeWatch>();
  const stop = new AbortController();
  // Each job listens to it: many are no leak, and Node's warning of one would end the silence of a wait.
  setMaxListeners(0, stop.signal);
  const beat =
    options.heartbeatMs === null
      ? undefined
      : setInterval(() => options.onHeartbeat?.([...views.values()]), options.heartbeatMs);
  let failure: unknown;
  let woken: Waited['woken'] = null;
  let ended = 0;
  await Promise.all(
    ids.map(async (id) => {
      const watch = options.until?.length ? makeWatch(root, id, options.until, options.cursors) : undefined;
      if (watch) watches.set(id, watch);
      const told: Told = { view: (view) => views.set(id, view), signal: stop.signal, until };
      try {
        const wake = await waitForOne(root, id, watch, told);
        if (wake) {
          woken ??= { id, ...wake };
          stop.abort();
        }
      } catch (error) {
        failure ??= error;
        stop.abort();
        return;
      } finally {
        watch?.close();
      }
      const view = views.get(id);
      if (view && isEnded(view.state)) ended += 1;
      if (options.mode === 'any' && ended > 0) stop.abort();
    }),
  );
  clearInterval(beat);
  if (failure !== undefined) throw failure;
  const beyond = [...watches].flatMap(([id, watch]) => (watch.beyond ? [{ id, ...watch.beyond }] : []));
  return { views: ids.flatMap((id) => views.get(id) ?? []), woken, beyond };
}

function makeWatch(
  root: string,
  id: string,
  until: readonly Wanted[],
  cursors: ReadonlyMap<string, WaitCursor> | undefined,
): WakeWatch {
  return new WakeWatch(jobPaths(root, id), until, cursors?.get(id) ?? { seq: 0, isGiven: false });
}
