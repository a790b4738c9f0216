// Ctrl-C during a wait ends the wait and not the job. Whoever pressed it may think otherwise: say so, and how to collect.
import { endBySignal, onInterrupt } from '../platform/interrupt.ts';
import type { Context } from './command.ts';

/** Run `wait`; a signal meanwhile ends this process by that signal, as ever, but not without a word. `again` is the command that collects. */
export async function withFarewell<T>(
  context: Pick<Context, 'tell' | 'live'>,
  ids: readonly string[],
  again: () => string,
  wait: () => Promise<T>,
): Promise<T> {
  const release = onInterrupt((signal) => {
    try {
      context.live?.('');
      context.tell(`${farewell(ids)}\n${again()}`);
    } catch {
      // The terminal went away with the signal: nobody is left to tell.
    }
    endBySignal(signal);
  });
  try {
    return await wait();
  } finally {
    release();
  }
}

function farewell(ids: readonly string[]): string {
  if (ids.length === 1) return `job ${ids[0]} runs on; collect it with:`;
  return `the ${ids.length} jobs run on; collect them with:`;
}
