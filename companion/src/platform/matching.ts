// One match of a caller's pattern on a text of others, within a time: a pattern like (a+)+$ can take longer than the universe, and a
// regular expression cannot be stopped from inside its own thread. `vm` can: it looks at a clock of another thread.
import { errnoOf } from '../core/errors.ts';
import { patternMs } from '../core/limits.ts';
import { patternFlags } from '../core/pattern.ts';

/** `slow`: not decided within the time. */
export async function matchPattern(pattern: string, text: string, limitMs = patternMs): Promise<boolean | 'slow'> {
  const { runInNewContext } = await import('node:vm');
  try {
    const words = { pattern, flags: patternFlags, text };
    return runInNewContext('new RegExp(pattern, flags).test(text)', words, { timeout: limitMs }) === true;
  } catch (error) {
    if (errnoOf(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'slow';
    throw error;
  }
}
