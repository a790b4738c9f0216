// Everything that can end a watch from outside: its bound, by the clock; a request to cancel; a folder that is gone. Beside the bound's
// timer it costs one look in five seconds, with the sign of life that is due then; `cancel` is heard at once.
import { leaseMs } from '../core/limits.ts';
import type { EndReason } from '../core/outcome.ts';
import { boundOf } from '../jobs/bound.ts';
import { atMonotonic, monotonicMs } from '../platform/clock.ts';
import { exists } from '../platform/folders.ts';
import { readCancel } from '../store/records.ts';
import { type Claim, renewLease } from './claim.ts';

export type Stop = Extract<EndReason, 'canceled' | 'hard_timeout' | 'state_vanished'>;

/** `stop` may be called at once, and more than once. Returns how to stop listening. */
export function listenForStops({ paths, spec, turn }: Claim, stop: (reason: Stop) => void): () => void {
  const look = (): void => {
    if (!exists(paths.folder)) stop('state_vanished');
    else if (readCancel(paths)) stop('canceled');
  };
  const lease = setInterval(() => {
    renewLease(paths);
    look();
  }, leaseMs);
  process.on('SIGURG', look);
  const bound = boundOf(spec, turn);
  const release = atMonotonic(bound, () => stop('hard_timeout'));
  // A request that came before we listened; it counts more than a bound that passed meanwhile.
  look();
  if (monotonicMs() >= bound) stop('hard_timeout');
  return () => {
    release();
    clearInterval(lease);
    process.off('SIGURG', look);
  };
}
