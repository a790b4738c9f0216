// From the words of a staff verb to a checked request: which backend, which program, may it have this profile, is the conversation
// free. Everything that can be checked before a process exists is checked here.
import { type Backend, findArgumentFault } from '../backends/backend.ts';
import { backends, findBackend } from '../backends/registry.ts';
import type { UserConfig } from '../core/config.ts';
import { FaultError, usageError } from '../core/errors.ts';
import type { CustomBackend, Profile, StaffPart, Warning } from '../core/job.ts';
import { findMode } from '../core/modes.ts';
import { variables } from '../platform/env.ts';
import { findProgram } from '../platform/which.ts';
import { listActive } from '../store/catalog.ts';
import { readUserConfig, userConfigFile } from '../store/config.ts';
import { jobPaths, rootPaths, type StateRoot } from '../store/layout.ts';
import { defaultBackend, narrowProfile, readNarrowing } from '../store/narrow.ts';
import { readSpec, readState } from '../store/records.ts';
import { nextCommand, nextCommands } from './next-commands.ts';
import { checkProgram, requirePolicy } from './staff-program.ts';
import { isOver } from './writers.ts';

export interface StaffWords {
  mode: string;
  /** The state folder, whose config may narrow. */
  stateRoot: string;
  /** As the user named it; undefined takes the default. */
  backend: string | undefined;
  model: string | null;
  /** As the user named it; undefined takes that of the earlier job, else the default of the mode. */
  profile: Profile | undefined;
  earlierProfile?: Profile;
  prompt: string;
  resume: string | null;
  cwd: string;
}

/** Throws `usage` or `preflight` for what this backend, program, profile or task cannot be. */
export function makeStaffPart(words: StaffWords): StaffPart {
  const config = readUserConfig();
  const narrowing = readNarrowing(words.stateRoot, knownBackends(config));
  const name = words.backend ?? defaultBackend(words.mode, config, narrowing)?.name;
  const { backend, custom } = chooseBackend(name, config, words.cwd);
  if (words.model !== null && words.model.trim() === '')
    // An unset shell variable.
    throw usageError('cannot take --model "": it needs the name of a model');
  const profile = narrowProfile(words.mode, { asked: words.profile, fallback: fallbackOf(words) }, [
    { restrict: config.restrict ?? [], file: userConfigFile() ?? 'your config' },
    { restrict: narrowing.restrict, file: rootPaths(words.stateRoot).config },
  ]);
  const terms = backend.profiles[profile];
  if (terms === null) {
    const can = Object.entries(backend.profiles)
      .filter(([, one]) => one !== null)
      .map(([one]) => one);
    throw new FaultError(
      'preflight',
      `cannot use profile ${profile} with backend ${custom?.name ?? backend.id}: it cannot be kept there; possible: ${can.join(', ')}`,
    );
  }
  const program = programOf(backend, custom, words.cwd);
  const tooLong = custom?.prompt === 'argument' ? findArgumentFault([words.prompt]) : null;
  if (tooLong !== null)
    throw new FaultError(
      'preflight',
      `cannot give the task to backend ${custom?.name} as an argument: ${tooLong}`,
      'set "prompt": "stdin" for it in your config',
    );
  const { version } = checkProgram(backend, program);
  requirePolicy(backend, profile, words.cwd, version);
  const { mode, model, prompt, resume } = words;
  return {
    mode,
    backend: backend.id,
    program,
    version,
    model,
    profile,
    adds: terms.adds,
    brief: custom ? (custom.brief ?? false) : true,
    prompt,
    resume,
    custom,
  };
}

function fallbackOf(words: StaffWords): Profile {
  return words.earlierProfile ?? findMode(words.mode)?.profile ?? 'restricted';
}

/** Said once, at launch: nothing but the agent itself keeps its writes inside the workspace. */
export function launchWarnings(staff: StaffPart): Warning[] {
  return [...sandboxWarnings(staff), ...modelWarnings(staff)];
}

function modelWarnings({ model, custom }: StaffPart): Warning[] {
  if (model === null || !custom) return [];
  return [
    { code: 'model_ignored', message: `${custom.name} is told no model: put ${model} into its "argv" in your config` },
  ];
}

function sandboxWarnings(staff: StaffPart): Warning[] {
  const terms = findBackend(staff.backend)?.profiles[staff.profile];
  if (staff.profile !== 'standard' || terms?.sandbox !== false) return [];
  const message = `${staff.backend} has no sandbox here: nothing but its own obedience keeps its writes inside the workspace`;
  return [{ code: 'no_sandbox', message }];
}

function chooseBackend(
  name: string | undefined,
  config: UserConfig,
  cwd: string,
): { backend: Backend; custom: CustomBackend | null } {
  if (name === undefined) return { backend: onlyInstalled(config, cwd), custom: null };
  const own = Object.hasOwn(config.backends, name) ? config.backends[name] : undefined;
  const custom = findBackend('custom');
  if (own && custom) return { backend: custom, custom: { name, ...own } };
  const backend = findBackend(name);
  if (backend && backend.id !== 'custom') return { backend, custom: null };
  throw usageError(
    `cannot use backend ${JSON.stringify(name)}: there are ${known(config)}`,
    'your own programs go into "backends" of ~/.config/job-companion/config.json',
  );
}

function onlyInstalled(config: UserConfig, cwd: string): Backend {
  const found = backends.filter((backend) =>
    backend.programs.some((program) => findProgram(program, cwd) !== undefined),
  );
  if (found.length === 1 && found[0]) return found[0];
  const state =
    found.length === 0 ? 'no agent CLI is on PATH' : `several are installed (${found.map((one) => one.id).join(', ')})`;
  const next =
    found.length === 0
      ? `install one of them; how, and what is there, shows: ${nextCommand([], 'setup')}`
      : 'name one with --backend NAME';
  throw usageError(`cannot choose a backend: ${state}; there are ${known(config)}`, next);
}

/** Every name that `--backend` takes. */
export function knownBackends(config: UserConfig): string[] {
  return [...backends.map((backend) => backend.id).filter((id) => id !== 'custom'), ...Object.keys(config.backends)];
}

function known(config: UserConfig): string {
  return knownBackends(config).join(', ') || 'none';
}

function programOf(backend: Backend, custom: CustomBackend | null, cwd: string): string {
  const names = custom ? [custom.argv[0] as string] : backend.programs;
  for (const name of names) {
    const program = findProgram(name, cwd);
    if (program !== undefined) return program;
  }
  throw new FaultError(
    'preflight',
    `cannot find ${names.join(' or ')} for backend ${custom?.name ?? backend.id}: not on PATH (${variables.searchPath() || 'empty'})`,
    `${custom ? 'mend "backends" of your config' : `install it (${backend.install})`}, or choose another with --backend`,
  );
}

/** Refuse a second writer on one conversation. The caller holds the state folder's lock until its own job is there. */
export function requireFreeConversation(root: StateRoot, backend: string, conversation: string): void {
  const { folder, option } = root;
  for (const id of listActive(folder)) {
    const paths = jobPaths(folder, id);
    const spec = readSpec(paths);
    if (spec.kind !== 'ok' || spec.value.staff?.backend !== backend) continue;
    const state = readState(paths);
    const uses = spec.value.staff.resume ?? (state.kind === 'ok' ? state.value.conversation?.id : undefined);
    if (uses !== conversation || isOver(folder, id)) continue;
    throw new FaultError(
      'busy',
      `cannot continue conversation ${conversation}: job ${id} is using it`,
      nextCommands.wait(id, option),
    );
  }
}
