// The life of a watch: look, tell what is new, sleep, until the verdict or the bound.
import type { Claim } from './claim.ts';

export async function runWatch(claim: Claim): Promise<void> {
  throw new Error(`not built yet: ${claim.spec.id}`);
}
