// Every path below a state folder (contract 6). No other file spells one.
import path from 'node:path';

export interface StateRoot {
  /** Absolute path of the state folder. */
  folder: string;
  /** The words that make another call find it, for printed commands: `--state-dir X`, or none when it is found by itself. */
  option: string[];
}

export function rootPaths(folder: string) {
  return {
    meta: path.join(folder, 'meta.json'),
    ignore: path.join(folder, '.gitignore'),
    config: path.join(folder, 'config.json'),
    active: path.join(folder, 'active'),
    once: path.join(folder, 'once'),
    slots: path.join(folder, 'slots'),
    jobs: path.join(folder, 'jobs'),
    lock: path.join(folder, 'lock'),
    /** Answers that several watches share. */
    shared: path.join(folder, 'shared'),
    /** Taking a turn in the queue. */
    queueLock: path.join(folder, 'queue.lock'),
    /** When each owner looked around last (`reconcile`). */
    looks: path.join(folder, 'looks'),
    /** Of the worktree's loop: who writes `.loop/` now, what this user trusts, a checkpoint that was begun. */
    loop: path.join(folder, 'loop'),
  };
}

export interface JobPaths {
  /** The state folder. */
  root: string;
  folder: string;
  spec: string;
  launch: string;
  worker: string;
  lease: string;
  leaseFifo: string;
  state: string;
  events: string;
  snapshot: string;
  /** Where a watch, or the judgement of a run, has got to. */
  cursor: string;
  /** One folder per notice that was begun: the claim of the one start. */
  notices: string;
  /** The turn of a job that was queued, with a MAC. */
  turn: string;
  output: string;
  error: string;
  workerLog: string;
  prompt: string;
  /** Rules for the agent CLI, where it takes them from a file only. */
  settings: string;
  /** What the worktree looked like before the start. */
  workspace: string;
  /** One empty file per job that began to write in the same worktree meanwhile. */
  neighbours: string;
  reviewDiff: string;
  started: string;
  shimMark: string;
  childMark: string;
  guardMark: string;
  spawnFailed: string;
  reason: string;
  aliveFifo: string;
  limitFifo: string;
  exit: string;
  result: string;
  resultRecord: string;
  cancel: string;
  waiters: string;
  collected: string;
  lock: string;
  reserve: string;
  marker: string;
}

/** `id` must have passed `isId`. */
export function jobPaths(root: string, id: string): JobPaths {
  // Plain joining: normalizing 25 paths for each of many jobs costs a `status` milliseconds.
  const folder = `${root}/jobs/${id}`;
  const at = (name: string): string => `${folder}/${name}`;
  return {
    root,
    folder,
    spec: at('spec.json'),
    launch: at('launch.json'),
    worker: at('worker.json'),
    lease: at('lease.json'),
    leaseFifo: at('lease.fifo'),
    state: at('state.json'),
    events: at('events.ndjson'),
    snapshot: at('snapshot.json'),
    cursor: at('cursor.json'),
    notices: at('notices'),
    turn: at('turn.json'),
    output: at('output.log'),
    error: at('error.log'),
    workerLog: at('worker.log'),
    prompt: at('prompt.txt'),
    settings: at('agent-settings.toml'),
    workspace: at('workspace.json'),
    neighbours: at('neighbours'),
    reviewDiff: at('review.diff'),
    started: at('started'),
    shimMark: at('started/shim'),
    childMark: at('started/child'),
    guardMark: at('started/guard'),
    spawnFailed: at('started/spawn_failed'),
    reason: at('started/reason'),
    aliveFifo: at('started/alive.fifo'),
    limitFifo: at('started/limit.fifo'),
    exit: at('exit.json'),
    result: at('result.md'),
    resultRecord: at('result.json'),
    cancel: at('cancel.json'),
    waiters: at('waiters'),
    collected: at('collected.json'),
    lock: at('lock'),
    reserve: at('reserve'),
    marker: `${root}/active/${id}`,
  };
}

/** A job folder that is still being written lies under this name. */
export function stagePath(root: string, id: string): string {
  return path.join(root, 'jobs', `.new-${id}`);
}
