// What a watch kind may use to look: small programs bounded by the attempt, the state of other jobs, answers that several watches
// share. The same for a worker and for a single look without a job (`watch --once`).
import { exitCodeOf } from '../core/exit-codes.ts';
import { toolBytes } from '../core/limits.ts';
import { nowMs } from '../platform/clock.ts';
import type { Environment } from '../platform/env.ts';
import { watchFifo } from '../platform/fifo.ts';
import { isFolder } from '../platform/folders.ts';
import type { ToolAnswer } from '../platform/tool.ts';
import { findTool } from '../platform/which.ts';
import { jobPaths } from '../store/layout.ts';
import { shareAnswer } from '../store/shared.ts';
import type { JobStand, ToolRequest, Tools } from '../watches/watch.ts';
import { refresh, refreshAttached } from './reconcile.ts';
import { inspect, isEnded } from './view.ts';

export interface ToolPlace {
  /** The state folder. */
  root: string;
  /** Absent when one looks once, without a job: then nothing is shared. */
  everyMs?: number;
  cwd: string;
  environment: Environment;
  /** Called before a program is started. */
  onRun?: () => void;
}

export interface AttemptTools extends Tools {
  /** Comes true when no program of this attempt runs any more. */
  idle(): Promise<void>;
}

export function makeTools(place: ToolPlace, leftMs: () => number, signal: AbortSignal): AttemptTools {
  const running = new Set<Promise<unknown>>();
  const run = async (call: ToolRequest): Promise<ToolAnswer> => {
    const cwd = call.cwd ?? place.cwd;
    if (!isFolder(cwd)) return neverStarted(`the folder ${cwd} is gone`);
    place.onRun?.();
    // Loaded only here: most kinds start no programs.
    const { runTool } = await import('../platform/tool.ts');
    return runTool({
      program: call.program,
      args: call.args,
      cwd,
      environment: { ...place.environment, ...call.environment },
      ...(call.input === undefined ? {} : { input: call.input }),
      timeoutMs: Math.min(call.timeoutMs ?? leftMs(), leftMs()),
      limit: call.limit ?? toolBytes,
      signal,
    });
  };
  return {
    run(call) {
      const answer = run(call);
      running.add(answer);
      const forget = (): void => void running.delete(answer);
      answer.then(forget, forget);
      return answer;
    },
    find: findTool,
    cwd: place.cwd,
    leftMs,
    ...(place.everyMs === undefined ? {} : { everyMs: place.everyMs }),
    nowMs,
    signal,
    job: (id) => standOf(place.root, id, place.everyMs !== undefined),
    onJobEnd: (id, wake) => untilLetGo(place.root, id, wake),
    shared: (key, maxAgeMs, ask) =>
      place.everyMs === undefined
        ? ask()
        : shareAnswer({ root: place.root, key, maxAgeMs, waitMs: leftMs(), signal, ask }),
    idle: async () => void (await Promise.allSettled(running)),
  };
}

function neverStarted(reason: string): ToolAnswer {
  return { how: 'failed', code: null, reason, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
}

/** Whoever looks once only reads. */
async function standOf(root: string, id: string, mayAttach: boolean): Promise<JobStand | undefined> {
  let view = inspectSafely(root, id);
  if (view === undefined) return undefined;
  if (!isEnded(view.state)) view = await (mayAttach ? refreshAttached : refresh)(root, id);
  const { state } = view;
  const error = state.error ? `${state.error.code}: ${state.error.message}` : null;
  return { state: state.state, isEnded: isEnded(state), code: exitCodeOf(state.state), seq: state.seq, error };
}

/** Undefined when it was cleaned. */
function inspectSafely(root: string, id: string): ReturnType<typeof inspect> | undefined {
  try {
    return inspect(root, id);
  } catch {
    return undefined;
  }
}

function untilLetGo(root: string, id: string, wake: () => void): () => void {
  let isStopped = false;
  let close: (() => void) | undefined;
  void watchFifo(jobPaths(root, id).leaseFifo, wake).then((found) => {
    if (isStopped) found?.();
    else close = found;
  });
  return () => {
    isStopped = true;
    close?.();
  };
}
