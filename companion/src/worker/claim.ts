// A worker takes its job: under the lock it makes sure that nobody ended it and nobody else looks after it, holds the FIFO that
// waiters watch, and writes down who it is. The FIFO is held before worker.json says so (jobs/wait.ts relies on it).
import { errnoOf } from '../core/errors.ts';
import type { Identity, Spec, Turn } from '../core/job.ts';
import { inspect, isEnded } from '../jobs/view.ts';
import { makeCgroup } from '../platform/cgroup.ts';
import { nowMs } from '../platform/clock.ts';
import { holdFifo, makeFifo } from '../platform/fifo.ts';
import { writeFile, writeJson } from '../platform/files.ts';
import { exists, touch } from '../platform/folders.ts';
import { livenessOf, ownIdentity, sameIdentity } from '../platform/identity.ts';
import { withLock } from '../platform/lock.ts';
import { type JobPaths, jobPaths } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { readLaunch, readSpec, readWorker } from '../store/records.ts';

export interface Claim {
  root: string;
  paths: JobPaths;
  spec: Spec;
  /** Of a job that was queued (worker/turn.ts). */
  turn: Turn | null;
  /** That it was replaced has been told. */
  isReplacementTold?: boolean;
  self: Identity;
  generation: number;
  hasFifo: boolean;
  cgroup: string | null;
  /** Somebody is to be told of an event that wakes; `append` writes what became of it. */
  onWake?: (append: (fields: Record<string, unknown>) => void) => void;
  /** Let the waiters go: everything is published. */
  release: () => void;
}

/** Room for the end of a job on a disk that fills up. */
const reserveBytes = 32 * 1024;

/** Undefined when there is nothing to do: the job is over, damaged, or another worker has it. */
export async function claimJob(root: string, id: string): Promise<Claim | undefined> {
  const paths = jobPaths(root, id);
  const read = readSpec(paths);
  if (read.kind !== 'ok')
    throw new Error(`cannot read the spec of job ${id}: ${read.kind === 'damaged' ? read.reason : 'it is missing'}`);
  const spec = read.value;
  if (!(await isGenuine(spec, readKey())))
    throw new Error(`refused: spec.json of job ${id} was not written by this user's launcher`);
  const hasFifo = await makeFifo(paths.leaseFifo);
  return withLock(paths.lock, () => {
    if (isEnded(inspect(root, id).state)) return undefined;
    const self = ownIdentity();
    const other = readWorker(paths);
    if (other.kind === 'ok' && !sameIdentity(other.value.worker, self) && livenessOf(other.value.worker) === 'alive')
      return undefined;
    const release = (hasFifo && holdFifo(paths.leaseFifo)) || (() => undefined);
    const known = other.kind === 'ok' ? other.value : { shim: null, child: null, cgroup: null };
    // Made once, by the first worker; named here before a process can be in it.
    const cgroup = known.cgroup ?? (exists(paths.started) || spec.run?.status_cmd ? null : makeCgroup(id));
    writeJson(paths.lease, { worker: self }, { sync: false });
    writeJson(
      paths.worker,
      { worker: self, shim: known.shim, child: known.child, fifo: hasFifo, cgroup },
      { sync: false },
    );
    setAside(paths);
    const launch = readLaunch(paths);
    return {
      root,
      paths,
      spec,
      turn: null,
      self,
      generation: launch.kind === 'ok' ? launch.value.generation : 1,
      hasFifo,
      cgroup,
      release,
    };
  });
}

/** Renew the sign of life that others see who cannot see our pid. False when the job's folder is gone. */
export function renewLease(paths: JobPaths): boolean {
  return touch(paths.lease, nowMs());
}

function setAside(paths: JobPaths): void {
  try {
    writeFile(paths.reserve, new Uint8Array(reserveBytes).fill(32), { sync: false });
  } catch (error) {
    // A disk that is full already: the job goes on, its end may not fit.
    if (!['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '')) throw error;
  }
}
