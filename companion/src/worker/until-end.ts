// The time between the start of the child and its end: what is looked at meanwhile, and the reasons to stop it. Whoever comes first - the
// end of the shim, the hard limit, a reason of due.ts - decides.
import { type EndReason, parseReason } from '../core/outcome.ts';
import { reviveShim, type ShimPair } from '../jobs/shim-end.ts';
import { neighbourWarnings } from '../jobs/writers.ts';
import { atMonotonic } from '../platform/clock.ts';
import { readExit, readMark, readReason } from '../store/records.ts';
import type { Agent } from './agent.ts';
import type { Child } from './child.ts';
import type { Claim } from './claim.ts';
import { type Due, makeDueLook } from './due.ts';
import type { Follower } from './follow.ts';
import type { HandbackTeller } from './handback.ts';
import type { Judging } from './judging.ts';
import type { Progress } from './progress.ts';
import { claimReason } from './stop.ts';
import { makeTicker } from './ticker.ts';

/** A shim that goes on needs some milliseconds for its last word. */
const reviveMs = 2000;

/** Until the shim is gone or somebody has a reason to stop it. */
export async function untilEnd(
  claim: Claim,
  progress: Progress,
  child: Child,
  follower: Follower,
  agent: Agent | undefined,
): Promise<Due> {
  const { paths, spec } = claim;
  const releases: (() => void)[] = [];
  try {
    return await new Promise<Due>((resolve) => {
      void child.ended.then(() => resolve({ reason: parseReason(readReason(paths)) ?? 'exited' }));
      // An earlier worker has begun to end the tree: go on with that.
      const told = readExit(paths) ? undefined : parseReason(readReason(paths));
      if (told !== undefined) resolve({ reason: told });
      // The mark of a child whose shim was slow may have come since.
      const pair = (): ShimPair => ({
        mark: spec.mark,
        shim: child.shim,
        child: child.child ?? readMark(paths.childMark, claim.self) ?? null,
      });
      let hasStopped = false;
      const stop = (wanted: EndReason, detail?: string): void => {
        if (hasStopped) return;
        hasStopped = true;
        // Its command had ended before: then that is the end of it, as soon as the shim has said so.
        if (wanted !== 'state_vanished' && reviveShim(pair())) {
          const late = setTimeout(() => end(wanted, detail), reviveMs);
          releases.push(() => clearTimeout(late));
        } else end(wanted, detail);
      };
      const end = (wanted: EndReason, detail?: string): void => {
        const reason = wanted === 'state_vanished' ? wanted : claimReason(claim, wanted);
        if (reason !== undefined) resolve(reason === wanted && detail !== undefined ? { reason, detail } : { reason });
      };
      releases.push(atMonotonic(spec.deadline_mono_ms, () => stop('hard_timeout')));
      const judging = startJudging(claim, progress, child);
      releases.push(judging.stop);
      const handback = startHandback(claim, progress);
      releases.push(handback.stop);
      const findDue = makeDueLook(claim, follower, agent, judging.stalled);
      const tick = (): void => {
        follower.tick();
        tellNewNeighbours(claim, progress);
        handback.look();
        reviveShim(pair());
        const due = findDue();
        if (due) stop(due.reason, due.detail);
      };
      releases.push(makeTicker(claim, tick));
    });
  } finally {
    for (const release of releases) release();
  }
}

/** Loaded beside everything else: many a command is over before. */
function startJudging(claim: Claim, progress: Progress, child: Child): Judging {
  const { run, staff } = claim.spec;
  let judging: Judging | undefined;
  let stopWatching: (() => void) | undefined;
  let isOver = false;
  if (staff)
    void import('./agent-liveness.ts').then(({ watchLiveness }) => {
      if (!isOver) stopWatching = watchLiveness(claim, progress, child);
    });
  if (run)
    void import('./judging.ts').then((loaded) => {
      if (!isOver) judging = loaded.startJudging(claim, progress, child, run);
    });
  return {
    stalled: () => judging?.stalled(),
    stop: () => {
      isOver = true;
      judging?.stop();
      stopWatching?.();
    },
  };
}

/** Of an agent that hands things back; loaded for it alone. */
function startHandback(claim: Claim, progress: Progress): HandbackTeller {
  let teller: HandbackTeller | undefined;
  let isOver = false;
  if (claim.spec.handback)
    void import('./handback.ts').then((loaded) => {
      if (!isOver) teller = loaded.tellHandback(claim, progress);
    });
  return {
    look: () => teller?.look(),
    stop: () => {
      isOver = true;
      teller?.stop();
    },
  };
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
