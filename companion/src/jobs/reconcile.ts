// A reader's two rights (contract 5, 7): to settle a job whose worker and child are provably gone, and to re-attach a worker to one
// whose shim lives on or was never started. Both only in the job's own pid namespace, with the folder writable, under
// the job's lock, after a second look. Everything else a reader only reports. What acts is loaded only when it is needed.
import { leaseStaleMs } from '../core/limits.ts';
import { removeFile } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import { damagedState } from './early-state.ts';
import { type Condition, conditionOf, inspect, isEnded, type View } from './view.ts';

const settled: readonly Condition[] = ['over', 'lost', 'host_restarted', 'never_started'];
/** Nothing of the job lives: what is left is to publish its end. */
export function isSettleable(condition: Condition): boolean {
  return settled.includes(condition);
}

const attachable: readonly Condition[] = ['orphaned', 'unclaimed'];

/**
 * Look at a job; publish its end when it is provably over and nobody did. Starts nothing of the job; a notifier whose worker did not live
 * to start it is started.
 */
export async function refresh(root: string, id: string, isStrict = false): Promise<View> {
  const view = await refreshRecord(root, id, isStrict);
  if (mayOweNotice(view)) await (await import('./owed-notice.ts')).startOwedNotice(view);
  return view;
}

/**
 * As `refresh`, for whoever only looks: the end of a run whose launcher is to be asked how its task stands is left to `wait`, because the
 * answer may take its time.
 */
export async function refreshUnasked(root: string, id: string): Promise<View> {
  const view = inspect(root, id);
  return isUnasked(view) ? unlessForged(view) : refresh(root, id);
}

/** It is over, and a status command stands between it and its published end. */
export function isUnasked(view: View): boolean {
  return Boolean(view.spec?.run?.status_cmd) && isSettleable(conditionOf(view));
}

function mayOweNotice({ spec, state, damage }: View): boolean {
  return Boolean(spec?.notify) && damage === null && isEnded(state);
}

async function refreshRecord(root: string, id: string, isStrict: boolean): Promise<View> {
  const view = inspect(root, id);
  const condition = conditionOf(view);
  if (condition === 'ended') dropMarker(view);
  if (!isSettleable(condition)) return condition === 'unclaimed' ? unlessForged(view) : view;
  const { settleJob } = await import('./settle.ts');
  await settleJob(view, (now) => isSettleable(conditionOf(now)), isStrict);
  const now = inspect(root, id);
  return nobodyComes.includes(conditionOf(now)) ? unlessForged(now) : now;
}

/** Nothing of it lives, and who comes next comes only to its own launcher's spec. */
const nobodyComes: readonly Condition[] = [...settled, 'unclaimed'];

/** That a record cannot be trusted must be seen, or its caller waits for ever: nobody will settle it, or take it over. */
async function unlessForged(view: View): Promise<View> {
  const { isForged } = await import('./may-act.ts');
  if (!(await isForged(view))) return view;
  const damage = 'spec.json was changed, or comes from another user or machine';
  return { ...view, spec: null, damage, state: damagedState(view.id, damage) };
}

/** As `refresh`, and a lost worker is replaced. For `wait` and `cancel`. */
export async function refreshAttached(root: string, id: string): Promise<View> {
  const view = await refresh(root, id, true);
  if (view.damage !== null) return view;
  const isDue = (now: View): boolean => attachable.includes(conditionOf(now)) || isHung(now);
  if (!isDue(view)) return view;
  const { attachWorker } = await import('./attach.ts');
  await attachWorker(view, isDue);
  return inspect(root, id);
}

/** The last step of an end that its worker did not live to take. */
function dropMarker(view: View): void {
  if (!exists(view.paths.marker)) return;
  try {
    removeFile(view.paths.reserve);
    removeFile(view.paths.marker);
  } catch {
    // A folder that cannot be written from here: the state says it all the same.
  }
}

/** A worker that exists and never took its job: nothing was started, so another one may. */
function isHung(view: View): boolean {
  if (conditionOf(view) !== 'supervised' || view.isClaimed || view.worker !== null) return false;
  return view.leaseAgeMs !== null && view.leaseAgeMs > 2 * leaseStaleMs;
}
