// A new worker for a job that lost its own.
import { FaultError } from '../core/errors.ts';
import { promptReplacements } from '../core/limits.ts';
import { defaultEngine, findEngine } from '../engines/registry.ts';
import { nowMs } from '../platform/clock.ts';
import { factsOf } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import { mayAct } from './may-act.ts';
import { startWorker } from './start-worker.ts';
import { inspect, type View } from './view.ts';

/** `isDue` is asked again under the lock: ten callers at once make one worker. */
export async function attachWorker(view: View, isDue: (now: View) => boolean): Promise<void> {
  if (!(await mayAct(view))) return;
  try {
    await withLock(view.paths.lock, async () => {
      const now = inspect(view.root, view.id);
      if (isDue(now)) await attach(now);
    });
  } catch (error) {
    // No room for a new worker's word, no process to be had, this program's own file gone: the command runs on under its shim, its
    // end will be settled from the files, and the next look tries again.
    // So it does when somebody else holds the lock for long.
    if (error instanceof FaultError && error.code !== 'busy') throw error;
  }
}

async function attach(view: View): Promise<void> {
  if (!view.spec) return;
  const generation = (view.launch?.generation ?? 1) + 1;
  // The first replacements come at once; one that dies again and again is tried at growing intervals.
  const pause =
    generation <= promptReplacements ? 0 : Math.min(60_000, 1000 * 2 ** (generation - promptReplacements - 1));
  const facts = factsOf(view.paths.launch);
  if (facts && nowMs() - facts.modifiedMs < pause) return;
  // Only a worker that hangs before it took the job can be alive here.
  if (view.launch) (findEngine(view.spec.engine) ?? defaultEngine).signal(view.launch.worker, 'SIGKILL');
  await startWorker(view.root, view.spec, view, generation);
}
