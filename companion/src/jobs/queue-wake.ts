// Whoever leaves its queue wakes those behind it: the next one is the first now, and the others have moved up.
import { compareIds } from '../core/ids.ts';
import type { Spec } from '../core/job.ts';
import { queueTold } from '../core/limits.ts';
import { defaultEngine, findEngine } from '../engines/registry.ts';
import { listActive } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { readWorker } from '../store/records.ts';
import { poolOf, type QueueMemory } from './queue.ts';

/** SIGURG does nothing to a process that does not listen, and only to the very process that worker.json names. */
export function wakeBehind(root: string, spec: Spec, memory: QueueMemory): void {
  const engine = findEngine(spec.engine) ?? defaultEngine;
  const pool = poolOf(spec);
  const isWaiting = (id: string): boolean => {
    const known = memory.members.get(id);
    return known !== undefined && known.pool === pool && !known.isLetGo;
  };
  const behind = listActive(root).filter((id) => compareIds(id, spec.id) > 0 && isWaiting(id));
  for (const id of behind.slice(0, queueTold)) {
    const read = readWorker(jobPaths(root, id));
    if (read.kind === 'ok') engine.signal(read.value.worker, 'SIGURG');
  }
}
