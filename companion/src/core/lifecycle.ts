// The lifecycle as a table: state x event -> state. Pure and complete by type.
// A request to stop that arrives twice keeps `stopping`; nothing leaves `ended`.
import type { Lifecycle } from './job.ts';

export type LifecycleEvent =
  /** A worker took the job. */
  | 'claimed'
  /** The child runs. */
  | 'started'
  /** Cancel, a limit, or another reason of ours to end the tree. */
  | 'stop_asked'
  /** The tree is gone and the outcome is published; also a loss that a reader settled. */
  | 'concluded';

const table: Record<Lifecycle, Record<LifecycleEvent, Lifecycle>> = {
  queued: { claimed: 'starting', started: 'running', stop_asked: 'stopping', concluded: 'ended' },
  starting: { claimed: 'starting', started: 'running', stop_asked: 'stopping', concluded: 'ended' },
  // A replacement worker claims a running job: it stays what it was.
  running: { claimed: 'running', started: 'running', stop_asked: 'stopping', concluded: 'ended' },
  stopping: { claimed: 'stopping', started: 'stopping', stop_asked: 'stopping', concluded: 'ended' },
  ended: { claimed: 'ended', started: 'ended', stop_asked: 'ended', concluded: 'ended' },
};

export function transition(from: Lifecycle, event: LifecycleEvent): Lifecycle {
  return table[from][event];
}
