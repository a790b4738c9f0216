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

/** As a clock on the wall here shows it: `2030-01-31 10:30:00 +01:00`. */
export function localOf(ms: number): string {
  const at = new Date(ms);
  const ahead = -at.getTimezoneOffset();
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const offset = `${ahead < 0 ? '-' : '+'}${two(Math.abs(ahead) / 60)}:${two(Math.abs(ahead) % 60)}`;
  return `${new Date(ms + ahead * 60_000).toISOString().slice(0, 19).replace('T', ' ')} ${offset}`;
}

export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** How long this process runs already. */
export function sinceStartMs(): number {
  return process.uptime() * 1000;
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
