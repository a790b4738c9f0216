// Workers as detached processes of this machine, started with the same Node as their launcher (a version manager's
// Node may be on nobody's PATH).
import { workerEnvironment } from '../platform/env.ts';
import { identityOf, isStopped, livenessOf, signalIdentity } from '../platform/identity.ts';
import { companionFile } from '../platform/self.ts';
import type { Engine } from './engine.ts';

/** No V8 flags: with changed ones Node 20 and 22 reject their own code cache, which costs a start 8 ms. */
const nodeOptions = ['--no-warnings'];

export const local: Engine = {
  id: 'local',

  async prepare() {
    await import('../platform/spawn.ts');
  },

  async start(worker) {
    // Loaded only here: readers need no child_process, which costs a start 3 ms.
    const { spawnDetached } = await import('../platform/spawn.ts');
    const pid = spawnDetached({
      program: process.execPath,
      args: [...nodeOptions, companionFile(), '_worker', worker.stateRoot, worker.id],
      cwd: '/',
      environment: workerEnvironment(worker.mark),
      logFile: worker.logFile,
    });
    // Read at once: until we return to the event loop the process cannot be reaped, so its pid is its own.
    const identity = identityOf(pid);
    if (!identity) throw new Error(`cannot see the worker that was just started (pid ${pid})`);
    return identity;
  },

  alive: livenessOf,
  isStopped,
  signal: signalIdentity,
};
