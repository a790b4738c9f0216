// How the end of one live job would start a turn of its caller: by a wait that would really be woken, or by a notifier whose worker is there to
// run it. That a file says so is not enough for either.
import { findProgram } from '../platform/which.ts';
import { findStopped, type MonitorCause, monitorAttention } from './health-seen.ts';
import { isOurs } from './may-act.ts';
import { type Condition, conditionOf, type View } from './view.ts';
import { lookAtWaiters, type Waiter, type WaitersSeen } from './waiters.ts';
import { whoseJobs } from './whose.ts';

export interface Deliveries {
  /** Those that would be woken. */
  waiters: Waiter[];
  /** Those that only say so. */
  idle: Waiter[];
  /** Somebody is there to start the notifier of the job. */
  notifier: { pid: number } | null;
  /** Why a notifier of the job counts for nothing; null when it counts or there is none. */
  notifierFault: string | null;
  /** The waiters could not be read: then there are none. */
  unread: string | null;
  /** Files of waiters that were not read; why none could be written from here. */
  cut: number;
  closed: string | null;
}

export async function deliveriesOf(view: View): Promise<Deliveries> {
  let seen: WaitersSeen = { waiters: [], cut: 0, closed: null };
  let unread: string | null = null;
  try {
    seen = waitersOf(view);
  } catch (error) {
    unread = error instanceof Error ? error.message : String(error);
  }
  const all = seen.waiters;
  const notifierFault = view.spec?.notify ? await faultOfNotifier(view) : null;
  const worker = view.worker?.worker ?? view.launch?.worker;
  return {
    waiters: all.filter(({ fault }) => fault === null),
    idle: all.filter(({ fault }) => fault !== null),
    notifier: view.spec?.notify && notifierFault === null && worker ? { pid: worker.pid } : null,
    notifierFault,
    unread,
    cut: seen.cut,
    closed: seen.closed,
  };
}

/** A wait of another owner wakes that one, unless the job came from a job of his. Throws where nobody may look. */
export function waitersOf({ root, id, spec }: View): WaitersSeen {
  const seen = lookAtWaiters(root, id);
  const isForeign = ({ owner }: Waiter): boolean =>
    owner !== null && spec !== null && spec.owner !== owner && whoseJobs(root, owner)(spec) === 'other';
  const waiters = seen.waiters.map((one) =>
    one.fault === null && isForeign(one) ? { ...one, fault: 'other_owner' as const } : one,
  );
  return { ...seen, waiters };
}

async function faultOfNotifier(view: View): Promise<string | null> {
  if (view.seen.worker === 'unknown') return 'its worker cannot be seen from here';
  if (view.seen.worker !== 'alive') return 'its worker is gone';
  if (findStopped(view)?.cause === 'worker_stopped') return 'its worker is stopped';
  // A changed spec could name another program; the worker goes by the one that it was started with.
  if (!(await isOurs(view))) return 'its record is not the one that was written at launch';
  const [program = ''] = view.spec?.notify ?? [];
  return findProgram(program, view.spec?.cwd ?? '/') ? null : `its program cannot be started any more: ${program}`;
}

export interface JobTrouble {
  cause: MonitorCause;
  reason: string;
  /** False: it is told, and no reason not to go idle. */
  isGrave: boolean;
}

/** What a wait that is there puts right by itself: it takes the lost worker's place, or publishes the end. */
export const mendedByWait: readonly MonitorCause[] = ['worker_gone', 'end_unstored'];

/** Does somebody look after the job as it should be? */
export function troubleOf(view: View, waiters: readonly Waiter[]): JobTrouble | null {
  const condition: Condition = conditionOf(view);
  // A timer needs nobody; that its notifier is gone is told with its delivery.
  const seen = view.spec?.timer ? undefined : monitorAttention(view, condition);
  if (!seen) return null;
  const isMended = mendedByWait.includes(seen.cause) && waiters.length > 0;
  return { ...seen, isGrave: !isMended && seen.cause !== 'checkpoint_missing' };
}
