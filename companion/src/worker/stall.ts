// `--stall-after` of a run: nothing happened for that long - nothing printed, no CPU to speak of, no named path changed. Descendants that
// are asleep do not rescue it; a command that computes in silence is not stalled. Where CPU time cannot be told, silence alone decides.
import { type Activity, countDescendants, isBusy } from '../core/activity.ts';
import { formatDuration } from '../core/duration.ts';

const fastest = 250;
const slowest = 10_000;

/** How often to sample, so that a stall is seen in time. */
export function stallSampleMs(stallMs: number): number {
  return Math.min(slowest, Math.max(fastest, Math.floor(stallMs / 4)));
}

export class StallWatch {
  private readonly stallMs: number;
  private samples: { atMs: number; activity: Activity }[] = [];
  /** Since when nothing was printed and no path changed. */
  private quietSince: number;
  private seen: string | undefined;

  constructor(stallMs: number, fromMs: number) {
    this.stallMs = stallMs;
    this.quietSince = fromMs;
  }

  add(activity: Activity, atMs: number): void {
    const { stallMs } = this;
    // Nobody looked for a whole window (a stopped worker): that proves nothing, so it begins anew.
    if (activity.spanMs > stallMs && activity.spanMs > 2 * stallSampleMs(stallMs)) {
      this.samples = [];
      this.quietSince = atMs;
      this.seen = undefined;
      return;
    }
    this.samples.push({ atMs, activity });
    this.samples = this.samples.filter((one) => one.atMs > atMs - stallMs);
    if (activity.hasOutput || activity.hasLog || activity.changed.length > 0) this.quietSince = atMs;
    this.seen = this.judge(atMs);
  }

  /** What was seen of a stall; undefined when there is none. */
  stalled(): string | undefined {
    return this.seen;
  }

  private judge(atMs: number): string | undefined {
    const quietMs = atMs - this.quietSince;
    if (quietMs < this.stallMs) return undefined;
    let [cpuMs, spanMs] = [0, 0];
    for (const { activity } of this.samples) {
      cpuMs += activity.cpuMs ?? 0;
      spanMs += activity.spanMs;
    }
    if (isBusy(cpuMs, spanMs)) return undefined;
    const descendants = Math.max(0, ...this.samples.map(({ activity }) => activity.descendants));
    const asleep = descendants > 0 ? `${countDescendants(descendants)} asleep` : 'no descendant';
    return `for ${formatDuration(quietMs)} nothing printed, no result path changed, ${cpuMs} ms of CPU, ${asleep}`;
  }
}
