// A new worker for a job that lost its own.
import { errnoOf } from '../core/errors.ts';
import { promptReplacements } from '../core/limits.ts';
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
    // No room for a new worker's word: the command runs on under its shim, and the next look tries again.
    if (!['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '')) throw error;
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
  await startWorker(view.root, view.spec, view, generation);
}
