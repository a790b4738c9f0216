// Publishing the end of a job that nobody supervises any more: what is left of its tree is ended, and the files say how it ended.
import { errnoOf, FaultError } from '../core/errors.ts';
import { isWorkerOnly } from '../core/job.ts';
import { drainMs, killSettleMs, orphanGraceMs } from '../core/limits.ts';
import { type EndReason, parseReason } from '../core/outcome.ts';
import { findCgroup, removeCgroup } from '../platform/cgroup.ts';
import { removeFile } from '../platform/files.ts';
import { withLock } from '../platform/lock.ts';
import { terminate } from '../platform/process-tree.ts';
import { specAtTurn } from './bound.ts';
import { finishStored } from './conclude.ts';
import { concludeAsked } from './conclude-asked.ts';
import { mayAct } from './may-act.ts';
import { endShim } from './shim-end.ts';
import { concludeTimer } from './timer-end.ts';
import { treeOf } from './tree.ts';
import { type Condition, conditionOf, inspect, type View } from './view.ts';
import { storedVerdict } from './watch-verdict.ts';

/** `isDue` is asked again under the lock. `isStrict`: a disk without room for the end is an error, not just bad luck. */
export async function settleJob(view: View, isDue: (now: View) => boolean, isStrict: boolean): Promise<void> {
  if (!(await mayAct(view))) return;
  const act = (): Promise<void> =>
    withLock(view.paths.lock, async () => {
      const now = inspect(view.root, view.id);
      if (isDue(now)) await settle(now);
    });
  try {
    await act();
  } catch (error) {
    if (isFull(error)) return settleFull(view, act, isStrict);
    // Somebody else is at it; comparing a large worktree takes longer than a lock is waited for. The caller looks again.
    if (!isOutOfReach(error) && !isBusy(error)) throw error;
  }
}

/** Once more with the space that was set aside for this moment. */
async function settleFull(view: View, act: () => Promise<void>, isStrict: boolean): Promise<void> {
  removeFile(view.paths.reserve);
  try {
    await act();
  } catch (error) {
    if (!isFull(error)) throw error;
    if (isStrict) throw fullError(view);
  }
}

/** What a watch saw last; of a command, why its shim ended before its child began. */
function detailOf({ spec, state }: View): string {
  if (spec && isWorkerOnly(spec) && spec.kind !== 'watch') return 'its bound passed while nobody looked after it';
  if (spec?.kind !== 'watch') return 'the shell that was to start it ended before';
  return state.watch?.evidence ?? 'nobody looked';
}

async function settle(view: View): Promise<void> {
  const condition = conditionOf(view);
  if (!view.spec) return;
  if (view.spec.timer) return concludeTimer({ paths: view.paths, spec: view.spec }, true);
  if (finishStored({ paths: view.paths, spec: view.spec })) {
    removeCgroup(view.worker?.cgroup ?? findCgroup(view.id), view.id);
    return;
  }
  const tree = treeOf(view.spec, view.paths, { worker: null, shim: view.shim, child: view.child });
  const isOver = condition === 'over' && view.reason === undefined && view.spec.run?.keep_children;
  const ended = isOver
    ? nothing
    : await terminate(tree, { graceMs: condition === 'over' ? drainMs : orphanGraceMs, settleMs: killSettleMs });
  await endShim(view.shim, view.spec.mark);
  removeCgroup(view.worker?.cgroup ?? findCgroup(view.id), view.id);
  // A watch whose worker was killed after its verdict and before its end.
  const stored = view.spec.watch ? await storedVerdict(view.paths, view.id) : undefined;
  await concludeAsked(
    { paths: view.paths, spec: specAtTurn(view.spec, view.turn) },
    {
      reason: stored?.end.reason ?? settledReason(view, condition),
      exit: view.exit,
      tree: ended,
      reconciled: true,
      detail: stored?.end.detail ?? detailOf(view),
      ...(stored ? { watch: stored.note } : {}),
    },
    tree,
  );
}

const nothing = { step: 'none' as const, ended: [], survivors: [] };

/** What was written before the first signal comes first; then what is on disk; a request alone counts when nothing else is known. */
function settledReason(view: View, condition: Condition): EndReason {
  const isOwn = view.spec !== null && isWorkerOnly(view.spec);
  const told = isOwn ? undefined : parseReason(view.reason);
  if (told) return told;
  if (condition === 'over') return 'exited';
  if (view.cancel) return 'canceled';
  if (condition === 'never_started' || condition === 'host_restarted') return condition;
  if (isOwn) return 'hard_timeout';
  // The child writes its mark just before the program begins.
  if (view.child === null) return 'spawn_failed';
  return 'worker_lost';
}

function fullError(view: View): FaultError {
  const code = view.exit ? ` (its command ended with exit code ${view.exit.exit_code})` : '';
  return new FaultError(
    'state_unusable',
    `cannot store the end of job ${view.id}${code}: no space left in ${view.paths.folder}`,
    'make room and ask again',
  );
}

function isBusy(error: unknown): boolean {
  return error instanceof FaultError && error.code === 'busy';
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
}

/** The folder cannot be written from here after all (read-only mount, another user's): then we only report. */
function isOutOfReach(error: unknown): boolean {
  return ['EROFS', 'EACCES', 'EPERM', 'ENOENT'].includes(errnoOf(error) ?? '');
}
