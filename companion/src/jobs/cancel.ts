// Asking for the end of a job. The request is a file of its own, created once; the worker answers it (a lost worker is replaced
// first). Success is told only after `canceled` is published.
import { errnoOf } from '../core/errors.ts';
import { killSettleMs, taskStatusMs, toolGraceMs } from '../core/limits.ts';
import { defaultEngine, findEngine } from '../engines/registry.ts';
import { isoNow } from '../platform/clock.ts';
import { createFile } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import { ownIdentity } from '../platform/identity.ts';
import { findStopped } from './health-seen.ts';
import { mayAct } from './may-act.ts';
import { isUnasked, refresh, refreshUnasked } from './reconcile.ts';
import { conditionOf, inspect, isEnded, isQueued, type View } from './view.ts';
import { waitForJobs } from './wait.ts';

export interface CancelReply {
  view: View;
  /** `canceled`, had already ended otherwise, or asked for and not settled yet. */
  result: 'canceled' | 'ended_before' | 'requested';
}

export async function cancelJob(
  root: string,
  id: string,
  request: { owner: string | null; why: string | null },
  patienceMs?: number,
): Promise<CancelReply> {
  const before = await beforeOf(root, id);
  if (isEnded(before.state) || isOver(before))
    return { view: before, result: before.state.state === 'canceled' ? 'canceled' : 'ended_before' };
  askFor(before, `${JSON.stringify({ by: ownIdentity(), owner: request.owner, at: isoNow(), why: request.why })}\n`);
  nudge(before);
  await endUnworked(root, id);

  // Grace, then KILL, then 10 s for the processes to vanish, then a moment to store the report.
  const timeoutMs = patienceMs ?? (before.spec?.kill_grace_ms ?? 0) + killSettleMs + 5000 + askingMs(before);
  const { views } = await waitForJobs(root, [id], { mode: 'all', timeoutMs, heartbeatMs: null });
  const [view = before] = views;
  if (view.state.state === 'canceled') return { view, result: 'canceled' };
  return { view, result: isEnded(view.state) ? 'ended_before' : 'requested' };
}

/** A queued job whose worker cannot answer: nothing was started, so its end needs nobody else. */
async function endUnworked(root: string, id: string): Promise<void> {
  const view = inspect(root, id);
  if (!isQueued(view) || !(view.seen.worker === 'dead' || findStopped(view)) || !(await mayAct(view))) return;
  await (await import('./end-queued.ts')).endQueued(root, id);
}

/** Nothing is kept waiting for a status command when there is nothing to cancel. */
async function beforeOf(root: string, id: string): Promise<View> {
  const view = await refreshUnasked(root, id);
  return isEnded(view.state) || isOver(view) ? view : refresh(root, id);
}

/** Its command has ended by itself; only its end is not published. */
function isOver(view: View): boolean {
  return isUnasked(view) && view.reason === undefined && conditionOf(view) === 'over';
}

/** A status command is asked between the end of the tree and the report. */
function askingMs({ spec }: View): number {
  return spec?.run?.status_cmd ? taskStatusMs + toolGraceMs : 0;
}

/** Whoever publishes the end just now clears the folder of temporary files, ours may be among them: then once more. */
function askFor({ paths }: View, text: string): void {
  for (let round = 1; ; round += 1) {
    try {
      createFile(paths.cancel, text);
      return;
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' || round === 3 || !exists(paths.folder)) throw error;
    }
  }
}

/** Wake the worker: SIGURG does nothing to a process that does not listen yet, and the worker looks by itself every second. */
function nudge(view: View): void {
  const engine = findEngine(view.spec?.engine ?? '') ?? defaultEngine;
  for (const identity of [view.launch?.worker, view.worker?.worker]) if (identity) engine.signal(identity, 'SIGURG');
}
