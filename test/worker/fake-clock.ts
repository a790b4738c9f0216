/** A clock that a test moves. Whatever became due is called in its order, and what it began is let run before time goes on. */
import type { Clock } from '../../companion/src/worker/sampler.ts';

export class FakeClock implements Clock {
  private nowMs = 1_000_000;
  private timers: { atMs: number; fn: () => void }[] = [];

  monotonicMs(): number {
    return this.nowMs;
  }

  iso(): string {
    return new Date(this.nowMs).toISOString();
  }

  at(atMs: number, fn: () => void): () => void {
    const timer = { atMs, fn };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const next = this.timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (!next) break;
      this.timers = this.timers.filter((one) => one !== next);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.fn();
      await settled();
    }
    this.nowMs = untilMs;
  }

  /** Time passes, but nobody is called: a stopped process, or one that is kept waiting. */
  skip(ms: number): void {
    this.nowMs += ms;
  }

  get armed(): number {
    return this.timers.length;
  }
}

export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
