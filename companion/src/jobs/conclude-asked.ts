// The end of a job, after what only a look around can tell: the files that a run left behind, its own log, its launcher's status command, and
// what an agent handed back last. All of it bounded; none of it changes why the job ended, and only a success file can make its success a failure.
import type { JobState, Spec } from '../core/job.ts';
import type { Tree } from '../platform/process-members.ts';
import type { JobPaths } from '../store/layout.ts';
import { noteResults } from './artifacts.ts';
import { conclude } from './conclude.ts';
import type { JobEnding } from './end-state.ts';
import { readOwnLog } from './own-log.ts';
import { askTask } from './task-status.ts';
import { treeOf } from './tree.ts';

/** `tree`: as it is after it was ended; null when nothing was started. */
export async function concludeAsked(
  job: { paths: JobPaths; spec: Spec },
  ending: JobEnding,
  tree: Tree | null,
): Promise<JobState> {
  const { paths, spec } = job;
  const { run } = spec;
  if (spec.handback) return conclude(job, await (await import('./handback-end.ts')).withHandback(job, ending));
  if (!run) return conclude(job, ending);
  const nobody = { worker: null, shim: null, child: null };
  const [results, ownLog, task] = await Promise.all([
    noteResults(run),
    run.log ? readOwnLog(spec, run.log) : null,
    askTask(spec, tree ?? treeOf(spec, paths, nobody), { reason: ending.reason, isStarted: tree !== null }),
  ]);
  return conclude(job, { ...ending, results, ownLog, task });
}
