// The end of a queued job that somebody canceled. Nothing was ever started, so whoever comes first publishes it, under the job's lock: its
// own worker, or the caller when that worker is stopped or gone. A worker takes its turn under the same lock, after a look at the state.
import { FaultError } from '../core/errors.ts';
import { findCgroup, removeCgroup } from '../platform/cgroup.ts';
import { exists } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import { openJournal } from '../store/journal.ts';
import { jobPaths } from '../store/layout.ts';
import { readState, writeState } from '../store/records.ts';
import { concludeAsked } from './conclude-asked.ts';
import { inspect, isQueued } from './view.ts';

const nothing = { step: 'none' as const, ended: [], survivors: [] };

/** False when somebody else is at it. */
export async function endQueued(root: string, id: string): Promise<boolean> {
  const paths = jobPaths(root, id);
  try {
    await withLock(paths.lock, async () => {
      if (!exists(paths.folder)) return;
      const { spec, cancel, worker, ...view } = inspect(root, id);
      if (!spec || !cancel || !isQueued({ ...view, spec, cancel, worker })) return;
      const read = readState(paths);
      if (read.kind === 'ok' && read.value.queue) writeState(paths, { ...read.value, queue: null }, { sync: false });
      openJournal(paths, spec).append('cancel_requested', { request: cancel });
      const ending = { reason: 'canceled' as const, exit: undefined, tree: nothing, reconciled: false };
      await concludeAsked({ paths, spec }, ending, null);
      removeCgroup(worker?.cgroup ?? findCgroup(id), id);
    });
    return true;
  } catch (error) {
    if (error instanceof FaultError && error.code === 'busy') return false;
    throw error;
  }
}
