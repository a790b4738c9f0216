// One match of a caller's pattern on a text of others, within a time: a pattern like (a+)+$ can take longer than the universe, and a
// regular expression cannot be stopped from inside its own thread. `vm` can: it looks at a clock of another thread.
import { errnoOf } from '../core/errors.ts';
import { patternMs } from '../core/limits.ts';
import { patternFlags } from '../core/pattern.ts';

/** `slow`: not decided within the time. */
export async function matchPattern(pattern: string, text: string, limitMs = patternMs): Promise<boolean | 'slow'> {
  const at = await matchAt(pattern, text, limitMs);
  return at === 'slow' ? at : at >= 0;
}

/** Where the first match begins, or -1. */
export async function matchAt(pattern: string, text: string, limitMs = patternMs): Promise<number | 'slow'> {
  const { runInNewContext } = await import('node:vm');
  try {
    const words = { pattern, flags: patternFlags, text };
    const at: unknown = runInNewContext('text.search(new RegExp(pattern, flags))', words, { timeout: limitMs });
    return typeof at === 'number' ? at : -1;
  } catch (error) {
    if (errnoOf(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'slow';
    throw error;
  }
}
