// What can be told of every backend without a model call: is it there, how old, are there signs of a sign-in, what would each profile
// add, and do its own settings leave the profile as it is meant. Shows names of files and variables, never what is in them.
import path from 'node:path';
import type { Backend, ProfileTerms } from '../backends/backend.ts';
import { backends, findBackend } from '../backends/registry.ts';
import type { UserConfig } from '../core/config.ts';
import type { Profile } from '../core/job.ts';
import { variables } from '../platform/env.ts';
import { readText } from '../platform/files.ts';
import { exists, realPath } from '../platform/folders.ts';
import { isOlder } from '../platform/program-version.ts';
import { findProgram } from '../platform/which.ts';
import { policyFault, tellVersion } from './staff-program.ts';

export interface SignIn {
  /** `unknown`: this backend leaves no signs that we know. A sign proves no valid sign-in, and none proves no missing one. */
  state: 'signs' | 'no_signs' | 'unknown';
  /** Below the home folder. */
  files: string[];
  variables: string[];
}

export interface BackendSurvey {
  backend: string;
  title: string;
  /** From the user's own config. */
  custom: boolean;
  /** The names that were searched, and what was found: absolute, or null. */
  searched: readonly string[];
  program: string | null;
  /** A file of that name on PATH that may not be executed; only when nothing better was found. */
  not_executable: string | null;
  version: string | null;
  oldest: string | null;
  too_old: boolean;
  sign_in: SignIn;
  profiles: Readonly<Record<Profile, ProfileTerms | null>>;
  /** Why a profile cannot be kept with the CLI's own settings. */
  faults: Partial<Record<Profile, string>>;
  install: string;
  /** Found, new enough, and at least one profile can be kept. */
  usable: boolean;
}

/** Enough to see whether there is anything in it. */
const signBytes = 64 * 1024;

const profileNames: readonly Profile[] = ['restricted', 'standard', 'unrestricted'];

/** All backends in the order of the registry, then the user's own; or the one of this name. */
export function surveyBackends(config: UserConfig, cwd: string, only?: string): BackendSurvey[] {
  const own = Object.entries(config.backends);
  // A name of the user's own config counts first, as it does at launch.
  const found = backends
    .filter(({ id }) => id !== 'custom' && (only === undefined || id === only) && !Object.hasOwn(config.backends, id))
    .map((backend) => survey(backend, backend.id, backend.programs, cwd));
  const custom = findBackend('custom') as Backend;
  const mine = own
    .filter(([name]) => only === undefined || name === only)
    .map(([name, { argv }]) => survey(custom, name, argv.slice(0, 1), cwd));
  return [...found, ...mine];
}

function survey(backend: Backend, name: string, searched: readonly string[], cwd: string): BackendSurvey {
  const program = searched.map((one) => findProgram(one, cwd)).find((one) => one !== undefined) ?? null;
  const version = program === null ? null : tellVersion(backend, program);
  const isTooOld = version !== null && backend.oldest !== null && isOlder(version, backend.oldest);
  const faults: BackendSurvey['faults'] = {};
  for (const profile of profileNames) {
    const fault = backend.profiles[profile] === null ? null : policyFault(backend, profile, cwd, version);
    if (fault !== null) faults[profile] = fault;
  }
  const canKeep = profileNames.some((one) => backend.profiles[one] !== null && faults[one] === undefined);
  return {
    backend: name,
    title: backend.title,
    custom: backend.id === 'custom',
    searched,
    program,
    not_executable: program === null ? findBlocked(searched) : null,
    version,
    oldest: backend.oldest,
    too_old: isTooOld,
    sign_in: signInOf(backend),
    profiles: backend.profiles,
    faults,
    install: backend.install,
    usable: program !== null && !isTooOld && canKeep,
  };
}

export function signInOf({ signIn }: Backend): SignIn {
  const home = variables.home();
  const files = signIn.files.filter((file) => home !== undefined && holdsSomething(path.join(home, file)));
  const found = { files, variables: signIn.variables.filter((name) => variables.isSet(name)) };
  if (signIn.files.length + signIn.variables.length === 0) return { state: 'unknown', ...found };
  return { state: found.files.length + found.variables.length > 0 ? 'signs' : 'no_signs', ...found };
}

/** Some CLIs write their file at the first start, with nothing in it. What cannot be looked into counts as it stands. */
function holdsSomething(file: string): boolean {
  if (!exists(file)) return false;
  try {
    const text = readText(realPath(file), signBytes)?.trim();
    if (text === undefined) return true;
    return text !== '' && !/^(?:null|\{\s*\}|\[\s*\])$/.test(text);
  } catch {
    return true;
  }
}

/** The commonest reason why a program "that is there" is not found. */
function findBlocked(names: readonly string[]): string | null {
  const folders = variables.searchPath().split(':').filter(Boolean);
  const files = names
    .filter((name) => !name.includes('/'))
    .flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return files.find(exists) ?? null;
}
