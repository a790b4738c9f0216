// What is checked of an agent CLI before anything is started: is it new enough, and do its own settings leave the profile as it is meant.
// Both fail closed: what cannot be read is refused, and so is what is known to be too old. A version that cannot be told is no refusal.
import path from 'node:path';
import type { Backend, PolicyFile } from '../backends/backend.ts';
import { findBackend } from '../backends/registry.ts';
import { errnoOf, FaultError } from '../core/errors.ts';
import type { Profile, StaffPart, Warning } from '../core/job.ts';
import { variables } from '../platform/env.ts';
import { readRange } from '../platform/files.ts';
import { factsOf, listNames, realPath } from '../platform/folders.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { isOlder, versionOf } from '../platform/program-version.ts';

/** Settings above this are no settings. */
/** Settings of a CLI are no longer than this. */
export const policyBytes = 1024 * 1024;

/** Throws `preflight` for a CLI that is known to be older than `backend.oldest`. A program of the user's own is never asked. */
export function checkProgram(backend: Backend, program: string): { version: string | null } {
  const version = tellVersion(backend, program);
  if (version === null || backend.oldest === null || !isOlder(version, backend.oldest)) return { version };
  throw new FaultError(
    'preflight',
    `cannot use ${backend.title} ${version} (${program}): it is too old; needed: ${backend.oldest} or newer`,
    `update it: ${backend.install}`,
  );
}

/** Said once, at launch: whether the CLI is new enough could not be found out. */
export function versionWarnings({ backend: id, program, version }: StaffPart): Warning[] {
  const backend = findBackend(id);
  if (!backend?.oldest || (version ?? null) !== null) return [];
  const message = `cannot tell the version of ${backend.title} (${program}); needed: ${backend.oldest} or newer`;
  return [{ code: 'version_unknown', message }];
}

/** The version of an installed backend, or null; no word of a cache makes it too old. */
export function tellVersion(backend: Backend, program: string): string | null {
  // Whatever a user's own program does with `--version`: nobody asked for it.
  if (backend.oldest === null && backend.packages.length === 0) return null;
  const version = versionOf(program, backend.packages);
  if (version === null || backend.oldest === null || !isOlder(version, backend.oldest)) return version;
  return versionOf(program, backend.packages, { isFresh: true });
}

/** Throws `preflight` when the CLI's own settings, or those of the folder `cwd`, widen this profile, or cannot be read. None are fine. */
export function requirePolicy(backend: Backend, profile: Profile, cwd: string, version: string | null = null): void {
  const fault = policyFault(backend, profile, cwd, version);
  if (fault === null) return;
  throw new FaultError(
    'preflight',
    `cannot use profile ${profile} with ${backend.title}: ${fault}`,
    'change its settings, or name another backend or profile with --backend or --profile',
  );
}

/** Why this profile cannot be kept with the settings that are there; null when it can. */
export function policyFault(
  backend: Backend,
  profile: Profile,
  cwd: string,
  version: string | null = null,
): string | null {
  const policies = [...(backend.policy ? [backend.policy] : []), ...(backend.morePolicies ?? [])];
  for (const policy of policies) {
    const fault = faultOf(policy, { profile, version }, cwd);
    if (fault !== null) return fault;
  }
  return null;
}

interface Wanted {
  profile: Profile;
  version: string | null;
}

function faultOf(policy: PolicyFile, wanted: Wanted, cwd: string): string | null {
  const home = variables.home();
  if (!policy.inWorkspace && home === undefined)
    return `its settings ~/${policy.file} cannot be found: HOME is not set`;
  for (const place of policy.inWorkspace ? placesOf(cwd) : [home as string]) {
    const file = path.join(place, policy.file);
    for (const one of policy.file.endsWith('/') ? filesIn(file) : [file]) {
      const fault = fileFault(policy, wanted, one);
      if (fault !== null) return fault;
    }
  }
  return null;
}

/** Some CLIs look for the settings of a project at its root, others only where they are started. */
function placesOf(cwd: string): string[] {
  return [...new Set([findWorktree(cwd) ?? cwd, cwd])];
}

function filesIn(folder: string): string[] {
  return listNames(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => path.join(folder, name));
}

function fileFault(policy: PolicyFile, { profile, version }: Wanted, file: string): string | null {
  const read = readSettings(file);
  if ('fault' in read) return `its settings ${file} ${read.fault}`;
  if (read.text === null) return null;
  try {
    const fault = policy.findFault(read.text, profile, version);
    return fault === null ? null : `${fault} (${file})`;
  } catch {
    return `its settings ${file} are not understood`;
  }
}

/** Settings behind a link count, as they do for the CLI. */
export function readSettings(file: string): { text: string | null } | { fault: string } {
  try {
    if (!factsOf(file)) return { text: null };
    const read = readRange(realPath(file), 0, policyBytes);
    if (!read) return { fault: 'are no regular file' };
    if (read.size > policyBytes) return { fault: `are too large (${read.size} bytes) to be checked` };
    return { text: read.bytes.toString('utf8') };
  } catch (error) {
    return { fault: `cannot be read (${errnoOf(error) ?? 'error'})` };
  }
}
