// One real round trip with a backend: a recorded job like any other (same plan, reading, verdict, same end of the whole tree), but in a
// state folder and a working folder of its own outside every repository, both removed afterwards.
import path from 'node:path';
import { findBackend } from '../backends/registry.ts';
import { FaultError } from '../core/errors.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { JobError, Profile, StaffPart, State, Warning } from '../core/job.ts';
import { limits } from '../core/limits.ts';
import { monotonicMs, nowMs, sleep } from '../platform/clock.ts';
import { createFolder, readText } from '../platform/files.ts';
import { factsOf, removeTree } from '../platform/folders.ts';
import { type HeldSignals, holdSignals } from '../platform/interrupt.ts';
import { makeTempFolder } from '../platform/temp-folder.ts';
import { readUserConfig } from '../store/config.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { cancelJob } from './cancel.ts';
import { startedAt } from './end-state.ts';
import { launch } from './launch.ts';
import { makeStaffPart } from './staff-request.ts';
import type { View } from './view.ts';
import { waitForJobs } from './wait.ts';

/** The whole trial, start-up included. */
const trialMs = 120_000;
const task = 'Reply with the single word: ready';
const answerBytes = 1024;

export interface RoundTrip {
  program: string;
  version: string | null;
  profile: Profile;
  adds: string | undefined;
  state: State;
  /** In the backend's own words. */
  error: JobError | null;
  warnings: Warning[];
  /** ms from the start of the program to its first byte on stdout, to the tenth of a second; null when there was none. */
  first_output_ms: number | null;
  duration_ms: number | null;
  conversation_id: string | null;
  /** The beginning of it, control sequences removed. */
  answer: string | null;
  /** The folder of the trial, when it could not be removed. */
  left: string | null;
}

/**
 * Throws what a launch would throw: `usage` for an unknown backend, `preflight` for one that cannot be used. `onStart` is called when
 * all of that is checked.
 */
export async function roundTrip(name: string, onStart: () => void): Promise<RoundTrip> {
  const isOwn = Object.hasOwn(readUserConfig().backends, name);
  const canRestrict = !isOwn && findBackend(name)?.profiles.restricted !== null;
  // Before there is anything to put in order, until it is.
  const signals = holdSignals();
  try {
    const folder = makeTempFolder('job-companion-trial-');
    let left: string | null = null;
    try {
      const [state, cwd] = [path.join(folder, 'state'), path.join(folder, 'empty')];
      createFolder(cwd);
      const root: StateRoot = { folder: state, option: ['--state-dir', state] };
      const part = makePart(root, cwd, name, canRestrict ? 'restricted' : 'standard');
      await requireQuiet(signals);
      onStart();
      const trial = await tryIn(root, cwd, part, signals);
      left = await removeOrName(folder);
      return { ...trial, left };
    } finally {
      if (left === null) await removeOrName(folder);
    }
  } finally {
    signals.release();
  }
}

/** While a program was asked for its version, nothing could be heard. */
async function requireQuiet(signals: HeldSignals): Promise<void> {
  const signal = await signals.first();
  if (signal !== null) throw new FaultError('preflight', `cannot try it: interrupted by ${signal} before the start`);
}

function makePart(root: StateRoot, cwd: string, backend: string, profile: Profile): StaffPart {
  const words = { mode: 'ask', stateRoot: root.folder, model: null, prompt: task, resume: null };
  // The task as it is, without the words of a mode.
  return { ...makeStaffPart({ ...words, backend, profile, cwd }), brief: false };
}

async function tryIn(
  root: StateRoot,
  cwd: string,
  part: StaffPart,
  signals: HeldSignals,
): Promise<Omit<RoundTrip, 'left'>> {
  const { id } = await launch(root, {
    kind: 'staff',
    verb: 'ask',
    owner: null,
    label: 'doctor',
    onceKey: null,
    cwd,
    deadlineMs: trialMs,
    killGraceMs: limits.staffKillGrace.default,
    maxOutputBytes: limits.maxOutput.min,
    firstOutputMs: null,
    stallMs: null,
    lineage: null,
    run: null,
    staff: part,
  });
  const why = 'doctor was interrupted';
  // What it cannot do is tried at the next signal again; the trial has its limit.
  signals.onEach(() => void cancelJob(root.folder, id, { owner: null, why }).catch(() => undefined));
  const { view, firstOutputMs } = await follow(root, id);
  const { state } = view;
  return {
    program: part.program,
    version: part.version ?? null,
    profile: part.profile,
    adds: part.adds,
    state: state.state,
    error: state.error,
    warnings: state.warnings,
    first_output_ms: firstOutputMs,
    duration_ms: state.duration_ms,
    conversation_id: state.conversation?.id ?? null,
    answer: state.state === 'done' ? excerpt(plainText(readText(view.paths.result) ?? ''), answerBytes) : null,
  };
}

/** Wait for the end, and see when the first output came: the stream of a job that succeeds is not kept. */
async function follow(root: StateRoot, id: string): Promise<{ view: View; firstOutputMs: number | null }> {
  const paths = jobPaths(root.folder, id);
  let firstOutputMs: number | null = null;
  const look = (): void => {
    const started = startedAt(paths);
    if (firstOutputMs !== null || started === null || !factsOf(paths.output)?.size) return;
    firstOutputMs = Math.max(0, nowMs() - Date.parse(started));
  };
  const patience = trialMs + 3 * limits.staffKillGrace.default;
  const {
    views: [view],
  } = await waitForJobs(root.folder, [id], {
    mode: 'all',
    timeoutMs: patience,
    heartbeatMs: 50,
    onHeartbeat: look,
  });
  look();
  if (!view) throw new FaultError('internal', `cannot find job ${id} any more`);
  return { view, firstOutputMs };
}

/**
 * The worker leaves a moment after it published the end; one that is still at it loses its state folder, and so ends the tree
 * (contract 8). Returns the folder when it could not be removed.
 */
async function removeOrName(folder: string): Promise<string | null> {
  const until = monotonicMs() + 2000;
  for (;;) {
    try {
      removeTree(folder);
      return null;
    } catch {
      if (monotonicMs() > until) return folder;
      await sleep(20);
    }
  }
}
