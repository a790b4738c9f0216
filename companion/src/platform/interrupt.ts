// A person's Ctrl-C (or a TERM) while something must still be put in order.

/** Call `fn` once instead of dying. A second signal ends us as ever. Returns a function that gives the signals back. */
export function onInterrupt(fn: () => void): () => void {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const release = (): void => {
    for (const name of names) process.off(name, act);
  };
  const act = (): void => {
    release();
    fn();
  };
  for (const name of names) process.on(name, act);
  return release;
}
