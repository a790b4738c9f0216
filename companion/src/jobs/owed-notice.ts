// A reader that finds an ended job whose notifier was never told, and whose worker is gone, starts a process that tells it, and does not
// wait for it. However many readers start one, the notice is claimed once (worker/notice.ts).
import { defaultEngine, findEngine } from '../engines/registry.ts';
import { apartEnvironment } from '../platform/env.ts';
import { isWritable } from '../platform/folders.ts';
import { bootId, pidNamespace } from '../platform/identity.ts';
import { companionFile } from '../platform/self.ts';
import { readLaunch, readWorker } from '../store/records.ts';
import { isOurs } from './may-act.ts';
import { claimSeen } from './notice-claim.ts';
import type { View } from './view.ts';

export async function startOwedNotice(view: View): Promise<void> {
  const { spec, paths } = view;
  if (!spec || claimSeen({ paths, spec }, 'end') === 'told' || !isWritable(paths.folder) || isWorkerLeft(view)) return;
  // In a sandbox the notifier would end with the sandbox, and the claim would stay.
  const { pid_ns, boot_id } = spec.launcher;
  if (pid_ns !== pidNamespace() && boot_id === bootId()) return;
  // A changed spec could name another program.
  if (!(await isOurs(view))) return;
  try {
    const { spawnDetached } = await import('../platform/spawn.ts');
    spawnDetached({
      program: process.execPath,
      args: ['--no-warnings', companionFile(), '_notify', view.root, view.id],
      cwd: '/',
      environment: apartEnvironment(),
      logFile: paths.workerLog,
    });
  } catch {
    // No process, no file to be had: the next reader tries again.
  }
}

/** A worker that lives, or could, tells it itself. */
function isWorkerLeft({ spec, paths }: View): boolean {
  const engine = findEngine(spec?.engine ?? '') ?? defaultEngine;
  const [launch, worker] = [readLaunch(paths), readWorker(paths)];
  const known = [launch.kind === 'ok' ? launch.value.worker : null, worker.kind === 'ok' ? worker.value.worker : null];
  return known.some((identity) => identity !== null && engine.alive(identity) !== 'dead');
}
