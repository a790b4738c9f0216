// What the state folder's config.json may say (contract 6 and 11). It lies where an agent can write and a repository can bring one along,
// so it can only narrow: modes that run restricted, and a backend per mode among those that the user has anyway. A default from there
// counts only where the user left the choice open (no --backend, nothing in the user's own config); it names no program, and
// changes no profile. What is not understood is refused as a whole: to ignore half of a restriction would be to widen it.
import { FaultError } from '../core/errors.ts';
import { findMode, type ModeId, modeIds } from '../core/modes.ts';
import type { Profile } from '../core/staff.ts';
import { readJson } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';
import { rootPaths } from './layout.ts';

export type ModeBackends = Partial<Record<ModeId, string>>;

/** The content of the file: `{"restrict": ["review"], "default_backend": {"review": "claude"}}`, both optional. */
export interface Narrowing {
  restrict: readonly ModeId[];
  default_backend: ModeBackends;
}

export const noNarrowing: Narrowing = { restrict: [], default_backend: {} };

/**
 * What this state folder narrows; nothing when there is no file. `known` are the names of all backends there are, the user's own
 * ones included. Throws `preflight` for a file that is damaged, not ours, or says what is not known here.
 */
export function readNarrowing(root: string, known: readonly string[]): Narrowing {
  const file = rootPaths(root).config;
  const facts = factsOf(file);
  if (!facts) return noNarrowing;
  if (facts.kind !== 'file') throw refused(file, 'it is no regular file');
  if (facts.uid !== process.getuid?.() || (facts.mode & 0o022) !== 0)
    throw refused(file, 'others own it or may write it');
  const read = readJson(file);
  if (read.kind !== 'ok') throw refused(file, read.kind === 'missing' ? 'it is gone' : read.reason);
  return parse(read.value, known, file);
}

/** The whole content of the file; null when there is nothing to say. */
export function narrowingText({ restrict, default_backend }: Narrowing): string | null {
  const isEmpty = restrict.length === 0 && Object.keys(default_backend).length === 0;
  return isEmpty ? null : `${JSON.stringify({ restrict, default_backend }, null, 2)}\n`;
}

/** Where a restriction comes from, for the refusal. */
export interface Restriction {
  restrict: readonly string[];
  file: string;
}

/**
 * The profile a job of this mode gets: `restricted` where the mode is restricted, else what was asked for, else the fallback (the
 * mode's default, or an earlier job's profile). A wider profile that was asked for by name is refused, never quietly changed.
 */
export function narrowProfile(
  mode: string,
  profile: { asked: Profile | undefined; fallback: Profile },
  restrictions: readonly Restriction[],
): Profile {
  const found = restrictions.find(({ restrict }) => restrict.includes(mode));
  if (!found) return profile.asked ?? profile.fallback;
  if (profile.asked === undefined || profile.asked === 'restricted') return 'restricted';
  throw new FaultError(
    'preflight',
    `cannot use --profile ${profile.asked} for ${mode}: ${found.file} restricts this mode`,
    `leave --profile away, or change "restrict" there (setup --restrict)`,
  );
}

/** The user's own words on backends (config.ts). */
export interface UserChoice {
  default_backend?: string | undefined;
  default_backends?: ModeBackends | undefined;
}

/** Which backend a job of this mode gets without --backend, and who says so; undefined when nobody does. */
export function defaultBackend(
  mode: string,
  user: UserChoice,
  narrowing: Narrowing,
): { name: string; from: 'user' | 'state' } | undefined {
  const id = findMode(mode)?.id;
  const own = (id && user.default_backends?.[id]) ?? user.default_backend;
  if (own !== undefined) return { name: own, from: 'user' };
  const name = id && narrowing.default_backend[id];
  return name === undefined ? undefined : { name, from: 'state' };
}

function parse(value: Record<string, unknown>, known: readonly string[], file: string): Narrowing {
  const { restrict = [], default_backend = {}, ...rest } = value;
  const [extra] = Object.keys(rest);
  if (extra !== undefined) throw refused(file, `${JSON.stringify(extra)} is not known here`);
  if (!Array.isArray(restrict)) throw refused(file, '"restrict" is no list of modes');
  if (typeof default_backend !== 'object' || default_backend === null || Array.isArray(default_backend))
    throw refused(file, '"default_backend" is no object');
  const backends: ModeBackends = {};
  for (const [mode, name] of Object.entries(default_backend)) {
    if (typeof name !== 'string' || !known.includes(name))
      throw refused(file, `backend ${JSON.stringify(name)} is not known; there are ${known.join(', ')}`);
    backends[modeOf(mode, file)] = name;
  }
  return { restrict: [...new Set(restrict.map((mode) => modeOf(mode, file)))], default_backend: backends };
}

function modeOf(value: unknown, file: string): ModeId {
  const mode = typeof value === 'string' ? findMode(value) : undefined;
  if (mode) return mode.id;
  throw refused(file, `mode ${JSON.stringify(value)} is not known; there are ${modeIds.join(', ')}`);
}

function refused(file: string, reason: string): FaultError {
  return new FaultError(
    'preflight',
    `cannot use the config of the state folder ${file}: ${reason}`,
    'mend or remove it; its form is {"restrict": ["review"], "default_backend": {"review": "codex"}}',
  );
}
