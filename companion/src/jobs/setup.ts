// What `setup` changes, worked out before anything is written: the state folder's config.json (narrows only), the user's own config, and
// permission rules in a CLI's settings. Each edit says key by key what it changes; nothing else of the file is shown.
import path from 'node:path';
import { addReadRules } from '../backends/agy-reads.ts';
import { findBackend } from '../backends/registry.ts';
import { type UserConfig, userConfig } from '../core/config.ts';
import { FaultError, messageOf } from '../core/errors.ts';
import { type ModeId, modeIds } from '../core/modes.ts';
import { isoNow } from '../platform/clock.ts';
import { applyAll, type FileEdit } from '../platform/edit-file.ts';
import { variables } from '../platform/env.ts';
import { readText } from '../platform/files.ts';
import { isFolder } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import { userConfigFile } from '../store/config.ts';
import { rootPaths, type StateRoot } from '../store/layout.ts';
import { defaultBackend, type ModeBackends, type Narrowing, narrowingText, noNarrowing } from '../store/narrow.ts';
import { ensureRoot } from '../store/root.ts';
import { readSettings } from './staff-program.ts';

/** One file that would be changed. */
export interface SetupEdit extends FileEdit {
  /** `KEY: OLD -> NEW`, for people. */
  changes: string[];
  /** Does it lie in the state folder, which may have to be made first? */
  isState: boolean;
}

/** Undefined leaves what is there; `clear` takes all defaults away before the others are set. */
export interface Choices {
  restrict: ModeId[] | undefined;
  defaults: { clear: boolean; all: string | undefined; modes: Partial<Record<ModeId, string | null>> } | undefined;
}

/** `user` is only asked what of it has no effect. */
export function planStateEdit(root: StateRoot, now: Narrowing, choices: Choices, user: UserConfig): SetupEdit[] {
  const { restrict = now.restrict, defaults } = choices;
  const general = defaults?.all === undefined ? {} : Object.fromEntries(modeIds.map((mode) => [mode, defaults.all]));
  const default_backend = withModes({ ...(defaults?.clear ? {} : now.default_backend), ...general }, defaults?.modes);
  const file = rootPaths(root.folder).config;
  const edit = {
    file,
    before: readText(file) ?? null,
    after: narrowingText({ restrict, default_backend }),
    followsLink: false,
    isState: true,
  };
  return asEdit(edit, [
    ['restrict', now.restrict, restrict],
    ['default_backend', now.default_backend, default_backend],
  ]).map((one) => ({ ...one, changes: one.changes.map((change) => withEffect(change, default_backend, user)) }));
}

/** A default of the state folder counts only where the user's own config leaves the choice open. */
function withEffect(change: string, wanted: ModeBackends, user: UserConfig): string {
  const mode = modeIds.find((id) => change.startsWith(`default_backend.${id}: `));
  const own = mode && defaultBackend(mode, user, noNarrowing)?.name;
  if (mode === undefined || own === undefined || wanted[mode] === undefined || wanted[mode] === own) return change;
  return `${change} (has no effect here: your config says ${own})`;
}

export function planUserEdit(now: UserConfig, choices: Choices): SetupEdit[] {
  const file = userConfigFile();
  if (file === undefined)
    throw new FaultError('preflight', 'cannot find your config folder: neither HOME nor XDG_CONFIG_HOME is set');
  const before = readText(file) ?? null;
  // Fields that this release does not know stay.
  const all = (before === null ? {} : JSON.parse(before)) as Record<string, unknown>;
  const { restrict = now.restrict ?? [], defaults } = choices;
  const wanted = {
    default_backend: defaults?.all ?? (defaults?.clear ? undefined : now.default_backend),
    default_backends: withModes(defaults?.clear ? {} : (now.default_backends ?? {}), defaults?.modes),
    restrict,
  };
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined || Object.keys(value).length === 0) delete all[key];
    else all[key] = value;
  }
  userConfig.parse(all);
  const after = `${JSON.stringify(all, null, 2)}\n`;
  return asEdit({ file, before, after, followsLink: false, isState: false }, [
    ['default_backend', now.default_backend ?? null, wanted.default_backend ?? null],
    ['default_backends', now.default_backends ?? {}, wanted.default_backends],
    ['restrict', now.restrict ?? [], restrict],
  ]);
}

/** Rules that let a restricted agy look around below this folder. */
export function planReadRules(folder: string): SetupEdit[] {
  const policy = findBackend('agy')?.policy;
  const home = variables.home();
  if (!policy) throw new Error('there is no backend agy with settings');
  if (home === undefined) throw new FaultError('preflight', 'cannot find the settings of agy: HOME is not set');
  const file = path.join(home, policy.file);
  const refused = (why: string): FaultError =>
    new FaultError('preflight', `cannot change the settings ${file}: ${why}`);
  if (!isFolder(path.dirname(file))) throw refused('agy was never started here; start it once and sign in');
  const read = readSettings(file);
  if ('fault' in read) throw refused(`they ${read.fault}`);
  let made: { text: string; added: string[] };
  try {
    made = addReadRules(read.text, folder);
  } catch (error) {
    throw refused(messageOf(error));
  }
  if (made.added.length === 0) return [];
  const changes = made.added.map((rule) => `permissions.allow: adds ${JSON.stringify(rule)}`);
  return [{ file, before: read.text, after: made.text, followsLink: true, isState: false, changes }];
}

/** Write all of it. Returns the copies that were kept, in the same order. */
export async function applyEdits(root: StateRoot, edits: readonly SetupEdit[]): Promise<(string | null)[]> {
  const stamp = isoNow().replace(/[-:]|\.\d+/g, '');
  const write = (): (string | null)[] => applyAll(edits, stamp);
  if (!edits.some((edit) => edit.isState)) return write();
  ensureRoot(root.folder);
  return withLock(rootPaths(root.folder).lock, write);
}

function withModes(backends: ModeBackends, modes: Partial<Record<ModeId, string | null>> = {}): ModeBackends {
  const all = Object.entries({ ...backends, ...modes }).filter(([, name]) => name !== null);
  return Object.fromEntries(all) as ModeBackends;
}

/** None when nothing changes. */
function asEdit(edit: Omit<SetupEdit, 'changes'>, keys: [key: string, before: unknown, after: unknown][]): SetupEdit[] {
  const changes = keys.flatMap(([key, before, after]) => tellChange(key, before, after));
  return changes.length === 0 ? [] : [{ ...edit, changes }];
}

/** Per mode where a mode has a value of its own. */
function tellChange(key: string, before: unknown, after: unknown): string[] {
  if (isObject(before) && isObject(after)) {
    const modes = modeIds.filter((mode) => Object.hasOwn(before, mode) || Object.hasOwn(after, mode));
    return modes.flatMap((mode) => tellChange(`${key}.${mode}`, before[mode] ?? null, after[mode] ?? null));
  }
  const [old, fresh] = [before, after].map((value) => JSON.stringify(value));
  return old === fresh ? [] : [`${key}: ${old} -> ${fresh}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
