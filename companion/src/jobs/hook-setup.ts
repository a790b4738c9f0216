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
  hookBlock,
  mentionsOwn,
  type OwnHook,
  removeHooks,
} from '../core/hook-settings.ts';
import { type HookHost, hookEvents } from '../core/hooks.ts';
import { sha256 } from '../core/sha256.ts';
import { splitWords } from '../core/split-words.ts';
import { copiesOf } from '../platform/edit-file.ts';
import { dataFolder, variables } from '../platform/env.ts';
import { exists } from '../platform/folders.ts';
import { readToEdit, type ToEdit } from '../platform/read-to-edit.ts';
import { companionFile, nodeFile } from '../platform/self.ts';
import type { SetupEdit } from './setup.ts';
import { policyBytes, readSettings } from './staff-program.ts';
import { realPlace } from './worktree.ts';

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

/** Turn them on for one host, or (null) off wherever they stand, `isForUser` only outside the worktree. `folder`: the worktree. */
export function planHooks(folder: string, host: HookHost | null, isForUser: boolean): SetupEdit[] {
  const places = placesOf(folder);
  if (host === null)
    return places.filter((place) => !isForUser || place.scope === 'user').flatMap((place) => planRemoval(place));
  const scope = host === 'codex' || isForUser ? 'user' : 'worktree';
  const place = places.find((one) => one.host === host && one.scope === scope);
  if (!place) throw new FaultError('preflight', `cannot find the settings of ${host}: HOME is not set`);
  const elsewhere = places.find((one) => one.host === host && one.scope === 'user');
  // Both would run, and say everything twice.
  if (scope === 'worktree' && elsewhere && findHooks(elsewhere)?.problem === null) return [];
  const self = [nodeFile(), companionFile()];
  const byHand = `put this into ${place.file} yourself, each entry beside what is there:\n${hookBlock(host, self).trimEnd()}`;
  const edits = planEdit(place, (text) => addHooks(text, host, self), byHand);
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

function planRemoval(place: HookPlace): SetupEdit[] {
  const { text, isHidden } = readPlace(place);
  // What is not understood is no trouble where nothing of ours can be.
  if (text === null ? !isHidden : !mentionsOwn(text)) return [];
  const byHand = `take the hooks whose command ends with "hook ${place.host} EVENT 2>/dev/null || :" out of ${place.file} yourself`;
  return planEdit(place, (old) => (old === null ? { text: old, changes: [] } : removeHooks(old)), byHand);
}

function readPlace({ file, scope }: HookPlace): ToEdit {
  return readToEdit(file, scope === 'user', policyBytes);
}

/** `byHand`: what somebody does whose settings we do not change. */
function planEdit(place: HookPlace, change: (text: string | null) => HookEdit, byHand: string): SetupEdit[] {
  const { file, scope } = place;
  const read = readPlace(place);
  if (read.text === null && read.fault !== null) throw refused(file, read.fault, byHand);
  let made: HookEdit;
  try {
    made = change(read.text);
  } catch (error) {
    throw refused(file, read.fault ?? messageOf(error), byHand);
  }
  const { changes } = made;
  if (changes.length === 0) return [];
  if (read.fault !== null) throw refused(file, read.fault, byHand);
  if (read.linkTo !== null) changes.unshift(`it is a link: what is changed is ${read.linkTo}`);
  const copyBase = scope === 'user' ? undefined : copyBaseOf(file);
  const isOurs = made.isAsMade === true && read.linkTo === null && !wasThere(copyBase ?? file);
  // A settings file that a person has anyway is never taken away, only emptied.
  const after = made.text ?? (isOurs ? null : '{}\n');
  const edit = { file, before: read.text, after, followsLink: scope === 'user', isState: false, changes };
  return [copyBase === undefined ? edit : { ...edit, copyBase }];
}

/** A copy without hooks of ours was made when they came: then the file was there before them. */
function wasThere(copyBase: string): boolean {
  return copiesOf(copyBase).some((copy) => {
    const read = readSettings(copy);
    try {
      return 'fault' in read || read.text === null || findOwnHooks(read.text).length === 0;
    } catch {
      return true;
    }
  });
}

/** Copies of a file of a worktree lie outside of it, where no commit takes them along: settings may be private. */
function copyBaseOf(file: string): string {
  const own = dataFolder();
  if (own === undefined)
    throw refused(file, 'there is no place for a copy: HOME and XDG_STATE_HOME are not set', 'set HOME');
  const folder = realPlace(path.dirname(file));
  const hash = Buffer.from(sha256(Buffer.from(folder))).toString('hex');
  const place = path.basename(path.dirname(folder)).replace(/[^A-Za-z0-9._-]+/g, '-');
  return path.join(own, 'settings-copies', `${place.slice(0, 40)}-${hash.slice(0, 8)}`, path.basename(file));
}

function refused(file: string, why: string, next: string): FaultError {
  return new FaultError('preflight', `cannot change the settings ${file}: ${why}`, next);
}
