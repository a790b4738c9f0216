// From a checked request to a job whose worker exists. The record is whole and durable before the worker is spawned, and the id is
// told only when the worker's identity is on disk: stage the folder, claim the once-key, rename into place, mark active,
// spawn, write launch.json. A crash between any two steps leaves either nothing or a job that says `never_started`.

import { errnoOf, FaultError } from '../core/errors.ts';
import { makeId } from '../core/ids.ts';
import type { Identity, Lineage, RunPart, Spec, StaffPart, Warning, WorktreeNote } from '../core/job.ts';
import { toHex } from '../core/sha256.ts';
import { defaultEngine } from '../engines/registry.ts';
import { isoOf, monotonicMs, nowMs } from '../platform/clock.ts';
import { credentialNames } from '../platform/env.ts';
import { createFolder, writeFile, writeFileMeanwhile } from '../platform/files.ts';
import { moveFolder, removeTree } from '../platform/folders.ts';
import { ownIdentity } from '../platform/identity.ts';
import { withLock } from '../platform/lock.ts';
import { randomBytes } from '../platform/random.ts';
import { type JobPaths, jobPaths, rootPaths, type StateRoot, stagePath } from '../store/layout.ts';
import { canonical, ensureKey, environmentDigest, hashOf, macOf } from '../store/mac.ts';
import { claimOnce, isClaimed, type OnceClaim } from '../store/once.ts';
import { checkRoot, ensureRoot, requirePlace } from '../store/root.ts';
import { nextCommands } from './next-commands.ts';
import { finishClaim } from './once.ts';
import { startWorker } from './start-worker.ts';

export interface JobRequest {
  kind: Spec['kind'];
  verb: string;
  owner: string | null;
  label: string | null;
  onceKey: string | null;
  cwd: string;
  deadlineMs: number;
  killGraceMs: number;
  maxOutputBytes: number;
  firstOutputMs: number | null;
  stallMs: number | null;
  lineage: Lineage | null;
  run: RunPart | null;
  staff: StaffPart | null;
  /** A linked worktree of its own: made for this job (`new`), or that of the job it goes on with. */
  worktree?: 'new' | WorktreeNote | null;
  warnings?: Warning[];
  /** Names of variables that carry a credential of the backend, beside those that look like one. */
  credentials?: readonly string[];
  /**
   * May the job be there beside those that are? Asked while nobody else launches with a question of its own; throws when not. What it
   * finds goes into the record, and `told` is called when the record is in place.
   */
  admit?: () => { warnings: Warning[]; told?: (id: string) => void };
}

export interface Launched {
  id: string;
  /** False when the once-key already had a job. */
  isNew: boolean;
}

export async function launch(root: StateRoot, request: JobRequest): Promise<Launched> {
  if (!checkRoot(root.folder)) requirePlace(root.folder);
  const key = ensureKey();
  ensureRoot(root.folder);
  const publish = () => publishJob(root, request, key);
  const job = request.admit ? await withLock(rootPaths(root.folder).lock, publish) : await publish();
  if ('holder' in job) return takeOver(root, job.holder, request);
  const { spec, paths } = job;
  const worktree = request.worktree === 'new' ? (spec.worktree ?? null) : null;
  try {
    if (worktree) (await import('./worktree.ts')).addWorktree(worktree);
    await startWorker(root.folder, spec, { paths }, 1);
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
  key: string,
): Promise<{ spec: Spec; paths: JobPaths } | { holder: OnceClaim }> {
  const isTaken = request.onceKey !== null && isClaimed(root.folder, request.onceKey);
  const admitted = isTaken ? undefined : request.admit?.();
  const warnings = [...(request.warnings ?? []), ...(admitted?.warnings ?? [])];
  const spec = await makeSpec(root, { ...request, warnings }, ownIdentity(), key);
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
    admitted?.told?.(spec.id);
    return { spec, paths };
  } catch (error) {
    if (isPromised) moveFolder(stage, paths.folder);
    else undo(paths, stage);
    throw launchError(root, error);
  }
}

async function makeSpec(root: StateRoot, request: JobRequest, launcher: Identity, key: string): Promise<Spec> {
  const createdMs = nowMs();
  const random = randomBytes(22);
  const {
    deadlineMs,
    killGraceMs,
    maxOutputBytes,
    firstOutputMs,
    stallMs,
    onceKey,
    admit: _admit,
    credentials: _credentials,
    worktree,
    ...rest
  } = request;
  const id = makeId(request.verb, createdMs, random);
  const planned = worktree === 'new' ? (await import('./worktree.ts')).planWorktree(request.cwd, id) : null;
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
    mark: toHex(random.subarray(6)),
    launcher,
    environment: { digest: environmentDigest(key), credentials: credentialNames(request.credentials) },
  };
  return { ...unsigned, mac: await macOf(unsigned, key) };
}

async function stageJob(root: StateRoot, spec: Spec, stage: string): Promise<void> {
  createFolder(stage);
  const isDurable = writeFileMeanwhile(`${stage}/spec.json`, `${JSON.stringify(spec)}\n`);
  createFolder(`${stage}/waiters`);
  writeFile(jobPaths(root.folder, spec.id).marker, '', { sync: false });
  await isDurable;
}

/** What must be the same for a second launch with one key: everything that was asked for. */
function claimOf(spec: Spec, request: JobRequest): OnceClaim {
  return { id: spec.id, asked: askedOf(request), launcher: spec.launcher };
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

/** A digest, so that a key file holds no prompt. */
function askedOf(request: JobRequest): string {
  const {
    owner: _owner,
    label: _label,
    onceKey: _key,
    warnings: _warnings,
    credentials: _c,
    admit: _admit,
    ...asked
  } = request;
  // What is found out at launch may differ from one call to the next.
  const found = ['version', 'earlier', 'historical', 'adds', 'brief'];
  const staff = Object.fromEntries(Object.entries(asked.staff ?? {}).filter(([name]) => !found.includes(name)));
  return hashOf(canonical({ ...asked, staff: asked.staff ? staff : null }));
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
