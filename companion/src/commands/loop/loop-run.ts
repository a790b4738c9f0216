// `loop run`: the unattended loop as one job. Everything that would stop it in the middle of the night and can be seen now is refused now.
import { findBackend } from '../../backends/registry.ts';
import { FaultError } from '../../core/errors.ts';
import type { LoopPart, LoopState, Profile } from '../../core/job.ts';
import { limits } from '../../core/limits.ts';
import { loopLimits } from '../../core/limits-loop.ts';
import type { JobRequest } from '../../jobs/launch.ts';
import { nextCommands } from '../../jobs/next-commands.ts';
import { makeStaffPart } from '../../jobs/staff-request.ts';
import { isOver, settleLost } from '../../jobs/writers.ts';
import { editedFault, loopCommand, readLoop, requireLoop } from '../../loop/files.ts';
import { openLoopGit, uncommitted } from '../../loop/git.ts';
import { type LoopPlace, loopPlace } from '../../loop/place.ts';
import { requireTrust } from '../../loop/trust.ts';
import { realPath } from '../../platform/folders.ts';
import { listActive } from '../../store/catalog.ts';
import { jobPaths, type StateRoot } from '../../store/layout.ts';
import { readSpec } from '../../store/records.ts';
import type { Command } from '../command.ts';
import { launchAndTell, launchWords } from '../launching.ts';
import { onceWords, repeatedLaunch } from '../once-words.ts';
import { launchOptions, staffOptions } from '../options.ts';
import type { Parsed } from '../parse.ts';

export const run: Command = {
  name: 'loop run',
  summary: 'work through the milestones unattended, as one job',
  form: '[options]',
  words: { min: 0, max: 0 },
  options: {
    backend: staffOptions.backend,
    model: staffOptions.model,
    profile: staffOptions.profile,
    'judge-backend': {
      kind: 'text',
      value: 'NAME',
      help: 'agent CLI that answers the questions of the gate, restricted (default: that of --backend)',
    },
    'max-iterations': {
      kind: 'count',
      value: 'N',
      range: loopLimits.iterationsMax,
      help: 'at most so many iterations in this run, beside the budget of the loop',
    },
    every: {
      kind: 'duration',
      value: 'D',
      range: limits.watchFor,
      help: 'begin an iteration at most this often (default: go on at once)',
    },
    'staff-timeout': {
      kind: 'duration',
      value: 'D',
      range: limits.staffTimeout,
      help: 'hard limit of each staff job (default 60m, at most 120m)',
    },
    timeout: {
      kind: 'duration',
      value: 'D',
      range: limits.runTimeout,
      help: 'hard limit of the whole, counted from launch (default 24h, at most 30d)',
    },
    once: { kind: 'flag', help: 'exactly one iteration' },
    ...launchOptions,
  },
  notes:
    'For each milestone: a staff job, the verify commands, at most two rounds of mending, a checkpoint (one commit), the gate. It ends by itself: done when all milestones are done, failed with the code of the gate, canceled by cancel, by loop stop or by a declared condition.\nWhen its worker is killed, the next wait goes on at the same step. Before GO each question of the gate needs an answer: an agent gives it.',
  examples: ['loop run --backend codex', 'loop run --once --wait', 'loop run --max-iterations 10 --every 30m'],

  async run(context, input) {
    const root = context.root(input);
    const place = loopPlace(context.cwd, root);
    const words = onceWords('loop run', input, place.worktree, null);
    const repeated = await repeatedLaunch(context, input, words, false);
    if (repeated) return repeated;
    const state = requireReady(place);
    const judge = requireBackends(input, root, place);
    requireTidy(place, state);
    await settleLost(root.folder);
    const request: JobRequest = {
      kind: 'loop',
      verb: 'loop',
      ...launchWords(input),
      cwd: realPath(place.worktree),
      deadlineMs: input.durationOrDefault('timeout'),
      killGraceMs: limits.staffKillGrace.default,
      maxOutputBytes: limits.maxOutput.default,
      firstOutputMs: null,
      stallMs: null,
      lineage: null,
      run: null,
      staff: null,
      loop: partOf(input, place, judge),
      words,
      admit: async () => {
        requireAlone(root, place);
        return { warnings: [] };
      },
    };
    return launchAndTell(context, input, request);
  },
};

function partOf(input: Parsed, place: LoopPlace, judge: string): LoopPart {
  const backend = input.text('backend') ?? null;
  return {
    folder: realPath(place.worktree),
    backend,
    model: input.text('model') ?? null,
    profile: input.text('profile') ?? null,
    judge_backend: judge,
    max_iterations: input.count('max-iterations') ?? null,
    every_ms: input.duration('every') ?? null,
    once: input.has('once'),
    staff_ms: input.durationOrDefault('staff-timeout'),
  };
}

function requireReady(place: LoopPlace): LoopState {
  const state = requireLoop(place);
  const read = readLoop(place);
  if (read.kind === 'ok' && read.isEdited) throw editedFault(place);
  if (state.stopped && state.stopped.reason !== 'finished')
    throw new FaultError(
      'preflight',
      `cannot run the loop: it is stopped (${state.stopped.reason})`,
      `take the stop back with: ${loopCommand(place, 'stop', '--clear')}`,
    );
  if (state.verify.length === 0)
    throw new FaultError(
      'preflight',
      'cannot run the loop unattended: it has no verify command, so nothing would prove that a milestone is done',
      loopCommand(place, 'plan', '--verify "COMMAND"'),
    );
  requireTrust(place, state);
  return state;
}

/** The same questions that each staff job and the judge would be asked, now instead of at night. Gives the name of the judge. */
function requireBackends(input: Parsed, root: StateRoot, place: LoopPlace): string {
  const words = { stateRoot: root.folder, resume: null, cwd: place.worktree };
  const staff = makeStaffPart({
    ...words,
    mode: 'implement',
    backend: input.text('backend'),
    model: input.text('model') ?? null,
    profile: input.text('profile') as Profile | undefined,
    prompt: 'a milestone',
  });
  const judge = input.text('judge-backend') ?? staff.custom?.name ?? staff.backend;
  const isOwn = !findBackend(judge);
  makeStaffPart({
    ...words,
    mode: 'ask',
    backend: judge,
    model: null,
    profile: isOwn ? 'standard' : 'restricted',
    prompt: 'questions',
  });
  return judge;
}

/** A checkpoint commits everything: what somebody left lying there would come into the commit of a milestone. */
function requireTidy(place: LoopPlace, state: LoopState): void {
  if (state.current) return;
  const opened = openLoopGit(place);
  if (!('git' in opened)) return;
  const changed = uncommitted(place, opened.git);
  if ('reason' in changed || changed.files.length === 0) return;
  const more = changed.files.length > 3 ? ` and ${changed.files.length - 3} more` : '';
  throw new FaultError(
    'preflight',
    `cannot run the loop in a worktree with changes that are not committed (${changed.files.slice(0, 3).join(', ')}${more}): they would become part of the first milestone`,
    'commit them, or take them away (git stash)',
  );
}

function requireAlone(root: StateRoot, place: LoopPlace): void {
  const folder = realPath(place.worktree);
  for (const id of listActive(root.folder)) {
    const spec = readSpec(jobPaths(root.folder, id));
    if (spec.kind !== 'ok' || spec.value.loop?.folder !== folder || isOver(root.folder, id)) continue;
    throw new FaultError(
      'busy',
      `cannot run this loop twice: job ${id} runs it since ${spec.value.created_at}`,
      nextCommands.waitOn(id, spec.value, root.option),
    );
  }
}
