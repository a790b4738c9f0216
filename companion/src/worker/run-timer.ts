// The life of a timer that has somebody to tell: sleep until the instant.
import type { Claim } from './claim.ts';

export async function runTimer(claim: Claim): Promise<void> {
  throw new Error(`not built yet: ${claim.spec.id}`);
}
