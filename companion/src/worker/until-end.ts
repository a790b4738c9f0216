// The time between the start of the child and its end: what is looked at meanwhile, and the reasons to stop it. Whoever comes first - the
// end of the shim, the hard limit, a reason of due.ts - decides.
import { type EndReason, parseReason } from '../core/outcome.ts';
import { neighbourWarnings } from '../jobs/writers.ts';
import { atMonotonic } from '../platform/clock.ts';
import { readExit, readReason } from '../store/records.ts';
import type { Agent } from './agent.ts';
import type { Child } from './child.ts';
import type { Claim } from './claim.ts';
import { makeDueLook } from './due.ts';
import type { Follower } from './follow.ts';
import type { Progress } from './progress.ts';
import { claimReason } from './stop.ts';
import { makeTicker } from './ticker.ts';

/** Until the shim is gone or somebody has a reason to stop it. */
export async function untilEnd(
  claim: Claim,
  progress: Progress,
  child: Child,
  follower: Follower,
  agent: Agent | undefined,
): Promise<EndReason> {
  const { paths, spec } = claim;
  const releases: (() => void)[] = [];
  try {
    return await new Promise<EndReason>((resolve) => {
      void child.ended.then(() => resolve(parseReason(readReason(paths)) ?? 'exited'));
      // An earlier worker has begun to end the tree: go on with that.
      const told = readExit(paths) ? undefined : parseReason(readReason(paths));
      if (told !== undefined) resolve(told);
      let hasStopped = false;
      const stop = (wanted: EndReason): void => {
        if (hasStopped) return;
        hasStopped = true;
        const reason = wanted === 'state_vanished' ? wanted : claimReason(claim, wanted);
        if (reason !== undefined) resolve(reason);
      };
      releases.push(atMonotonic(spec.deadline_mono_ms, () => stop('hard_timeout')));
      const isDue = makeDueLook(claim, follower, agent);
      const tick = (): void => {
        follower.tick();
        tellNewNeighbours(claim, progress);
        const reason = isDue();
        if (reason !== undefined) stop(reason);
      };
      releases.push(makeTicker(claim, tick));
    });
  } finally {
    for (const release of releases) release();
  }
}

/** Who began to write beside us since the last look. */
function tellNewNeighbours({ root, paths, spec }: Claim, progress: Progress): void {
  if (!spec.staff) return;
  const { warnings } = progress.state;
  const fresh = neighbourWarnings(root, paths).filter(
    (one) => !warnings.some((known) => known.message === one.message),
  );
  if (fresh.length > 0) progress.note('two_writers', { warnings: fresh }, { warnings: [...warnings, ...fresh] });
}
