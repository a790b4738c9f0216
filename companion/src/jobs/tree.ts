// The process tree of one job, as far as its record proves who is who. A pid whose identity does not match is never part of it.
import type { Identity, Spec } from '../core/job.ts';
import { listCgroup } from '../platform/cgroup.ts';
import { bootId, livenessOf, pidNamespace } from '../platform/identity.ts';
import type { PidBaseline } from '../platform/pid-baseline.ts';
import type { Tree } from '../platform/process-members.ts';
import { readProcess } from '../platform/process-table.ts';
import type { JobPaths } from '../store/layout.ts';
import { readWorker } from '../store/records.ts';

/** `cgroup` is what worker.json says; anything but this job's own is ignored. */
export function treeOf(
  spec: Spec,
  paths: JobPaths,
  who: { worker: Identity | null; shim: Identity | null; child: Identity | null; baseline?: PidBaseline | null },
): Tree {
  const living = (identity: Identity | null): number[] =>
    identity && livenessOf(identity) === 'alive' ? [identity.pid] : [];
  const cgroup = readWorker(paths);
  const folder = cgroup.kind === 'ok' ? (cgroup.value.cgroup ?? null) : null;
  const shim = who.shim && isHere(who.shim) ? who.shim : null;
  const atShimPid = shim ? readProcess(shim.pid) : undefined;
  // A session keeps its number until its last member ends; a stranger with that pid means that nobody of ours is left in it.
  const isStranger = atShimPid !== undefined && atShimPid.start !== shim?.start_token;
  return {
    mark: spec.mark,
    // A launcher that detaches its task: what left the session is the task, and the job only watches over it.
    reach: spec.run?.status_cmd ? 'session' : 'all',
    session: shim && !isStranger ? shim.pid : null,
    since: isHere(spec.launcher) ? Number(spec.launcher.start_token) || 0 : 0,
    spared: [...living(who.worker), ...living(shim)],
    baseline: who.baseline ?? null,
    counted: () => listCgroup(folder, spec.id),
    child: who.child?.pid ?? null,
    known: new Map(),
  };
}

function isHere(identity: Identity): boolean {
  return identity.boot_id === bootId() && identity.pid_ns === pidNamespace();
}
