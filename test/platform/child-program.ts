/**
 * Small programs that use the product's own modules, for tests that need several real processes at once: bundled once by
 * esbuild, so that each start costs what a bare Node costs. Everything runs with the workspace's environment and marker;
 * what still runs when the test ends is killed by its identity.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { type Identity, killByIdentity, readIdentity } from '../helpers/process.ts';
import type { Workspace } from '../helpers/workspace.ts';

const sources = join(import.meta.dirname, '../../companion/src');

/** `code` is an ES module beside companion/src/main.ts: it imports `./platform/files.ts`. Returns the program's path. */
export function makeProgram({ base }: Workspace, name: string, code: string): string {
  const outfile = join(base, `${name}.mjs`);
  buildSync({
    stdin: { contents: code, resolveDir: sources, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'silent',
    outfile,
  });
  return outfile;
}

export interface Running {
  child: ChildProcess;
  identity: Identity;
  stdout(): string;
  stderr(): string;
  /** Standard input: closing it is the signal to begin, where a program waits for one. */
  begin(): void;
  /** Resolves when the process has ended and its streams are read; `code` is null after a signal. */
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

export function startProgram(
  workspace: Workspace,
  command: string[],
  options: { env?: Record<string, string>; detached?: boolean } = {},
): Running {
  const [program, ...args] = command[0]!.endsWith('.mjs') ? [process.execPath, ...command] : command;
  const child = spawn(program!, args, {
    cwd: workspace.base,
    env: { ...workspace.env, ...options.env },
    detached: options.detached ?? false,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (child.pid === undefined) throw new Error(`cannot start ${command.join(' ')}`);
  // One that has ended already has no start time that anybody could have.
  const identity = readIdentity(child.pid) ?? { pid: child.pid, startTime: 'ended' };
  workspace.defer(() => killByIdentity(identity));
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on('data', (bytes: Buffer) => stdout.push(bytes));
  child.stderr?.on('data', (bytes: Buffer) => stderr.push(bytes));
  child.stdin?.on('error', () => undefined);
  const textOf = (chunks: Buffer[]) => Buffer.concat(chunks).toString();
  return {
    child,
    identity,
    stdout: () => textOf(stdout),
    stderr: () => textOf(stderr),
    begin: () => void child.stdin?.end(),
    ended: new Promise((resolve) => {
      child.once('close', (code) => resolve({ code, stdout: textOf(stdout), stderr: textOf(stderr) }));
    }),
  };
}
