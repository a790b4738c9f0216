// What the jobs of a queue do for each other, so that nobody else needs to look: whoever is behind a waiting job starts a new worker for
// it when its own is gone; the first of the queue publishes the ends of jobs at work of which nothing lives, and has those taken up that
// were let go and never begun. What cannot be helped from here holds nobody up for ever (queue.ts).
import { FaultError } from '../core/errors.ts';
import { jobPaths } from '../store/layout.ts';
import { attachWorker } from './attach.ts';
import { type QueueMemory, type Standing, workerOf } from './queue.ts';
import { isSettleable, refresh } from './reconcile.ts';
import { conditionOf, inspect } from './view.ts';

/** True when something changed by it. */
export async function careForQueue(root: string, { ahead, atWork }: Standing, memory: QueueMemory): Promise<boolean> {
  let isChanged = false;
  // Up to the next living one: that one looks after those before it.
  for (const id of [...ahead].reverse()) {
    if (workerOf(jobPaths(root, id)) !== 'dead') break;
    isChanged = (await attachTo(root, id)) || isChanged;
  }
  if (ahead.length > 0) return isChanged;
  for (const { id, condition } of atWork) {
    if (condition === 'unclaimed') isChanged = (await attachTo(root, id)) || isChanged;
    if (!isSettleable(condition)) continue;
    const now = await unlessGone(() => refresh(root, id));
    if (now && isSettleable(conditionOf(now))) memory.unsettled.add(id);
    isChanged = true;
  }
  return isChanged;
}

/** A new worker for a job that has none and was not begun; true when it needs none any more. */
async function attachTo(root: string, id: string): Promise<boolean> {
  const now = await unlessGone(async () => {
    await attachWorker(inspect(root, id), (view) => conditionOf(view) === 'unclaimed');
    return inspect(root, id);
  });
  return !now || conditionOf(now) !== 'unclaimed';
}

async function unlessGone<T>(act: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof FaultError && error.code === 'unknown_job') return undefined;
    throw error;
  }
}
