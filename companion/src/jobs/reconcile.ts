// A reader's two rights (contract 5, 7): to settle a job whose worker and child are provably gone, and to re-attach a worker to one
// whose shim lives on or was never started. Both only in the job's own pid namespace, with the folder writable, under
// the job's lock, after a second look. Everything else a reader only reports.
import { errnoOf, FaultError } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { drainMs, killSettleMs, orphanGraceMs, promptReplacements } from '../core/limits.ts';
import { type EndReason, parseReason } from '../core/outcome.ts';
import { defaultEngine, findEngine } from '../engines/registry.ts';
import { removeCgroup } from '../platform/cgroup.ts';
import { nowMs } from '../platform/clock.ts';
import { writeJson } from '../platform/files.ts';
import { factsOf, isWritable } from '../platform/folders.ts';
import { pidNamespace } from '../platform/identity.ts';
import { withLock } from '../platform/lock.ts';
import { terminate } from '../platform/process-tree.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { conclude } from './conclude.ts';
import { treeOf } from './tree.ts';
import { type Condition, conditionOf, inspect, type View } from './view.ts';

const settled: readonly Condition[] = ['over', 'lost', 'host_restarted', 'never_started'];
const attachable: readonly Condition[] = ['orphaned', 'unclaimed'];

/** Look at a job; publish its end when it is provably over and nobody did. Never starts anything. */
export async function refresh(root: string, id: string): Promise<View> {
  const view = inspect(root, id);
  if (!settled.includes(conditionOf(view)) || !(await mayAct(view))) return view;
  try {
    await withLock(view.paths.lock, () => settle(inspect(root, id)));
  } catch (error) {
    if (isFull(error)) throw fullError(view);
    if (!isOutOfReach(error)) throw error;
  }
  return inspect(root, id);
}

/** As `refresh`, and a lost worker is replaced. For `wait` and `cancel`. */
export async function refreshAttached(root: string, id: string): Promise<View> {
  const view = await refresh(root, id);
  if (!attachable.includes(conditionOf(view)) || !(await mayAct(view))) return view;
  await withLock(view.paths.lock, () => reattach(inspect(root, id)));
  return inspect(root, id);
}

/** Only here, only with our own spec (a changed one could name another job's processes). */
async function mayAct(view: View): Promise<boolean> {
  if (!view.spec || !isWritable(view.paths.folder)) return false;
  const namespace = view.worker?.worker.pid_ns ?? view.launch?.worker.pid_ns ?? view.spec.launcher.pid_ns;
  const isHere = namespace === pidNamespace() || view.isOtherBoot;
  return (isHere || conditionOf(view) === 'lost') && (await isGenuine(view.spec, readKey()));
}

async function settle(view: View): Promise<void> {
  const condition = conditionOf(view);
  if (!settled.includes(condition) || !view.spec) return;
  const tree = treeOf(view.spec, view.paths, { worker: null, shim: view.shim, child: view.child });
  const isOver = condition === 'over' && view.spec.run?.keep_children;
  const ended = isOver
    ? { step: 'none' as const, ended: [], survivors: [] }
    : await terminate(tree, { graceMs: condition === 'over' ? drainMs : orphanGraceMs, settleMs: killSettleMs });
  removeCgroup(view.worker?.cgroup ?? null, view.id);
  conclude(
    { paths: view.paths, spec: view.spec },
    { reason: settledReason(view, condition), exit: view.exit, tree: ended, reconciled: true },
  );
}

/** What was written before the first signal comes first; then what is on disk; a request alone counts when nothing else is known. */
function settledReason(view: View, condition: Condition): EndReason {
  const told = parseReason(view.reason);
  if (told) return told;
  if (condition === 'over') return 'exited';
  if (view.cancel) return 'canceled';
  if (condition === 'never_started' || condition === 'host_restarted') return condition;
  return 'worker_lost';
}

async function reattach(view: View): Promise<void> {
  if (!attachable.includes(conditionOf(view)) || !view.spec) return;
  const generation = (view.launch?.generation ?? 1) + 1;
  // The first replacements come at once; one that dies again and again is tried at growing intervals.
  const pause =
    generation <= promptReplacements ? 0 : Math.min(60_000, 1000 * 2 ** (generation - promptReplacements - 1));
  const facts = factsOf(view.paths.launch);
  if (facts && nowMs() - facts.modifiedMs < pause) return;
  await startWorker(view.root, view.spec, view, generation);
}

/** Start a worker and write down who it is. The caller holds the lock, or is the launcher. */
export async function startWorker(
  root: string,
  spec: Spec,
  job: { paths: View['paths'] },
  generation: number,
): Promise<void> {
  const engine = findEngine(spec.engine) ?? defaultEngine;
  const worker = await engine.start({ stateRoot: root, id: spec.id, mark: spec.mark, logFile: job.paths.workerLog });
  // Not forced to the disk: after a power loss the worker is gone, and the record says so without this file.
  writeJson(job.paths.launch, { worker, generation }, { sync: false });
}

function fullError(view: View): FaultError {
  const code = view.exit ? ` (its command ended with exit code ${view.exit.exit_code})` : '';
  return new FaultError(
    'state_unusable',
    `cannot store the end of job ${view.id}${code}: no space left in ${view.paths.folder}`,
    'make room and ask again',
  );
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
}

/** The folder cannot be written from here after all (read-only mount, another user's): then we only report. */
function isOutOfReach(error: unknown): boolean {
  return ['EROFS', 'EACCES', 'EPERM', 'ENOENT'].includes(errnoOf(error) ?? '');
}
