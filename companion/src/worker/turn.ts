// The turn of a job in its queue (`--max-live`): its worker waits here before anything of the job is started.
import type { Claim } from './claim.ts';

/** False when the job ended while it was queued. */
export async function waitForTurn(_claim: Claim): Promise<boolean> {
  return true;
}
