// Entry of the hidden `_worker ROOT ID`. A worker that throws leaves what it knows in worker.log and in an event, and exits; the next
// `wait` replaces it. When that has happened too often the job is ended and called crashed.
import { messageOf } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { killSettleMs, orphanGraceMs, workerFailures } from '../core/limits.ts';
import { concludeAsked } from '../jobs/conclude-asked.ts';
import { treeOf } from '../jobs/tree.ts';
import { inspect } from '../jobs/view.ts';
import { removeCgroup } from '../platform/cgroup.ts';
import { terminate } from '../platform/process-tree.ts';
import { openJournal, readEvents } from '../store/journal.ts';
import { type Claim, claimJob } from './claim.ts';

export type WorkerLog = (text: string) => void;

/** True when the job was looked after to its end (or was none of ours). */
export async function runWorker(root: string, id: string, log: WorkerLog): Promise<boolean> {
  if (!root.startsWith('/') || !isId(id)) throw new Error('usage: _worker ROOT ID');
  let claim: Claim | undefined;
  try {
    claim = await claimJob(root, id);
    if (claim) await Promise.race([look(claim, log), unexpected()]);
    return true;
  } catch (error) {
    log(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    if (claim) await giveUp(claim, messageOf(error));
    return false;
  } finally {
    if (claim) removeCgroup(claim.cgroup, id);
    claim?.release();
  }
}

/** Only what this job needs is loaded. */
async function look(claim: Claim, log: WorkerLog): Promise<void> {
  switch (claim.spec.kind) {
    case 'watch':
      return (await import('./run-watch.ts')).runWatch(claim, log);
    case 'timer':
      return (await import('./run-timer.ts')).runTimer(claim);
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
