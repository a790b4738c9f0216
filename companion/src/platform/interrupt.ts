// A person's Ctrl-C (or a TERM) while something must still be put in order.

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Interrupt = (typeof names)[number];

/** Call `fn` once instead of dying. A second signal ends us as ever. Returns a function that gives the signals back. */
export function onInterrupt(fn: (signal: Interrupt) => void): () => void {
  const release = (): void => {
    for (const name of names) process.off(name, act);
  };
  const act = (signal: Interrupt): void => {
    release();
    fn(signal);
  };
  for (const name of names) process.on(name, act);
  return release;
}

/** Call `fn` each time this program goes on after it was stopped (Ctrl-Z). Returns a function that stops it. */
export function onContinue(fn: () => void): () => void {
  process.on('SIGCONT', fn);
  return () => process.off('SIGCONT', fn);
}

/** Signals that are kept back until `release`, however many come. */
export interface HeldSignals {
  /** The first one that came, or null; also one that came while this program was busy. */
  first(): Promise<Interrupt | null>;
  /** Called at each one; at once when one came before. */
  onEach(fn: () => void): void;
  release(): void;
}

/** For work that must not be cut short: nothing ends us by Ctrl-C until it is released. Its owner has a limit of its own. */
export function holdSignals(): HeldSignals {
  let first: Interrupt | null = null;
  let act = (): void => undefined;
  const note = (signal: Interrupt): void => {
    first ??= signal;
    act();
  };
  for (const name of names) process.on(name, note);
  return {
    // Node looks for signals just before what `setImmediate` has been given.
    first: () => new Promise((resolve) => setImmediate(() => resolve(first))),
    onEach(fn) {
      act = fn;
      if (first !== null) fn();
    },
    release() {
      for (const name of names) process.off(name, note);
    },
  };
}

/** Die of a signal that was caught, so that a shell sees what it sees without us (130 for Ctrl-C). */
export function endBySignal(signal: Interrupt): void {
  process.kill(process.pid, signal);
}
