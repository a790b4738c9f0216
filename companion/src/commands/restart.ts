// `restart ID`: a new, linked job from the same task and configuration, with a fresh limit and without the conversation. The only way
// anything is ever executed twice.
import path from 'node:path';
import { parseDuration } from '../core/duration.ts';
import { FaultError, usageError } from '../core/errors.ts';
import type { Spec, TimerPart, WorktreeNote } from '../core/job.ts';
import { limits } from '../core/limits.ts';
import { freshPaths } from '../jobs/artifact-paths.ts';
import { lineageOf, requireFolder, requireGenuine, requireSpec } from '../jobs/lineage.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { refresh } from '../jobs/reconcile.ts';
import { makeStaffPart } from '../jobs/staff-request.ts';
import { isEnded } from '../jobs/view.ts';
import { historicalOf } from '../jobs/workspace-record.ts';
import { isoOf, nowMs } from '../platform/clock.ts';
import { isFolder } from '../platform/folders.ts';
import { requireWholeId } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { checkRoot } from '../store/root.ts';
import type { Command, Context, Reply } from './command.ts';
import { launchAndTell, launchWords } from './launching.ts';
import { onceWords, repeatedLaunch } from './once-words.ts';
import { launchOptions, milestoneOption, staffOptions, writerOptions } from './options.ts';
import type { Parsed } from './parse.ts';
import { limitWarnings } from './run-part.ts';
import { requireProgram } from './run-program.ts';
import { askedProfile, launchStaff } from './staffing.ts';

export const restart: Command = {
  name: 'restart',
  summary: 'start the same task or command once more, as a new job',
  form: 'ID [options]',
  words: { min: 1, max: 1 },
  options: {
    timeout: {
      kind: 'duration',
      value: 'D',
      range: limits.runTimeout,
      help: 'hard limit (default: a fresh one, 60m for staff, 24h for run, of a watch its own; staff at most 120m)',
    },
    backend: { ...staffOptions.backend, help: 'another agent CLI (staff only)' },
    model: staffOptions.model,
    profile: staffOptions.profile,
    handback: {
      ...staffOptions.handback,
      help: 'another hand-back folder (staff only; default: that of the earlier job)',
    },
    share: writerOptions.share,
    ...milestoneOption,
    ...launchOptions,
  },
  notes:
    'Refused while the earlier job still runs. Label and --max-live are those of the earlier job unless given, the owner too when this call names none. The environment is that of this call.',
  examples: [
    'restart run-mik3x9ab-4f7q2z',
    'restart staffer-mik3xa01-9c2k4d --timeout 90m',
    'restart staffer-mik3xa01-9c2k4d --backend codex',
  ],

  async run(context, input) {
    const root = context.root(input);
    checkRoot(root.folder);
    const words = onceWords('restart', input, null, null);
    const repeated = await repeatedLaunch(context, input, words, false);
    if (repeated) return repeated;
    const id = requireWholeId(root, input.words[0] as string);
    const view = await refresh(root.folder, id);
    const spec = requireSpec(root, id);
    await requireGenuine(spec);
    if (!isEnded(view.state))
      throw new FaultError(
        'busy',
        `cannot restart job ${id}: it is ${view.state.state}`,
        nextCommands.cancel(id, root.option),
      );
    if (spec.timer) return againTimer(context, input, spec, spec.timer, words);
    if (spec.watch)
      return (await import('./restart-watch.ts')).againWatch(context, input, spec, spec.watch, root, words);
    if (spec.gate || spec.loop)
      throw new FaultError(
        'preflight',
        `cannot restart job ${id}: a ${spec.kind} judges the loop as it is now, so it is asked anew`,
        nextCommands.restart(id, root.option),
      );
    return spec.staff ? again(context, input, spec, root, words) : againRun(context, input, spec, root, words);
  },
};

function againRun(context: Context, input: Parsed, spec: Spec, root: StateRoot, words: string): Promise<Reply> {
  for (const name of ['backend', 'model', 'profile', 'handback'])
    if (input.has(name)) throw usageError(`cannot take --${name} for a ${spec.kind} job: it is for staff`);
  requireFolder(spec, 'restart', root.option);
  const run = spec.run;
  if (!run) throw new FaultError('preflight', `cannot restart job ${spec.id}: a ${spec.kind} job has no command`);
  const program = requireProgram(run.argv[0] as string, spec.cwd);
  const deadlineMs = input.durationOrDefault('timeout');
  return launchAndTell(context, input, {
    kind: 'run',
    verb: 'run',
    ...launchWords(input, spec),
    cwd: spec.cwd,
    deadlineMs,
    killGraceMs: spec.kill_grace_ms,
    maxOutputBytes: spec.max_output_bytes,
    firstOutputMs: spec.first_output_ms,
    stallMs: spec.stall_ms,
    lineage: lineageOf(spec, 'restart'),
    notify: spec.notify ?? null,
    onStall: spec.on_stall ?? null,
    // What must be new or changed is so against what is there now.
    run: { ...run, ...freshPaths(run), program },
    warnings: limitWarnings(run, deadlineMs),
    staff: null,
    words,
  });
}

/** The same delay once more, from now. An instant comes only once. */
async function againTimer(
  context: Context,
  input: Parsed,
  spec: Spec,
  earlier: TimerPart,
  words: string,
): Promise<Reply> {
  for (const name of ['backend', 'model', 'profile', 'handback', 'timeout', 'share'])
    if (input.has(name)) throw usageError(`cannot take --${name} for a timer: it has only its delay`);
  if (typeof earlier.delay_ms !== 'number')
    throw new FaultError(
      'preflight',
      `cannot restart job ${spec.id}: it was armed for the instant ${earlier.due_at}, which does not come again`,
      'arm a new one with: timer at INSTANT, or timer in DELAY',
    );
  const { launchTimer } = await import('./timer.ts');
  const timer = { ...earlier, due_at: isoOf(nowMs() + earlier.delay_ms) };
  return launchTimer(context, input, {
    timer,
    earlier: spec,
    lineage: lineageOf(spec, 'restart'),
    words,
    notify: spec.notify,
  });
}

/** The same task and configuration in a fresh conversation, with what the earlier one started from told as history. */
function again(context: Context, input: Parsed, spec: Spec, root: StateRoot, words: string): Promise<Reply> {
  const staff = spec.staff;
  if (!staff) throw new FaultError('preflight', `cannot restart job ${spec.id}: it has no task`);
  // A job that had a worktree of its own gets a new one, made where the first was made from.
  const cwd = spec.worktree ? originOf(spec, spec.worktree) : requireFolder(spec, 'restart', root.option);
  const before = staff.custom?.name ?? staff.backend;
  const isElsewhere = input.has('backend') && input.text('backend') !== before;
  const part = makeStaffPart({
    mode: staff.mode,
    stateRoot: root.folder,
    backend: input.text('backend') ?? before,
    // A model's name belongs to its CLI.
    model: input.text('model') ?? (isElsewhere ? null : staff.model),
    profile: askedProfile(input),
    earlierProfile: staff.profile,
    prompt: staff.prompt,
    resume: null,
    cwd,
  });
  if (part.brief) part.historical = historicalOf(jobPaths(root.folder, spec.id)) ?? staff.historical ?? null;
  if (staff.schema) part.schema = true;
  if (staff.base) part.base = staff.base;
  return launchStaff(context, input, {
    verb: spec.verb,
    earlier: spec,
    staff: part,
    cwd,
    lineage: lineageOf(spec, 'restart'),
    notify: spec.notify,
    isSynchronous: spec.verb === 'ask' && !input.has('id-only'),
    worktree: spec.worktree ? 'new' : null,
    words,
    deadlineMs: staffLimit(input),
    firstOutputMs: spec.first_output_ms,
    stallMs: spec.stall_ms,
    quietMs: spec.quiet_ms ?? null,
    onStall: spec.on_stall ?? null,
    handback: spec.handback?.dir ?? null,
  });
}

function originOf(spec: Spec, worktree: WorktreeNote): string {
  const folder = path.join(worktree.from, path.relative(worktree.path, spec.cwd));
  if (isFolder(folder)) return folder;
  throw new FaultError('preflight', `cannot restart job ${spec.id}: the folder ${folder} is gone`);
}

/** The option's own range is that of `run`. */
function staffLimit(input: Parsed): number {
  const text = input.text('timeout');
  return text === undefined ? limits.staffTimeout.default : parseDuration(text, '--timeout', limits.staffTimeout);
}
