// A sleep that something may cut short: the end at once, a wake-up not before some time has passed (so that a busy folder cannot keep a
// watch looking without a pause). A wake-up that comes before the sleep counts.
import { atMonotonic, monotonicMs } from '../platform/clock.ts';

export interface Nap {
  wake(): void;
  /** Until `dueMono`, or woken, but then at least `leastMs`; or until the signal. */
  until(dueMono: number, leastMs: number): Promise<void>;
}

export function makeNap(signal: AbortSignal): Nap {
  let isWoken = false;
  let onWake = (): void => undefined;
  return {
    wake() {
      isWoken = true;
      onWake();
    },
    until: (dueMono, leastMs) =>
      new Promise((resolve) => {
        const least = monotonicMs() + leastMs;
        const releases: (() => void)[] = [];
        const end = (): void => {
          for (const release of releases.splice(0)) release();
          onWake = () => undefined;
          signal.removeEventListener('abort', end);
          resolve();
        };
        if (signal.aborted) return end();
        signal.addEventListener('abort', end);
        releases.push(atMonotonic(dueMono, end));
        onWake = () => {
          onWake = () => undefined;
          if (least < dueMono) releases.push(atMonotonic(least, end));
        };
        if (isWoken) onWake();
      }),
  };
}
