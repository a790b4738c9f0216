// Ctrl-C during a wait ends the wait and not the job. Whoever pressed it may think otherwise: say so, and how to collect.
import { nextCommand, nextCommands } from '../jobs/next-commands.ts';
import { endBySignal, onInterrupt } from '../platform/interrupt.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context } from './command.ts';

/** Run `wait`; a signal meanwhile ends this process by that signal, as ever, but not without a word. */
export async function withFarewell<T>(
  context: Pick<Context, 'tell' | 'live'>,
  root: StateRoot,
  ids: readonly string[],
  wait: () => Promise<T>,
): Promise<T> {
  const release = onInterrupt((signal) => {
    try {
      context.live?.('');
      context.tell(farewell(root, ids));
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

function farewell(root: StateRoot, ids: readonly string[]): string {
  const [first = ''] = ids;
  if (ids.length === 1) return `job ${first} runs on; collect it with:\n${nextCommands.wait(first, root.option)}`;
  const command = nextCommand(root.option, 'wait', ...ids, '--all', '--timeout', '10m');
  return `the ${ids.length} jobs run on; collect them with:\n${command}`;
}
