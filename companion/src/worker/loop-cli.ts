// The loop does what a person would do: it calls our own program, as the owner of what it starts. So every launch, checkpoint and gate of an
// unattended loop is the one that is tested and documented, with its locks, its once-keys and its refusals.
import { excerpt, plainText } from '../core/excerpt.ts';
import { toolBytes } from '../core/limits.ts';
import { childEnvironment, type Environment } from '../platform/env.ts';
import { companionFile, nodeFile } from '../platform/self.ts';
import { runTool, type ToolAnswer } from '../platform/tool.ts';
import type { Claim } from './claim.ts';

export interface CliCall {
  words: readonly string[];
  input?: string;
  /** Ends it early; without it nothing does but its time. */
  signal?: AbortSignal;
}

/** A launch, or a checkpoint in a large repository on a busy machine. */
const callMs = 10 * 60_000;

/** `environment`: what a program of this job gets. */
export interface Cli {
  cli: (call: CliCall) => Promise<ToolAnswer>;
  environment: Environment;
}

export function makeCli({ spec }: Claim, folder: string): Cli {
  const environment: Environment = childEnvironment({
    ...{ id: spec.id, cwd: folder, mark: spec.mark },
    add: {},
    remove: [],
  });
  const cli: Cli['cli'] = ({ words, input, signal }) =>
    runTool({
      program: nodeFile(),
      args: [companionFile(), ...words, ...spec.state_option],
      cwd: folder,
      environment,
      ...(input === undefined ? {} : { input }),
      timeoutMs: callMs,
      limit: 4 * toolBytes,
      ...(signal ? { signal } : {}),
    });
  return { cli, environment };
}

/** Why it was refused, in its own words: the first lines of what it said. */
export function refusalOf({ how, reason, code, stderr, stdout }: ToolAnswer): string {
  if (how !== 'exited') return `it was ended (${how}${reason ? `: ${reason}` : ''})`;
  const text = plainText(String(stderr) || String(stdout));
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => !/^(note|warning|hand-back):/.test(line));
  return excerpt((errors.length > 0 ? errors : lines).slice(0, 3).join('; '), 600) || `it ended with code ${code}`;
}
