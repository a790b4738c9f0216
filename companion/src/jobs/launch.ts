// From a checked request to a job whose worker exists. The record is whole and durable before the worker is spawned, and the id is
// told only when the worker's identity is on disk: stage the folder, claim the once-key, rename into place, mark active,
// spawn, write launch.json. A crash between any two steps leaves either nothing or a job that says `never_started`.

import { errnoOf, FaultError } from '../core/errors.ts';
import { makeId } from '../core/ids.ts';
import type { Identity, Lineage, RunPart, Spec, StaffPart } from '../core/job.ts';
import { toHex } from '../core/sha256.ts';
import { defaultEngine } from '../engines/registry.ts';
import { isoOf, monotonicMs, nowMs } from '../platform/clock.ts';
import { credentialNames } from '../platform/env.ts';
import { createFolder, writeFile, writeFileMeanwhile } from '../platform/files.ts';
import { moveFolder, removeTree } from '../platform/folders.ts';
import { ownIdentity } from '../platform/identity.ts';
import { randomBytes } from '../platform/random.ts';
import { type JobPaths, jobPaths, type StateRoot, stagePath } from '../store/layout.ts';
import { canonical, ensureKey, environmentDigest, hashOf, macOf } from '../store/mac.ts';
import { claimOnce, type OnceClaim } from '../store/once.ts';
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
  const spec = await makeSpec(root, request, ownIdentity(), key);
  const paths = jobPaths(root.folder, spec.id);
  const stage = stagePath(root.folder, spec.id);
  let isPromised = false;
  try {
    await Promise.all([stageJob(root, spec, stage), defaultEngine.prepare()]);
    const claim = request.onceKey === null ? null : claimOnce(root.folder, request.onceKey, claimOf(spec, request));
    if (claim && !claim.isOurs) {
      undo(paths, stage);
      return await takeOver(root, claim.holder, request);
    }
    isPromised = claim !== null;
    if (!moveFolder(stage, paths.folder)) throw new FaultError('state_unusable', `cannot move ${stage} into place`);
    await startWorker(root.folder, spec, { paths }, 1);
  } catch (error) {
    // A key that names this job was given out for ever: its record must be there, and says `never_started`.
    if (isPromised) moveFolder(stage, paths.folder);
    else undo(paths, stage);
    throw launchError(root, error);
  }
  return { id: spec.id, isNew: true };
}

async function makeSpec(root: StateRoot, request: JobRequest, launcher: Identity, key: string): Promise<Spec> {
  const createdMs = nowMs();
  const random = randomBytes(22);
  const { deadlineMs, killGraceMs, maxOutputBytes, firstOutputMs, stallMs, onceKey, ...rest } = request;
  const unsigned = {
    schema: 1 as const,
    id: makeId(request.verb, createdMs, random),
    ...rest,
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
    environment: { digest: environmentDigest(key), credentials: credentialNames() },
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
  const { owner: _owner, label: _label, onceKey: _key, ...asked } = request;
  return hashOf(canonical(asked));
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
