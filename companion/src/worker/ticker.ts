// The worker's clock: a look each second, and at once when `cancel` wakes us; the lease every five. Costs an idle worker a
// few file looks a second.
import { leaseMs } from '../core/limits.ts';
import { type Claim, renewLease } from './claim.ts';

export function makeTicker(claim: Claim, tick: () => void, everyMs = 1000): () => void {
  const second = setInterval(tick, everyMs);
  const release = keepLease(claim);
  process.on('SIGURG', tick);
  // A request that came before we listened.
  const first = setTimeout(tick, 0);
  return () => {
    clearInterval(second);
    release();
    clearTimeout(first);
    process.off('SIGURG', tick);
  };
}

/** Signs of life alone. */
export function keepLease(claim: Claim): () => void {
  const lease = setInterval(() => renewLease(claim.paths), leaseMs);
  return () => clearInterval(lease);
}
