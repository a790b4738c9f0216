/**
 * Runs the built file as its users do: a process of its own, in a workspace's clean environment, with the tested Node.
 * `run` waits for the end, `start` gives the process while it runs. Neither judges the outcome; tests assert on the whole
 * result. What a test may not do is hang: at the limit the process is killed and the promise is rejected.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Identity, killByIdentity, readIdentity } from './process.ts';
import { testNode } from './test-node.ts';
import type { Workspace } from './workspace.ts';

export const builtFile = join(import.meta.dirname, '../../companion/job-companion.cjs');

export interface RunOptions {
  /** Default: the workspace's `dir`. */
  cwd?: string;
  /** Added to the workspace's environment; undefined takes a variable away. */
  env?: Record<string, string | undefined>;
  /** Standard input; without it, there is nothing to read. */
  input?: string | Uint8Array;
  /** Standard input stays open, with nothing to read, until the program has ended. */
  holdsInput?: boolean;
  /** The Node to use; default: $JOB_TEST_NODE or this one. */
  node?: string;
  /** Options for Node itself. */
  nodeOptions?: string[];
  /** A session and group of its own, so that a test can signal the group as a terminal does. */
  detached?: boolean;
  limitMs?: number;
}

export interface RunResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  stdoutBytes: Buffer;
  ms: number;
}

export interface Running {
  readonly pid: number;
  readonly identity: Identity;
  readonly child: ChildProcess;
  readonly promise: Promise<RunResult>;
  /** What was printed so far. */
  stdout(): string;
  stderr(): string;
  kill(signal?: NodeJS.Signals): boolean;
}

export function run(workspace: Workspace, args: string[], options?: RunOptions): Promise<RunResult> {
  return start(workspace, args, options).promise;
}

/** The parsed stdout of a `--json` command; a failure shows the whole reply. */
export function parseReply<T = Record<string, unknown>>(result: RunResult): T {
  try {
    return JSON.parse(result.stdout) as T;
  } catch {
    throw new Error(`stdout is no JSON document (code ${result.code}): ${result.stdout}\nstderr: ${result.stderr}`);
  }
}

export function start(workspace: Workspace, args: string[], options: RunOptions = {}): Running {
  const {
    cwd = workspace.dir,
    env,
    input,
    holdsInput,
    node = testNode(),
    nodeOptions = [],
    detached,
    limitMs = 60_000,
  } = options;
  const started = performance.now();
  const child = spawn(node, [...nodeOptions, builtFile, ...args], {
    cwd,
    env: { ...workspace.env, ...env },
    detached,
    stdio: [input === undefined && !holdsInput ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${node} in ${cwd}`);
  // Not reaped yet, so the pid is still ours; a program that has ended already is a zombie without identity.
  const identity = readIdentity(pid) ?? { pid, startTime: 'ended' };
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  // A program that does not read its input closes the pipe; that is for the test's assertions, not an error of ours.
  child.stdin?.on('error', () => {});
  if (!holdsInput) child.stdin?.end(input);
  else child.once('exit', () => child.stdin?.end());

  const promise = new Promise<RunResult>((resolve, reject) => {
    let ms = 0;
    const fail = (why: string) => {
      killByIdentity(identity);
      child.stdout?.destroy();
      child.stderr?.destroy();
      reject(new Error(`${args.join(' ')}: ${why}\nstdout: ${stdout()}\nstderr: ${stderr()}`));
    };
    const limit = setTimeout(() => fail(`not over after ${limitMs} ms, killed`), limitMs);
    child.once('error', (error) => fail(error.message));
    child.once('exit', () => {
      ms = performance.now() - started;
      clearTimeout(limit);
      // `$(job-companion run ...)` of a user would hang in the same way.
      const held = setTimeout(() => fail('it ended, but a process it left behind holds its stdout or stderr'), 2_000);
      child.once('close', () => clearTimeout(held));
    });
    child.once('close', (code, signal) => {
      const bytes = stdout();
      resolve({ code, signal, stdout: bytes.toString(), stderr: stderr().toString(), stdoutBytes: bytes, ms });
    });
  });
  // Whoever kills a started command on purpose need not look at its promise.
  promise.catch(() => {});

  return {
    pid,
    identity,
    child,
    promise,
    stdout: () => stdout().toString(),
    stderr: () => stderr().toString(),
    kill: (signal) => killByIdentity(identity, signal),
  };
}

function collect(stream: NodeJS.ReadableStream | null): () => Buffer {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks);
}
