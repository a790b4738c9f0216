// The shim and the child behind it, started now or found from an earlier worker. Whoever started them: `ended` comes true
// when the shim is gone (exit.json is there before that, unless the shim was killed).
import type { Identity } from '../core/job.ts';
import { startLimitMs } from '../core/limits.ts';
import { monotonicMs, sleep } from '../platform/clock.ts';
import { watchFifo } from '../platform/fifo.ts';
import { closeFile, openAppend } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import { livenessOf } from '../platform/identity.ts';
import { type PidBaseline, takeBaseline } from '../platform/pid-baseline.ts';
import { spawnShim } from '../platform/spawn.ts';
import { readMark } from '../store/records.ts';
import type { Claim } from './claim.ts';
import type { ChildPlan } from './plan.ts';
import script from './shim.sh';

export interface Child {
  shim: Identity | null;
  child: Identity | null;
  ended: Promise<void>;
  /** What existed before the child; only the worker that started it knows. */
  baseline: PidBaseline | null;
  /** It was started by this worker. */
  isOurs: boolean;
}

/** Start the shim. When another shim has the claim already, attach to that one. */
export async function startChild(claim: Claim, plan: ChildPlan): Promise<Child> {
  const { paths, spec } = claim;
  for (const file of [paths.output, paths.error]) closeFile(openAppend(file));
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const rest = Math.max(0, spec.deadline_mono_ms - monotonicMs());
  const baseline = takeBaseline();
  const pid = await spawnShim(
    {
      script,
      args: [
        paths.folder,
        // The guard comes a little later than a living worker, which knows the tree better.
        String(Math.ceil(rest / 1000) + 1),
        String(Math.ceil(spec.kill_grace_ms / 1000) + 1),
        plan.input,
        process.umask().toString(8).padStart(4, '0'),
        // What a detaching launcher left behind must outlive the limit.
        spec.run?.status_cmd ? '' : spec.mark,
        claim.cgroup ?? '',
        plan.program,
        ...plan.args,
      ],
      cwd: spec.cwd,
      environment: plan.environment,
    },
    end,
  );
  await untilMarked(claim, ended);
  const shim = readMark(paths.shimMark, claim.self);
  // A shim of an earlier worker had the claim already, and ours has left.
  if (shim?.pid !== pid) return attachChild(claim);
  return { shim, child: readMark(paths.childMark, claim.self) ?? null, ended, baseline, isOurs: true };
}

/** Take over a shim that an earlier worker started. */
export async function attachChild(claim: Claim): Promise<Child> {
  const { paths } = claim;
  await untilMarked(claim, new Promise(() => undefined));
  const shim = readMark(paths.shimMark, claim.self) ?? null;
  const ended = new Promise<void>((resolve) => {
    let close: (() => void) | undefined;
    const done = (): void => {
      clearInterval(timer);
      close?.();
      resolve();
    };
    const look = (): void => {
      if (!shim || livenessOf(shim) === 'dead') done();
    };
    // The FIFO tells at once; the slow look stands behind it for file systems without FIFOs.
    const timer = setInterval(look, 1000);
    void watchFifo(paths.aliveFifo, () => setTimeout(done, 0)).then((stop) => {
      close = stop;
      look();
    });
  });
  return { shim, child: readMark(paths.childMark, claim.self) ?? null, ended, baseline: null, isOurs: false };
}

/** The shim writes its mark and the child's within a few milliseconds; a dead or ended one writes no more. */
async function untilMarked(claim: Claim, ended: Promise<void>): Promise<void> {
  const { paths } = claim;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const until = monotonicMs() + startLimitMs;
  for (let pause = 4; !isOver && monotonicMs() < until && !exists(paths.exit); pause = Math.min(pause * 2, 64)) {
    const shim = readMark(paths.shimMark, claim.self);
    if (shim && readMark(paths.childMark, claim.self)) return;
    if (shim && livenessOf(shim) === 'dead') return;
    await sleep(pause);
  }
}
