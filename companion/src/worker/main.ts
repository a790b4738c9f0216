// Entry of the hidden `_worker ROOT ID`. A worker that throws leaves what it knows in worker.log and in an event, and exits; the next
// `wait` replaces it. When that has happened too often the job is ended and called crashed.
import { messageOf } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { killSettleMs, orphanGraceMs, workerFailures } from '../core/limits.ts';
import { concludeAsked } from '../jobs/conclude-asked.ts';
import { treeOf } from '../jobs/tree.ts';
import { inspect, isEnded } from '../jobs/view.ts';
import { removeCgroup } from '../platform/cgroup.ts';
import { terminate } from '../platform/process-tree.ts';
import { openJournal, readEvents } from '../store/journal.ts';
import { hasQueue } from '../store/turn.ts';
import { type Claim, claimJob } from './claim.ts';
import type { Notifier } from './notify.ts';

export type WorkerLog = (text: string) => void;

/** True when the job was looked after to its end (or was none of ours). */
export async function runWorker(root: string, id: string, log: WorkerLog): Promise<boolean> {
  if (!root.startsWith('/') || !isId(id)) throw new Error('usage: _worker ROOT ID');
  let claim: Claim | undefined;
  let notifier: Notifier | undefined;
  let isDone = false;
  try {
    claim = await claimJob(root, id);
    notifier = claim && (await notifierOf(claim));
    if (claim) await Promise.race([look(claim, log), unexpected()]);
    isDone = true;
  } catch (error) {
    log(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    if (claim) await giveUp(claim, messageOf(error));
  } finally {
    if (claim) removeCgroup(claim.cgroup, id);
    claim?.release();
  }
  // Only now: nobody who waits may be kept waiting by it.
  if (notifier) await notifier.finish();
  if (!claim) await tellOwed(root, id);
  return isDone;
}

async function notifierOf(claim: Claim): Promise<Notifier | undefined> {
  if (!claim.spec.notify) return undefined;
  const notifier = (await import('./notify.ts')).makeNotifier(claim);
  claim.onWake = notifier.wake;
  return notifier;
}

/** It ended while we started: whoever ended it relied on us to tell. */
async function tellOwed(root: string, id: string): Promise<void> {
  const { spec, state } = inspect(root, id);
  if (spec?.notify && isEnded(state)) await (await import('./notify.ts')).runNotify(root, id);
}

/** Only what this job needs is loaded. */
async function look(claim: Claim, log: WorkerLog): Promise<void> {
  if (hasQueue(claim.spec) && !(await (await import('./turn.ts')).waitForTurn(claim))) return;
  switch (claim.spec.kind) {
    case 'watch':
      return (await import('./run-watch.ts')).runWatch(claim, log);
    case 'gate':
      return (await import('./run-gate.ts')).runGate(claim);
    case 'timer':
      return (await import('./run-timer.ts')).runTimer(claim);
    case 'loop':
      return (await import('./run-loop.ts')).runLoop(claim, log);
    default:
      return (await import('./supervise.ts')).supervise(claim);
  }
}

/** Whatever is thrown outside of the awaited story. */
function unexpected(): Promise<never> {
  return new Promise((_resolve, reject) => {
    process.on('uncaughtException', reject);
    process.on('unhandledRejection', reject);
  });
}

async function giveUp(claim: Claim, message: string): Promise<void> {
  const { paths, spec, root } = claim;
  openJournal(paths, spec).append('worker_failed', { message });
  const failures = readEvents(paths, 0, 100_000).events.filter((event) => event.type === 'worker_failed').length;
  if (failures < workerFailures) return;
  const view = inspect(root, spec.id);
  const tree = treeOf(spec, paths, { worker: claim.self, shim: view.shim, child: view.child });
  const ended = await terminate(tree, { graceMs: orphanGraceMs, settleMs: killSettleMs });
  const warnings = [{ code: 'worker_failed', message: `the worker failed ${failures} times: ${message}` }];
  const ending = { reason: 'worker_lost' as const, exit: view.exit, tree: ended, reconciled: false, warnings };
  await concludeAsked(claim, ending, tree);
}
