// A sleep that can be ended early. A ring that comes while nobody sleeps is kept for the next sleep, so that whoever subscribes before
// looking misses nothing.

export interface Nap<Why extends string> {
  ring(why: Why): void;
  /** What was rung for since the last sleep (each once); empty when the time was over or the signal came. `deaf` is kept for a later one. */
  sleep(ms: number, deaf?: Why): Promise<readonly Why[]>;
}

/** The longest delay that a timer of Node takes; a longer one would fire at once. */
const longest = 2 ** 31 - 1;

export function makeNap<Why extends string>(signal: AbortSignal): Nap<Why> {
  const rung = new Set<Why>();
  let wake: (why: Why) => void = () => undefined;
  return {
    ring(why) {
      rung.add(why);
      wake(why);
    },
    async sleep(ms, deaf) {
      const heard = (): Why[] => [...rung].filter((why) => why !== deaf);
      if (heard().length === 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const end = (): void => {
            clearTimeout(timer);
            signal.removeEventListener('abort', end);
            wake = () => undefined;
            resolve();
          };
          const timer = setTimeout(end, Math.min(ms, longest));
          wake = (why) => (why === deaf ? undefined : end());
          signal.addEventListener('abort', end);
        });
      }
      const why = heard();
      for (const one of why) rung.delete(one);
      return why;
    },
  };
}
