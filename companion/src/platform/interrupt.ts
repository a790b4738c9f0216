// A person's Ctrl-C (or a TERM) while something must still be put in order.

type Interrupt = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Call `fn` once instead of dying. A second signal ends us as ever. Returns a function that gives the signals back. */
export function onInterrupt(fn: (signal: Interrupt) => void): () => void {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
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

/** Die of a signal that was caught, so that a shell sees what it sees without us (130 for Ctrl-C). */
export function endBySignal(signal: Interrupt): void {
  process.kill(process.pid, signal);
}
