// From a checked request to a job whose worker exists. The record is whole and durable before the worker is spawned, and the id is
// told only when the worker's identity is on disk: stage the folder, claim the once-key, rename into place, mark active,
// spawn, write launch.json. A crash between any two steps leaves either nothing or a job that says `never_started`.

import { errnoOf, FaultError } from '../core/errors.ts';
import { makeId } from '../core/ids.ts';
import type { Spec, WorktreeNote } from '../core/job.ts';
import { toHex } from '../core/sha256.ts';
import { defaultEngine } from '../engines/registry.ts';
import { isoOf, monotonicMs, nowMs } from '../platform/clock.ts';
import { credentialNames } from '../platform/env.ts';
import { createFolder, syncFolder, writeFile, writeFileMeanwhile } from '../platform/files.ts';
import { moveFolder, removeTree } from '../platform/folders.ts';
import { ownIdentity } from '../platform/identity.ts';
import { withLock } from '../platform/lock.ts';
import { randomBytes } from '../platform/random.ts';
import { type JobPaths, jobPaths, rootPaths, type StateRoot, stagePath } from '../store/layout.ts';
import { ensureKey, environmentDigest, hashOf, macOf } from '../store/mac.ts';
import { claimOnce, isClaimed, type OnceClaim, readClaim } from '../store/once.ts';
import { checkRoot, ensureRoot, requirePlace } from '../store/root.ts';
import { needsWorker, writeArmed } from './armed.ts';
import { askedOf, type JobRequest } from './launch-request.ts';
import { nextCommands } from './next-commands.ts';
import { finishClaim } from './once.ts';
import { startWorker } from './start-worker.ts';

export type { JobRequest } from './launch-request.ts';

/** What readers take (platform/files.ts reads records up to 16 MiB). */
const specBytes = 15 * 1024 * 1024;

export interface Launched {
  id: string;
  /** False when the once-key already had a job. */
  isNew: boolean;
  /** Timers of the same slot that this one replaced. */
  replaced?: string[];
}

export async function launch(root: StateRoot, request: JobRequest): Promise<Launched> {
  if (!checkRoot(root.folder, 'launch')) requirePlace(root.folder);
  const stamp = makeStamp(request.verb);
  // Refused before anything is made, and asked of git before anybody is kept waiting.
  const planned = isTaken(root, request) ? null : await planTree(request, stamp.id);
  const key = ensureKey();
  ensureRoot(root.folder);
  const publish = () => publishJob(root, request, { ...stamp, planned }, key);
  const job = request.admit ? await withLock(rootPaths(root.folder).lock, publish) : await publish();
  if ('holder' in job) return takeOver(root, job.holder, request);
  const { spec, paths } = job;
  const worktree = request.worktree === 'new' ? (spec.worktree ?? null) : null;
  try {
    if (worktree) (await import('./worktree.ts')).addWorktree(worktree);
    if (needsWorker(spec)) await startWorker(root.folder, spec, { paths }, 1);
  } catch (error) {
    // A key that names this job was given out for ever: its record must be there, and says `never_started`.
    if (spec.once_key === null) undo(paths, stagePath(root.folder, spec.id));
    if (worktree) (await import('./worktree.ts')).undoWorktree(worktree);
    throw launchError(root, error);
  }
  return { id: spec.id, isNew: true };
}

/** The record in its place, whole and durable; or whose the once-key is. */
async function publishJob(
  root: StateRoot,
  request: JobRequest,
  stamp: Stamp & { planned: Planned | null },
  key: string,
): Promise<{ spec: Spec; paths: JobPaths } | { holder: OnceClaim }> {
  const admitted = isTaken(root, request) ? undefined : await request.admit?.();
  const warnings = [...(request.warnings ?? []), ...(admitted?.warnings ?? [])];
  const handback = admitted?.handback ?? request.handback ?? null;
  const spec = await makeSpec(root, { ...request, warnings, handback }, stamp, key);
  const paths = jobPaths(root.folder, spec.id);
  const stage = stagePath(root.folder, spec.id);
  let isPromised = false;
  try {
    await Promise.all([stageJob(root, spec, stage), defaultEngine.prepare()]);
    const claim = request.onceKey === null ? null : claimOnce(root.folder, request.onceKey, claimOf(spec, request));
    if (claim && !claim.isOurs) {
      undo(paths, stage);
      return { holder: claim.holder };
    }
    isPromised = claim !== null;
    if (!moveFolder(stage, paths.folder)) throw new FaultError('state_unusable', `cannot move ${stage} into place`);
    if (spec.timer) placeDurably(root.folder, paths);
    admitted?.told?.(spec.id);
    return { spec, paths };
  } catch (error) {
    if (isPromised) moveFolder(stage, paths.folder);
    else undo(paths, stage);
    throw launchError(root, error);
  }
}

/** A timer is promised beyond a power failure, so its name in `jobs/` must be on the disk too. */
function placeDurably(root: string, paths: JobPaths): void {
  syncFolder(paths.folder);
  syncFolder(rootPaths(root).jobs);
}

interface Stamp {
  createdMs: number;
  random: Uint8Array;
  id: string;
}

function makeStamp(verb: string): Stamp {
  const createdMs = nowMs();
  const random = randomBytes(22);
  return { createdMs, random, id: makeId(verb, createdMs, random) };
}

type Planned = WorktreeNote & { cwd: string };

async function planTree(request: JobRequest, id: string): Promise<Planned | null> {
  return request.worktree === 'new' ? (await import('./worktree.ts')).planWorktree(request.cwd, id) : null;
}

function isTaken(root: StateRoot, { onceKey }: JobRequest): boolean {
  return onceKey !== null && isClaimed(root.folder, onceKey);
}

async function makeSpec(
  root: StateRoot,
  request: JobRequest,
  { createdMs, random, id, planned }: Stamp & { planned: Planned | null },
  key: string,
): Promise<Spec> {
  const {
    deadlineMs,
    killGraceMs,
    maxOutputBytes,
    firstOutputMs,
    stallMs,
    onStall = null,
    maxLive = null,
    handback = null,
    quietMs = null,
    milestone = null,
    onceKey,
    admit: _admit,
    credentials: _credentials,
    asksForLatest: _latest,
    words: _words,
    worktree,
    ...rest
  } = request;
  const { cwd = request.cwd, ...note } = planned ?? {};
  const unsigned = {
    schema: 1 as const,
    id,
    ...rest,
    cwd,
    worktree: planned ? (note as WorktreeNote) : worktree === 'new' ? null : (worktree ?? null),
    created_at: isoOf(createdMs),
    once_key: onceKey,
    engine: defaultEngine.id,
    state_option: root.option,
    deadline_ms: deadlineMs,
    deadline_mono_ms: monotonicMs() + deadlineMs,
    kill_grace_ms: killGraceMs,
    max_output_bytes: maxOutputBytes,
    first_output_ms: firstOutputMs,
    stall_ms: stallMs,
    ...(request.notify ? { sealed_notices: true as const } : {}),
    ...(onStall === null ? {} : { on_stall: onStall }),
    ...(maxLive === null ? {} : { max_live: maxLive }),
    ...(handback === null ? {} : { handback }),
    ...(quietMs === null ? {} : { quiet_ms: quietMs }),
    ...(milestone === null ? {} : { milestone }),
    mark: toHex(random.subarray(6)),
    launcher: ownIdentity(),
    environment: { digest: environmentDigest(key), credentials: credentialNames(request.credentials) },
  };
  return { ...unsigned, mac: await macOf(unsigned, key) };
}

async function stageJob(root: StateRoot, spec: Spec, stage: string): Promise<void> {
  createFolder(stage);
  const text = `${JSON.stringify(spec)}\n`;
  if (text.length > specBytes)
    throw new FaultError(
      'preflight',
      `cannot store a request of ${text.length} bytes: at most ${specBytes} are allowed`,
    );
  const isDurable = writeFileMeanwhile(`${stage}/spec.json`, text);
  createFolder(`${stage}/waiters`);
  if (spec.kind === 'timer') writeArmed(spec, stage);
  writeFile(jobPaths(root.folder, spec.id).marker, '', { sync: false });
  await isDurable;
}

/** What must be the same for a second launch with one key: everything that was asked for. */
function claimOf(spec: Spec, request: JobRequest): OnceClaim {
  const words = request.words === undefined ? {} : { words: hashOf(request.words) };
  return { id: spec.id, asked: askedOf(request), launcher: spec.launcher, ...words };
}

/** The job of a key whose call was the same, word for word. Checks nothing else and makes nothing. */
export async function launchedBefore(root: StateRoot, key: string, words: string): Promise<Launched | undefined> {
  if (!checkRoot(root.folder)) return undefined;
  const holder = readClaim(root.folder, key);
  if (holder?.words !== hashOf(words)) return undefined;
  await finishClaim(root.folder, holder);
  return { id: holder.id, isNew: false };
}

/** The key has a job already: finish what a dead launcher left, and give its id. */
async function takeOver(root: StateRoot, holder: OnceClaim, request: JobRequest): Promise<Launched> {
  await finishClaim(root.folder, holder);
  if (holder.asked !== askedOf(request)) {
    throw new FaultError(
      'preflight',
      `cannot use --once-key ${JSON.stringify(request.onceKey)}: job ${holder.id} has this key and another request`,
      `look at it with: ${nextCommands.observe(holder.id, root.option)}`,
    );
  }
  return { id: holder.id, isNew: false };
}

function undo(paths: JobPaths, stage: string): void {
  try {
    for (const target of [stage, paths.folder, paths.marker]) removeTree(target);
  } catch {
    // Whatever is left over is a job without a worker: readers call it never_started.
  }
}

function launchError(root: StateRoot, error: unknown): unknown {
  const code = errnoOf(error);
  if (error instanceof FaultError || code === undefined) return error;
  return new FaultError(
    'state_unusable',
    `cannot write into the state folder ${root.folder} (${code})`,
    'use another place with --state-dir DIR or JOB_STATE_DIR',
  );
}
