// The user's probe: a read-only shell line in the folder and environment of the command, bounded, never two at once. It is of the job (its
// processes carry the mark, so that nothing survives the job) but no part of the command.

import { limits, probeBytes } from '../core/limits.ts';
import { type ProbeAnswer, parseProbe } from '../core/probe-answer.ts';
import { probeEnvironment } from '../platform/env.ts';
import type { Tree } from '../platform/process-members.ts';
import { endProbes } from '../platform/process-tree.ts';
import { runTool } from '../platform/tool.ts';
import type { Claim } from './claim.ts';

export type Probe = (signal: AbortSignal) => Promise<ProbeAnswer>;

/** Null when none was asked for. `tree` is that of the job: a probe may leave processes behind, which are ended after it. */
export function makeProbe({ spec }: Claim, tree: Tree): Probe | null {
  const line = spec.run?.probe;
  if (!line) return null;
  const timeoutMs = spec.run?.probe_ms ?? limits.probe.default;
  return async (signal) => {
    const end = await runTool({
      program: '/bin/sh',
      args: ['-c', line],
      cwd: spec.cwd,
      environment: probeEnvironment(spec),
      timeoutMs,
      limit: probeBytes,
      signal,
      // The end of the job does not wait for it.
      killOnAbort: true,
    });
    endProbes(tree);
    const [stdout, stderr] = [end.stdout.toString('utf8'), end.stderr.toString('utf8')];
    return parseProbe({ ...end, stdout, stderr }, { timeoutMs, bytes: probeBytes });
  };
}
