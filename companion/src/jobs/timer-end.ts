// The end of a timer, whoever comes to write it down: its own worker, or the next reader. Under the job's lock, so there is one outcome.
import type { Spec } from '../core/job.ts';
import type { EndReason } from '../core/outcome.ts';
import { nowMs } from '../platform/clock.ts';
import type { JobPaths } from '../store/layout.ts';
import { readCancel } from '../store/records.ts';
import { conclude, finishStored } from './conclude.ts';

/** The caller holds the job's lock, has seen that it has not ended, and that it is due or asked to go. */
export function concludeTimer(job: { paths: JobPaths; spec: Spec }, reconciled: boolean): void {
  if (finishStored(job)) return;
  const tree = { step: 'none' as const, ended: [], survivors: [] };
  conclude(job, { reason: reasonOf(job), exit: undefined, tree, reconciled });
}

/** Asked to go before its instant, or due: what was asked later than that changes nothing, whenever it is looked at. */
function reasonOf({ paths, spec }: { paths: JobPaths; spec: Spec }): EndReason {
  const due = Date.parse(spec.timer?.due_at ?? '');
  const cancel = readCancel(paths);
  if (nowMs() < due) return 'canceled';
  return cancel && Date.parse(cancel.at) < due ? 'canceled' : 'due';
}
