// The only place that reads a clock. `monotonicMs` is the system's own monotonic clock: it counts awake time since boot
// and is the same for every process of one boot, so a deadline can be handed from a dead worker to the next.

export function nowMs(): number {
  return Date.now();
}

export function isoNow(): string {
  return new Date().toISOString();
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The longest delay that a timer of Node takes; a longer one would fire at once. */
const longest = 2 ** 31 - 1;

/** Call `fn` when the monotonic clock reaches `atMs`, however far that is. Returns a stop function. */
export function atMonotonic(atMs: number, fn: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const rest = atMs - monotonicMs();
    if (rest <= 0) timer = setTimeout(fn, 0);
    else timer = setTimeout(rest > longest ? arm : check, Math.min(rest, longest));
  };
  const check = (): void => (monotonicMs() >= atMs ? fn() : arm());
  arm();
  return () => clearTimeout(timer);
}
