// What the staff verbs share: the request, who else is at work there, the launch.
import { findBackend } from '../backends/registry.ts';
import { usageError } from '../core/errors.ts';
import type { Lineage, Profile, Spec, StaffPart, Warning, WorktreeNote } from '../core/job.ts';
import { limits } from '../core/limits.ts';
import type { ModeId } from '../core/modes.ts';
import { type JobRequest, launch } from '../jobs/launch.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { requireBase } from '../jobs/review.ts';
import { versionWarnings } from '../jobs/staff-program.ts';
import { launchWarnings, makeStaffPart, requireFreeConversation } from '../jobs/staff-request.ts';
import { findNeighbours, modeOf, neighbourWarning, settleLost, tellNeighbours } from '../jobs/writers.ts';
import { findWorktree } from '../platform/git-folder.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import { checkLaunchOptions, launchWords, onStallOf, tellLaunched } from './launching.ts';
import { notifyOf } from './notifying.ts';
import type { Parsed } from './parse.ts';

export interface StaffLaunch {
  verb: string;
  staff: StaffPart;
  cwd: string;
  lineage: Lineage | null;
  isSynchronous: boolean;
  /** The call as it was said (once-words.ts). */
  words: string;
  asksForLatest?: boolean;
  /** Absent: what the options of this call say. */
  worktree?: 'new' | WorktreeNote | null;
  /** Where they are not options of this command. */
  deadlineMs?: number;
  firstOutputMs?: number | null;
  stallMs?: number | null;
  quietMs?: number | null;
  /** What it keeps of the job that it goes on with or starts again, unless it is given. */
  earlier?: Partial<Pick<Spec, 'owner' | 'label' | 'max_live' | 'milestone'>>;
  /** Of the job that is started again. */
  notify?: readonly string[] | null | undefined;
  onStall?: string | null;
  /** The folder of the job that goes on, unless another is named. */
  handback?: string | null;
}

export async function launchStaff(context: Context, input: Parsed, job: StaffLaunch): Promise<Reply> {
  checkLaunchOptions(input);
  const root = context.root(input);
  if (input.has('milestone')) await (await import('./milestone.ts')).requireMilestone(context, input, root);
  const worktree = job.worktree === undefined ? worktreeOf(input) : job.worktree;
  const handback = await planOf(context, input, { ...job, worktree }, root);
  const request: JobRequest = {
    kind: 'staff',
    verb: job.verb,
    ...launchWords(input, job.earlier),
    notify: await notifyOf(context, input, job.notify),
    cwd: job.cwd,
    deadlineMs: job.deadlineMs ?? input.durationOrDefault('timeout'),
    killGraceMs: limits.staffKillGrace.default,
    maxOutputBytes: limits.maxOutput.default,
    firstOutputMs: job.firstOutputMs ?? input.duration('first-output') ?? null,
    stallMs: job.stallMs ?? input.duration('stall-after') ?? null,
    quietMs: job.quietMs ?? input.duration('quiet-after') ?? null,
    onStall: job.onStall ?? onStallOf(input),
    lineage: job.lineage,
    run: null,
    staff: job.staff,
    worktree,
    handback: handback ? { dir: handback.plan.dir, baseline: {} } : null,
    warnings: [...launchWarnings(job.staff), ...(handback?.warnings ?? [])],
    words: job.words,
    asksForLatest: job.asksForLatest ?? false,
    credentials: findBackend(job.staff.backend)?.signIn.variables ?? [],
  };
  await settleLost(root.folder);
  const admit = async () => {
    const may = { share: input.has('share'), isolate: job.worktree === undefined };
    const admitted = await admitBeside(root, request, job.staff, may);
    return handback ? { ...admitted, handback: await handback.take() } : admitted;
  };
  const launched = await launch(root, { ...request, admit }).catch((error) => {
    handback?.undo();
    throw error;
  });
  // Told to whoever launches, not kept: that a wrapper does not say its version is no fault of the job.
  if (launched.isNew) for (const warning of versionWarnings(job.staff)) context.tell(`note: ${warning.message}`);
  if (handback && launched.isNew) {
    const wait = nextCommands.waitOn(launched.id, request, root.option);
    context.tell(`hand-back: ${handback.plan.dir}; a new file there wakes: ${wait}`);
  }
  if (request.worktree === 'new' && launched.isNew) await tellDirty(context, job.cwd);
  return tellLaunched(context, input, root, launched, job.isSynchronous);
}

/** `--handback`, checked; null for none. Loaded for it alone. */
async function planOf(context: Context, input: Parsed, job: StaffLaunch, root: StateRoot) {
  const given = input.text('handback');
  const said = given === 'none' ? null : (given ?? job.handback ?? null);
  if (said === null) return null;
  const { handbackWarnings, planHandback, takeHandback, undoHandback } = await import('../jobs/handback.ts');
  const worktree = job.worktree === 'new' ? null : (job.worktree ?? null);
  const place = { from: context.cwd, cwd: job.cwd, worktree, stateRoot: root.folder };
  const plan = planHandback(said, job.staff, place);
  return {
    plan,
    warnings: handbackWarnings(job.staff),
    take: () => takeHandback(root, plan),
    undo: () => undoHandback(plan),
  };
}

async function tellDirty(context: Context, cwd: string): Promise<void> {
  const { isDirtyTree } = await import('../jobs/worktree.ts');
  const root = findWorktree(cwd);
  if (root !== undefined && isDirtyTree(root))
    context.tell(`note: what is uncommitted in ${root} is not in the worktree of this job`);
}

function worktreeOf(input: Parsed): 'new' | null {
  if (input.has('worktree') && input.has('share'))
    throw usageError('cannot take --worktree and --share together: a tree of its own is shared with nobody');
  return input.has('worktree') ? 'new' : null;
}

/** Nobody else may go on in the same conversation, and who writes in the same worktree is told to both. */
async function admitBeside(
  root: StateRoot,
  request: JobRequest,
  staff: StaffPart,
  may: { share: boolean; isolate: boolean },
): Promise<{ warnings: Warning[]; told?: (id: string) => void }> {
  if (staff.resume !== null) requireFreeConversation(root, staff.backend, staff.resume);
  if (request.worktree === 'new') return { warnings: [] };
  const neighbours = await findNeighbours(root, staff, request.cwd, may);
  return {
    warnings: neighbours.map((id) => neighbourWarning(id, modeOf(root.folder, id))),
    told: (id) => tellNeighbours(root.folder, neighbours, id),
  };
}

export function freshStaff(
  context: Context,
  input: Parsed,
  words: { mode: ModeId; prompt: string; cwd: string },
): StaffPart {
  const part = makeStaffPart({
    ...words,
    stateRoot: context.root(input).folder,
    backend: input.text('backend'),
    model: input.text('model') ?? null,
    profile: askedProfile(input),
    resume: null,
  });
  if (input.has('schema')) part.schema = true;
  const base = input.text('base');
  if (base !== undefined) part.base = requireBase(words.cwd, base);
  return part;
}

/** `--profile`, or undefined for the default of the mode. */
export function askedProfile(input: Parsed): Profile | undefined {
  return input.text('profile') as Profile | undefined;
}

export { taskOf } from './task.ts';
