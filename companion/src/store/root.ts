// Finding and making the state folder (contract 6). It lies where an agent may write and a cloned repository can bring one along,
// so it is used only when it is ours in every respect; otherwise the command ends with 1 and nothing is done through it.
import path from 'node:path';
import { errnoOf, FaultError } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import { isoNow } from '../platform/clock.ts';
import { createFolder, readJson, writeFile, writeJson } from '../platform/files.ts';
import {
  exists,
  factsOf,
  isFolder,
  listNames,
  moveFolder,
  type PathFacts,
  removeTree,
  writeFault,
} from '../platform/folders.ts';
import { findWorktree, trackingOf } from '../platform/git-folder.ts';
import { rootPaths, type StateRoot } from './layout.ts';

const folderName = '.job-state';
const elsewhere = 'use another place with --state-dir DIR or JOB_STATE_DIR';

/** Where the state folder is or would be: `--state-dir`, then JOB_STATE_DIR, then the worktree, then an own one above us. */
export function locateRoot(given: {
  option?: string | undefined;
  variable?: string | undefined;
  cwd: string;
}): StateRoot {
  const named = given.option ?? given.variable;
  if (named !== undefined) {
    if (named === '') throw new FaultError('usage', 'cannot use --state-dir "": it needs the path of a folder');
    const folder = path.resolve(given.cwd, named);
    return { folder, option: ['--state-dir', folder] };
  }
  const worktree = findWorktree(given.cwd);
  if (worktree !== undefined) return { folder: path.join(worktree, folderName), option: [] };
  for (let at = given.cwd; ; at = path.dirname(at)) {
    const folder = path.join(at, folderName);
    if (factsOf(folder)?.uid === userId() && exists(rootPaths(folder).meta)) return { folder, option: [] };
    if (at === path.dirname(at)) return { folder: path.join(given.cwd, folderName), option: [] };
  }
}

/**
 * Refuse a folder that is not ours. Returns false when there is none yet. Where git's files cannot be read, nothing new is started (`launch`),
 * and what is there already can be looked at and ended.
 */
export function checkRoot(folder: string, use: 'read' | 'launch' = 'read'): boolean {
  const facts = lookAt(folder);
  if (!facts) return false;
  if (facts.kind === 'link') throw unusable(folder, 'it is a symbolic link');
  if (facts.kind !== 'folder') throw unusable(folder, 'it is no folder');
  if (facts.uid !== userId()) throw unusable(folder, `it belongs to user ${facts.uid}, not to us (${userId()})`);
  if ((facts.mode & 0o022) !== 0)
    throw unusable(folder, `others may write into it (mode ${(facts.mode & 0o777).toString(8)})`);
  let names: string[];
  try {
    names = listNames(folder);
  } catch (error) {
    throw unusable(folder, `it cannot be read (${errnoOf(error)})`);
  }
  // Another launcher that is just making it has at most a temporary file in it.
  if (names.every((name) => /^\.meta\.json\.\d+\.\d+\.tmp$/.test(name))) return false;
  const meta = readJson(rootPaths(folder).meta);
  if (meta.kind !== 'ok' || meta.value.tool !== 'job-companion')
    throw unusable(folder, 'it holds files but no meta.json of ours');
  if (typeof meta.value.schema !== 'number' || meta.value.schema > 1) {
    throw unusable(folder, `a newer release wrote it (schema ${String(meta.value.schema)}, known: 1)`);
  }
  requireUntracked(folder, use);
  for (const name of ['active', 'jobs', 'once', 'slots', 'lock']) {
    const inner = factsOf(path.join(folder, name));
    if (inner && (inner.kind !== 'folder' || inner.uid !== userId()))
      throw unusable(folder, `its ${name} is no folder of ours`);
  }
  return true;
}

function requireUntracked(folder: string, use: 'read' | 'launch'): void {
  const { isTracked, doubt } = trackingOf(folder);
  if (isTracked) throw unusable(folder, 'git tracks files in it, so a repository may have brought it along');
  if (doubt !== undefined && use === 'launch')
    throw unusable(folder, `whether git tracks files in it cannot be told (${plainText(doubt)})`);
}

/** Could the folder be made? Asked before anything else is made. */
export function requirePlace(folder: string): void {
  const parent = path.dirname(folder);
  if (exists(folder)) return;
  if (!isFolder(parent)) throw unusable(folder, `there is no folder ${parent}`);
  const fault = writeFault(parent);
  if (fault !== undefined) throw unusable(folder, `${parent} is not writable (${fault})`);
  requireUntracked(folder, 'launch');
}

/** Make the folder when there is none, and prove that it can be written. */
export function ensureRoot(folder: string): void {
  const fresh = `${folder}.new-${process.pid}`;
  try {
    if (checkRoot(folder, 'launch') || exists(folder)) {
      const fault = writeFault(folder);
      if (fault !== undefined) throw unusable(folder, `it is not writable (${fault})`);
      fill(folder);
      return;
    }
    requireUntracked(folder, 'launch');
    createFolder(fresh);
    fill(fresh);
    // Twenty launchers at once: one rename wins, the others take what is there.
    if (!moveFolder(fresh, folder)) removeTree(fresh);
    checkRoot(folder);
  } catch (error) {
    tryRemove(fresh);
    if (error instanceof FaultError) throw error;
    throw unusable(folder, `it cannot be made or written (${errnoOf(error) ?? String(error)})`);
  }
}

/** What is missing in a folder that is ours, or empty. meta.json first: with it the folder is ours, whatever comes next. */
function fill(folder: string): void {
  const paths = rootPaths(folder);
  if (!exists(paths.meta)) writeJson(paths.meta, { schema: 1, tool: 'job-companion', created_at: isoNow() });
  if (!exists(paths.ignore)) writeFile(paths.ignore, '*\n', { sync: false });
  for (const inner of [paths.active, paths.once, paths.slots, paths.jobs]) createFolder(inner);
}

function tryRemove(folder: string): void {
  try {
    removeTree(folder);
  } catch {
    // Then it stays; it is empty or nearly so.
  }
}

function lookAt(folder: string): PathFacts | undefined {
  try {
    return factsOf(folder);
  } catch (error) {
    throw unusable(folder, `it cannot be looked at (${errnoOf(error)})`);
  }
}

function unusable(folder: string, reason: string): FaultError {
  return new FaultError('state_unusable', `cannot use the state folder ${folder}: ${reason}`, elsewhere);
}

function userId(): number {
  return process.getuid?.() ?? 0;
}
