/** The built file on a machine that says it was booted again: another boot id, in a mount namespace of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtFile } from './companion.ts';
import { testNode } from './test-node.ts';
import type { Workspace } from './workspace.ts';

const bootId = '/proc/sys/kernel/random/boot_id';

/** Needs the right to make a mount namespace. */
export function canRestart(): boolean {
  return spawnSync('unshare', ['-m', 'mount', '--bind', '/proc/uptime', bootId]).status === 0;
}

export function runAfterRestart(
  workspace: Workspace,
  args: string[],
): Promise<{ code: number | null; stdout: string }> {
  const boot = join(workspace.base, 'boot-id');
  writeFileSync(boot, '01234567-89ab-cdef-0123-456789abcdef\n');
  const script = `mount --bind "$1" ${bootId} && shift && exec "$@"`;
  const child = spawn('unshare', ['-m', 'sh', '-c', script, 'sh', boot, testNode(), builtFile, ...args], {
    cwd: workspace.dir,
    env: workspace.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let stdout = '';
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout })));
}
