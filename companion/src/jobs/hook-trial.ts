// Runs a hook of ours once when it is turned on, as its host will: so that it is known to answer, and the next start, which has 200 ms,
// finds its code compiled.
import { hostLimitSeconds } from '../core/hook-settings.ts';
import type { HookHost } from '../core/hooks.ts';
import { hookInputBytes } from '../core/limits.ts';
import { callerEnvironment } from '../platform/env.ts';
import { companionFile, nodeFile } from '../platform/self.ts';
import { runTool } from '../platform/tool.ts';

export interface HookTrial {
  /** Why it does not work; null when it does. */
  problem: string | null;
}

/** Never throws. */
export async function tryHook(host: HookHost, folder: string): Promise<HookTrial> {
  const { how, code, stderr } = await runTool({
    program: nodeFile(),
    args: [companionFile(), 'hook', host, 'Stop'],
    cwd: folder,
    environment: { ...callerEnvironment(), PWD: folder },
    input: '{}',
    timeoutMs: hostLimitSeconds * 1000,
    limit: hookInputBytes,
  });
  if (how !== 'exited') return { problem: `it did not answer (${how})` };
  const isFine = code === 0 && stderr.length === 0;
  return { problem: isFine ? null : `it ended with ${code}, and ${stderr.length} bytes on stderr` };
}
