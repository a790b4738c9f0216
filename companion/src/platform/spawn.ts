// Starting what outlives us: the detached worker of a job, and the shim between a worker and its child. Plain child_process,
// because execa costs a launcher 34 ms and both starts need only a pid.
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Environment } from './env.ts';
import { openAppend } from './files.ts';

export interface DetachedStart {
  program: string;
  args: string[];
  cwd: string;
  environment: Environment;
  /** Takes stdout and stderr. */
  logFile: string;
}

/** Start a program in a session of its own and let go of it. Returns its pid; throws when it cannot be started. */
export function spawnDetached(start: DetachedStart): number {
  const log = openAppend(start.logFile);
  try {
    const child = spawn(start.program, start.args, {
      cwd: start.cwd,
      env: start.environment,
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.on('error', () => undefined);
    child.unref();
    if (child.pid === undefined) throw new Error(`cannot start ${start.program}`);
    return child.pid;
  } finally {
    closeSync(log);
  }
}

export interface ShimStart {
  script: string;
  args: string[];
  cwd: string;
  environment: Environment;
}

/** Start the shim as the leader of a session of its own. `onEnd` is called when it has ended. Throws the errno when it cannot. */
export function spawnShim(start: ShimStart, onEnd: () => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', start.script, 'job-companion-shim', ...start.args], {
      cwd: start.cwd,
      env: start.environment,
      detached: true,
      stdio: 'ignore',
    });
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('exit', onEnd);
  });
}
