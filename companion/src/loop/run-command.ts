// Runs one command of the loop's state: by `sh -c` in the worktree, bounded, and with nothing of git's that is bound to another repository. The
// caller has seen that this user trusts it (trust.ts).
import { loopLimits } from '../core/limits-loop.ts';
import type { Environment } from '../platform/env.ts';
import { repositoryVariables } from '../platform/git-tool.ts';
import { runTool, type ToolAnswer } from '../platform/tool.ts';
import type { LoopPlace } from './place.ts';

export function runCommand(
  place: LoopPlace,
  cmd: string,
  call: { timeoutMs: number; environment: Environment; signal?: AbortSignal | undefined },
): Promise<ToolAnswer> {
  const environment = { ...call.environment };
  for (const name of repositoryVariables) delete environment[name];
  return runTool({
    program: '/bin/sh',
    args: ['-c', cmd],
    cwd: place.worktree,
    environment,
    timeoutMs: call.timeoutMs,
    limit: loopLimits.verifyBytes,
    ...(call.signal ? { signal: call.signal } : {}),
    killOnAbort: true,
  });
}
