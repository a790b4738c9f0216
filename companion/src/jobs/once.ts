// The second caller of a once-key. The first one may still be launching, may have died on the way, or its job may be long
// ended or cleaned; whatever it is, nothing is started.

import { FaultError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { startLimitMs } from '../core/limits.ts';
import { monotonicMs, sleep } from '../platform/clock.ts';
import { exists, moveFolder } from '../platform/folders.ts';
import { livenessOf } from '../platform/identity.ts';
import { jobPaths, stagePath } from '../store/layout.ts';
import type { OnceClaim } from '../store/once.ts';

/** Wait until the claimant's job has a worker, or until its launcher is dead; then bring its record into place. */
export async function finishClaim(root: string, claim: OnceClaim): Promise<void> {
  if (!isId(claim.id))
    throw new FaultError(
      'state_unusable',
      `cannot use a once-key that names ${JSON.stringify(claim.id)}: that is no job id`,
    );
  const paths = jobPaths(root, claim.id);
  const stage = stagePath(root, claim.id);
  const until = monotonicMs() + startLimitMs;
  while (!exists(paths.launch) && monotonicMs() < until) {
    const isStaged = exists(stage);
    if (!exists(paths.folder) && !isStaged) return; // cleaned
    if (livenessOf(claim.launcher) === 'dead') {
      if (isStaged) moveFolder(stage, paths.folder);
      return;
    }
    await sleep(5);
  }
}
