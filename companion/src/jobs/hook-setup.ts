// Where hooks of ours stand, and what would turn them on or off. claude: the worktree's own .claude/settings.local.json, which it keeps
// out of commits (the command holds paths of this machine), or with --user its settings for every worktree. codex: its own
// hooks.json only, for what lies in a repository's .codex is meant to be committed.
import path from 'node:path';
import { FaultError, messageOf } from '../core/errors.ts';
import {
  addHooks,
  areHooksOff,
  bareCommand,
  findOwnHooks,
  type HookEdit,
  type OwnHook,
  removeHooks,
} from '../core/hook-settings.ts';
import { type HookHost, hookEvents } from '../core/hooks.ts';
import { splitWords } from '../core/split-words.ts';
import { variables } from '../platform/env.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { companionFile, nodeFile } from '../platform/self.ts';
import type { SetupEdit } from './setup.ts';
import { readSettings } from './staff-program.ts';

interface HookPlace {
  host: HookHost;
  scope: 'worktree' | 'user';
  file: string;
}

/** One file with hooks of ours, for people and programs. */
export interface HookFinding extends HookPlace {
  events: string[];
  /** Why they do not work as they should; null when they do. */
  problem: string | null;
  /** The words that mend it. */
  next: string[];
}

/** Every place, whether there is a file or not. */
function placesOf(folder: string): HookPlace[] {
  const home = variables.home();
  const own = (base: string | undefined, name: string): string | undefined =>
    base ?? (home === undefined ? undefined : path.join(home, name));
  const user: [HookHost, string | undefined, string][] = [
    ['claude', own(variables.claudeFolder(), '.claude'), 'settings.json'],
    ['codex', own(variables.codexFolder(), '.codex'), 'hooks.json'],
  ];
  return [
    { host: 'claude', scope: 'worktree', file: path.join(folder, '.claude/settings.local.json') },
    ...user.flatMap(([host, base, name]): HookPlace[] =>
      base === undefined ? [] : [{ host, scope: 'user', file: path.join(base, name) }],
    ),
  ];
}

/** Turn them on for one host, or (null) off wherever they stand. `folder`: the worktree. */
export function planHooks(folder: string, host: HookHost | null, isForUser: boolean): SetupEdit[] {
  const places = placesOf(folder);
  if (host === null) return places.flatMap((place) => planEdit(place, (text) => removal(text)));
  const scope = host === 'codex' || isForUser ? 'user' : 'worktree';
  const place = places.find((one) => one.host === host && one.scope === scope);
  if (!place) throw new FaultError('preflight', `cannot find the settings of ${host}: HOME is not set`);
  const elsewhere = places.find((one) => one.host === host && one.scope === 'user');
  // Both would run, and say everything twice.
  if (scope === 'worktree' && elsewhere && findHooks(elsewhere)?.problem === null) return [];
  if (scope === 'worktree' && !isOwnFolder(path.dirname(place.file)))
    throw refused(place.file, `${path.dirname(place.file)} is no folder of its own`);
  const edits = planEdit(place, (text) => addHooks(text, host, [nodeFile(), companionFile()]));
  if (host !== 'codex') return edits;
  const trust = 'codex runs a new hook only after you have trusted it there: /hooks';
  return edits.map((edit) => ({ ...edit, changes: [...edit.changes, trust] }));
}

/** Where hooks of ours stand, and how they are. */
export function surveyHooks(folder: string): HookFinding[] {
  return placesOf(folder).flatMap((place) => findHooks(place) ?? []);
}

function findHooks(place: HookPlace): HookFinding | null {
  const read = readSettings(place.file);
  if ('fault' in read || read.text === null) return null;
  try {
    const found = findOwnHooks(read.text);
    if (found.length === 0) return null;
    const areOff = areHooksOff(read.text);
    const again = [place.host, ...(place.host === 'claude' && place.scope === 'user' ? ['--user'] : [])];
    return {
      ...place,
      events: found.map(({ event }) => event),
      problem: areOff ? 'its disableAllHooks is on, so no hook runs' : problemOf(found),
      next: ['setup', '--hooks', ...(areOff ? ['none'] : again), '--apply'],
    };
  } catch {
    // Nothing of ours can be told in it.
    return null;
  }
}

function problemOf(found: readonly OwnHook[]): string | null {
  const missing = hookEvents.find((event) => !found.some((one) => one.event === event));
  if (missing !== undefined) return `the hook for ${missing} is missing`;
  for (const { command } of found) {
    const split = splitWords(bareCommand(command));
    const gone = 'words' in split ? split.words.slice(0, 2).find((word) => !exists(word)) : command;
    if (gone !== undefined) return `the hook names ${gone}, which is not there`;
  }
  return null;
}

function planEdit({ file, scope }: HookPlace, change: (text: string | null) => HookEdit): SetupEdit[] {
  const read = readSettings(file);
  if ('fault' in read) throw refused(file, `they ${read.fault}`);
  let made: HookEdit;
  try {
    made = change(read.text);
  } catch (error) {
    throw refused(file, messageOf(error));
  }
  const { changes } = made;
  if (changes.length === 0) return [];
  // A settings file that a person has anyway is never taken away, only emptied.
  const after = made.text ?? (file.endsWith('settings.json') ? '{}\n' : null);
  return [{ file, before: read.text, after, followsLink: scope === 'user', isState: false, changes }];
}

function removal(text: string | null): HookEdit {
  return text === null ? { text, changes: [] } : removeHooks(text);
}

/** A repository can bring a link along. */
function isOwnFolder(folder: string): boolean {
  const facts = factsOf(folder);
  return !facts || facts.kind === 'folder';
}

function refused(file: string, why: string): FaultError {
  return new FaultError('preflight', `cannot change the settings ${file}: ${why}`);
}
