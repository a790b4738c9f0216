// Starting the worker of a job, through the engine that its spec names.
import { errnoOf } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { defaultEngine, findEngine } from '../engines/registry.ts';
import { writeJson } from '../platform/files.ts';
import type { JobPaths } from '../store/layout.ts';

/** Start a worker and write down who it is. The caller holds the lock, or is the launcher. */
export async function startWorker(
  root: string,
  spec: Spec,
  job: { paths: JobPaths },
  generation: number,
): Promise<void> {
  const engine = findEngine(spec.engine) ?? defaultEngine;
  const worker = await engine.start({ stateRoot: root, id: spec.id, mark: spec.mark, logFile: job.paths.workerLog });
  // Not forced to the disk: after a power loss the worker is gone, and the record says so without this file.
  const note = () => writeJson(job.paths.launch, { worker, generation }, { sync: false });
  try {
    note();
  } catch (error) {
    // A worker of another pid namespace has already ended the whole job and tidied up, our half-written file too.
    if (errnoOf(error) !== 'ENOENT') throw error;
    note();
  }
}
