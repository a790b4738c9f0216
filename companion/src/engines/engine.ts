// Where a worker runs. `local` is this machine; an existing batch cluster would be another file beside it. Launch, reconcile and
// cancel speak to workers only through this seam.
import type { Identity } from '../core/job.ts';
import type { Liveness } from '../platform/identity.ts';

export interface WorkerStart {
  /** Absolute path of the state folder, and the job's id. */
  stateRoot: string;
  id: string;
  /** The job's random word, for the worker's environment. */
  mark: string;
  /** Takes what the worker says of itself. */
  logFile: string;
}

export interface Engine {
  id: string;
  /** Load what `start` needs; a launcher does this while the disk is busy. */
  prepare(): Promise<void>;
  /** Start a worker that outlives us. Returns when the process exists; does not wait until it is ready. */
  start(worker: WorkerStart): Promise<Identity>;
  /** Is this process alive, dead, or not to be seen from here? */
  alive(identity: Identity): Liveness;
  /** Does this very process live, and was it stopped (SIGSTOP)? */
  isStopped(identity: Identity): boolean;
  /** Send a signal after comparing the identity; false when it was not sent. */
  signal(identity: Identity, signal: NodeJS.Signals): boolean;
}
