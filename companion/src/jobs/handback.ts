// `--handback DIR` before anything is started: a folder of the user's own, outside everything that is measured, kept or trusted, that the
// agent can write to, and that no other live job has. What is wrong is refused; a folder whose last part is missing is made.
import path from 'node:path';
import type { Backend } from '../backends/backend.ts';
import { findBackend } from '../backends/registry.ts';
import { errnoOf, FaultError, usageError } from '../core/errors.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { HandbackPart, StaffPart, Warning, WorktreeNote } from '../core/job.ts';
import { isWriter } from '../core/modes.ts';
import { cacheFolder, configFolder, dataFolder } from '../platform/env.ts';
import { createFolder } from '../platform/files.ts';
import { factsOf, isFolder, realPath, removeEmptyFolder, writeFault } from '../platform/folders.ts';
import { findWorktree } from '../platform/git-folder.ts';
import type { StateRoot } from '../store/layout.ts';
import { baselineOf } from './handback-look.ts';
import { nextCommands } from './next-commands.ts';
import { realPlace } from './worktree.ts';
import { liveStaff } from './writers.ts';

export interface HandbackPlan {
  /** Absolute, links resolved. */
  dir: string;
  /** As it was named. */
  said: string;
  /** This launch made it. */
  isMade: boolean;
}

export interface HandbackPlace {
  /** What a relative path begins at. */
  from: string;
  /** Where the job works. */
  cwd: string;
  worktree: WorktreeNote | null;
  stateRoot: string;
}

/** Throws `usage` or `preflight`; makes nothing. */
export function planHandback(said: string, staff: StaffPart, place: HandbackPlace): HandbackPlan {
  if (said.trim() === '') throw usageError('cannot take --handback "": it needs the path of a folder');
  requireReach(staff);
  const dir = resolveDir(path.resolve(place.from, said), said);
  // Some agent CLIs take a pattern or a list where we give them a folder.
  const odd = /[*?[\]{},!\\]|\p{Cc}/u.exec(dir)?.[0];
  if (odd !== undefined)
    throw refused(said, `its path ${show(dir)} holds ${JSON.stringify(odd)}, which agent CLIs do not take as it is`);
  const fault = placeFault(dir, place);
  if (fault !== undefined) throw refused(said, fault);
  return { dir, said, isMade: false };
}

/** The last check, while nobody else launches: makes the folder and says what lies in it. Throws `busy` or `preflight`. */
export async function takeHandback(root: StateRoot, plan: HandbackPlan): Promise<HandbackPart> {
  const { dir, said } = plan;
  const rival = (await liveStaff(root.folder)).find((spec) => spec.handback?.dir === dir);
  if (rival)
    throw new FaultError(
      'busy',
      `cannot take --handback ${show(said)}: job ${rival.id} hands its files back in ${dir}`,
      `name another folder, or wait for that job: ${nextCommands.wait(rival.id, root.option)}`,
    );
  make(plan);
  // Somebody may have put something else in its place since it was looked at.
  if (resolveDir(dir, said) !== dir) throw refused(said, `${dir} leads somewhere else now`);
  const there = await baselineOf(dir);
  if ('trouble' in there) throw refused(said, `${dir} cannot be used: ${there.trouble}`, 'name an empty folder');
  return { dir, baseline: there.baseline };
}

/** After a launch that failed: only what it made, and only when nothing is in it. */
export function undoHandback({ dir, isMade }: HandbackPlan): void {
  if (isMade) removeEmptyFolder(dir);
}

/** Said once, at launch. */
export function handbackWarnings(staff: StaffPart): Warning[] {
  if (staff.brief) return [];
  const message = `${staff.custom?.name ?? staff.backend} gets its task as it is: of the hand-back folder it is told by JOB_HANDBACK alone`;
  return [{ code: 'handback_untold', message }];
}

function requireReach(staff: StaffPart): void {
  const backend: Backend | undefined = findBackend(staff.backend);
  const isShut = backend?.profiles[staff.profile]?.sandbox === true && !backend.takesFolders;
  if (isWriter(staff.profile) && !isShut) return;
  const why = isShut
    ? `the sandbox of ${staff.backend} cannot be opened for it`
    : 'with it the agent can write nothing';
  throw new FaultError(
    'preflight',
    `cannot take --handback with profile ${staff.profile}: ${why}`,
    'give it another profile (--profile standard), or say --handback none',
  );
}

/** The real path of what is there, or of what would be made. */
function resolveDir(dir: string, said: string): string {
  try {
    const facts = factsOf(dir);
    const real = facts || isFolder(dir) ? realPath(dir) : path.join(realPath(path.dirname(dir)), path.basename(dir));
    const found = factsOf(real);
    const around = found ?? factsOf(path.dirname(real));
    if (around?.kind !== 'folder') throw refused(said, `${found ? real : path.dirname(real)} is no folder`);
    return real;
  } catch (error) {
    if (error instanceof FaultError) throw error;
    const code = errnoOf(error) ?? 'error';
    if (code !== 'ENOENT') throw refused(said, `${show(dir)} cannot be looked at (${code})`);
    throw refused(said, `${show(path.dirname(dir))} does not exist; only the last part of the path is made`);
  }
}

/** Why this folder may not be it. */
function placeFault(dir: string, place: HandbackPlace): string | undefined {
  if (dir.split(path.sep).includes('.git')) return `${dir} lies among git's own files`;
  for (const [what, folder] of shutPlaces(place)) {
    if (isBelow(dir, folder)) return `${dir === folder ? 'it is' : 'it lies in'} ${what}, ${folder}`;
    if (isBelow(folder, dir)) return `${dir} holds ${what}, ${folder}`;
  }
  const facts = factsOf(dir);
  const uid = process.getuid?.() ?? 0;
  if (facts && facts.uid !== uid) return `${dir} belongs to user ${facts.uid}, not to us (${uid})`;
  if (facts && (facts.mode & 0o022) !== 0)
    return `others may write into ${dir} (mode ${(facts.mode & 0o777).toString(8)})`;
  const fault = writeFault(facts ? dir : path.dirname(dir));
  return fault === undefined ? undefined : `${facts ? dir : path.dirname(dir)} is not writable (${fault})`;
}

/** What is measured, what is kept there, and what is trusted. */
function shutPlaces({ cwd, worktree, stateRoot }: HandbackPlace): [what: string, folder: string][] {
  const at = isFolder(cwd) ? realPath(cwd) : cwd;
  const own = [configFolder(), dataFolder(), cacheFolder()].filter((folder) => folder !== undefined);
  return [
    ['the work tree of the job', findWorktree(at) ?? at],
    ['the state folder', realPlace(stateRoot)],
    ...(worktree
      ? ([
          ['the work tree of the job', worktree.path],
          ['the work tree that it was made from', worktree.from],
          ["git's own folder", worktree.git_folder],
        ] satisfies [string, string][])
      : []),
    ...own.map((folder): [string, string] => ['a folder of job-companion itself', realPlace(folder)]),
  ];
}

function isBelow(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer.replace(/\/$/, '')}/`);
}

function make(plan: HandbackPlan): void {
  try {
    plan.isMade = createFolder(plan.dir);
  } catch (error) {
    throw refused(plan.said, `${plan.dir} cannot be made (${errnoOf(error) ?? 'error'})`);
  }
}

function refused(said: string, why: string, next = 'name a folder of your own outside the work tree'): FaultError {
  return new FaultError('preflight', `cannot take --handback ${show(said)}: ${why}`, next);
}

function show(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' '), 400);
}
