// When a run is judged: at launch + n intervals, without drift, at most once per interval. After a pause of the worker, or a probe that took
// longer than the interval, only the newest that was missed is made up for. Probes never overlap.
import type { Activity } from '../core/activity.ts';
import { type HealthMemory, type Judgement, judgeHealth } from '../core/health.ts';
import type { Probe } from './probe.ts';
import type { Clock } from './sampler.ts';

export interface CheckpointOptions {
  clock: Clock;
  launchMs: number;
  everyMs: number;
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
  const { clock, launchMs, everyMs, expectMs, onError } = options;
  const breakOff = new AbortController();
  let { memory } = options;
  let disarm: () => void = () => undefined;

  const dueNumber = (): number => Math.floor((clock.monotonicMs() - launchMs) / everyMs);

  const arm = (): void => {
    if (breakOff.signal.aborted) return;
    const next = Math.max(memory.n, dueNumber()) + 1;
    // One that was missed is made up for at once.
    const atMs = dueNumber() > memory.n ? clock.monotonicMs() : launchMs + next * everyMs;
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
    options.tell(judgement);
  };

  arm();
  return () => {
    breakOff.abort();
    disarm();
  };
}
