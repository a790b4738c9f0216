/**
 * What the tests of feature rows have in common: a command run to its end and everything that is told of it, a command that
 * notes every signal it gets, and looks at a whole workspace.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobState } from '../../companion/src/core/job.ts';
import { type RunOptions, type RunResult, run } from './companion.ts';
import { eventually } from './eventually.ts';
import { type Job, launch } from './jobs.ts';
import { MARKER } from './leaks.ts';
import { type Identity, listProcesses } from './process.ts';
import type { Workspace } from './workspace.ts';

export interface Ended {
  /** What `wait` gave and printed. */
  readonly wait: RunResult;
  readonly job: Job;
  readonly state: JobState;
}

/** `run WORDS` and `wait`; the words hold the `--`. */
export async function runToEnd(workspace: Workspace, words: string[], options?: RunOptions): Promise<Ended> {
  const job = await launch(workspace, words, options);
  const wait = await run(workspace, ['wait', job.id, '--timeout', '50s']);
  return { wait, job, state: job.state() };
}

/** Ids of the jobs that exist. */
export function listJobs(workspace: Workspace): string[] {
  const folder = workspace.path('.job-state/jobs');
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
}

/** Everything that lives of this workspace. */
export function listLiving({ marker }: Workspace): Identity[] {
  return listProcesses({ environment: `${MARKER}=${marker}` });
}

export function untilQuiet(workspace: Workspace): Promise<unknown> {
  return eventually('no process of the workspace to be left', () => listLiving(workspace).length === 0, {
    limitMs: 20_000,
  });
}

/** A real time that has to pass, on the clock of this process. */
export function untilPassed(ms: number): Promise<unknown> {
  const end = performance.now() + ms;
  return eventually(`${ms} ms to pass`, () => performance.now() >= end, { limitMs: ms + 60_000 });
}

export interface Noting {
  readonly command: string[];
  isReady(): boolean;
  /** The signals it got. */
  signals(): string[];
  end(): void;
}

let noting = 0;

/** A command that writes down every signal that can be caught, and runs until it is told to end. */
export function makeNoting(workspace: Workspace): Noting {
  noting += 1;
  const file = join(workspace.base, `signals-${noting}`);
  const end = join(workspace.base, `end-${noting}`);
  const names = 'HUP INT QUIT USR1 USR2 TERM CONT ALRM WINCH';
  const script = `for s in ${names}; do trap "echo $s >>'$1'" $s; done
    echo ready >>"$1"; while [ ! -e "$2" ]; do sleep 0.1; done`;
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
  return {
    command: ['sh', '-c', script, 'noting', file, end],
    isReady: () => lines().includes('ready'),
    signals: () => lines().filter((line) => line !== 'ready'),
    end: () => writeFileSync(end, ''),
  };
}
