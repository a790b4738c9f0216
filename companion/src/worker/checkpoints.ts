// When a run is judged: at launch + n intervals, without drift, at most once per interval. After a pause of the worker, or a probe that took
// longer than the interval, only the newest that was missed is made up for. Probes never overlap.
import type { Activity } from '../core/activity.ts';
import { type HealthMemory, type Judgement, judgeHealth } from '../core/health.ts';
import { autoNearEnd } from '../core/limits.ts';
import type { Probe } from './probe.ts';
import type { Clock } from './sampler.ts';

export interface CheckpointOptions {
  clock: Clock;
  launchMs: number;
  everyMs: number;
  /** So many intervals between two judgements while all goes well (default 1); one when it does not, and near the end. */
  stride?: number;
  expectMs: number | null;
  memory: HealthMemory;
  probe: Probe | null;
  /** Closes the interval. */
  take: () => Promise<Activity>;
  tell: (judgement: Judgement) => void;
  onError: (error: unknown) => void;
}

/** Returns what stops it; a probe under way is broken off, and nothing is told any more. */
export function startCheckpoints(options: CheckpointOptions): () => void {
  const { clock, launchMs, everyMs, expectMs, onError, stride = 1 } = options;
  const breakOff = new AbortController();
  let { memory } = options;
  let disarm: () => void = () => undefined;
  let isClose = false;

  const dueNumber = (): number => Math.floor((clock.monotonicMs() - launchMs) / everyMs);

  const arm = (): void => {
    if (breakOff.signal.aborted) return;
    const next = memory.n + (isClose ? 1 : stride - (memory.n % stride));
    // One that was missed is made up for at once.
    const atMs = dueNumber() >= next ? clock.monotonicMs() : launchMs + next * everyMs;
    disarm = clock.at(atMs, () => void judge().catch(onError).finally(arm));
  };

  const judge = async (): Promise<void> => {
    const n = dueNumber();
    if (n <= memory.n) return;
    const before = memory;
    // Whatever goes wrong with this one: it is not tried again.
    memory = { ...memory, n };
    const probe = options.probe ? await options.probe(breakOff.signal) : null;
    const activity = await options.take();
    if (breakOff.signal.aborted) return;
    const elapsedMs = clock.monotonicMs() - launchMs;
    const judgement = judgeHealth(before, { n, at: clock.iso(), elapsedMs, expectMs, everyMs, probe, activity });
    memory = judgement.memory;
    isClose = wantsCloseLook(judgement);
    options.tell(judgement);
  };

  arm();
  return () => {
    breakOff.abort();
    disarm();
  };
}

/** It stands still (as far as somebody said how far it is), somebody should look, or the end is near. */
function wantsCloseLook({ checkpoint, memory }: Judgement): boolean {
  const { state, completed, total } = checkpoint;
  const isNearEnd = completed !== null && total !== null && total > 0 && completed >= autoNearEnd * total;
  return state === 'attention' || memory.probeUnchanged > 0 || isNearEnd;
}
