// The seal of a registration: waiters/ lies where an agent may write, so what a file says of ids, causes and patience counts only with a MAC made
// with the user's key over all of it. Without one the command line of the process must say it.
import { macOfShort, readKey, sameMac } from '../store/mac.ts';

/** Null when there is no key that can be read. */
export function sealOf(note: Record<string, unknown>): string | null {
  try {
    const key = readKey();
    // As it is read again.
    return key === undefined ? null : macOfShort({ what: 'waiter', note: JSON.parse(JSON.stringify(note)) }, key);
  } catch {
    return null;
  }
}

export function isSealed({ seal, ...note }: Record<string, unknown>): boolean {
  if (typeof seal !== 'string') return false;
  const expected = sealOf(note);
  return expected !== null && sameMac(expected, seal);
}
