// `continue`: a new, linked job in a conversation that is known here - of a job, by its own id, or the latest one.
import { FaultError, usageError } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { findLatest } from '../jobs/latest.ts';
import {
  conversationOf,
  earlierOf,
  lineageOf,
  requireFolder,
  requireGenuine,
  requireSameFolder,
  requireSpec,
} from '../jobs/lineage.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { refresh } from '../jobs/reconcile.ts';
import { makeStaffPart } from '../jobs/staff-request.ts';
import { isEnded } from '../jobs/view.ts';
import { variables } from '../platform/env.ts';
import { requireWholeId } from '../store/catalog.ts';
import type { StateRoot } from '../store/layout.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { folderSaid, onceWords, repeatedLaunch } from './once-words.ts';
import { launchOptions, staffOptions, writerOptions } from './options.ts';
import type { Parsed } from './parse.ts';
import { folderOf } from './run.ts';
import { askedProfile, launchStaff } from './staffing.ts';
import { taskOf } from './task.ts';

export const continueCommand: Command = {
  name: 'continue',
  summary: 'go on in the conversation of an earlier staff job',
  form: '[--job ID | --conversation CID] (--prompt TEXT | --prompt-file PATH | --stdin) [options]',
  words: { min: 0, max: 0 },
  options: {
    job: { kind: 'text', value: 'ID', help: 'the job whose conversation goes on (whole id)' },
    conversation: { kind: 'text', value: 'CID', help: 'a conversation that a job of this worktree recorded' },
    ...staffOptions,
    cwd: { kind: 'text', value: 'DIR', help: 'folder to work in (default: that of the earlier job)' },
    share: writerOptions.share,
    ...launchOptions,
  },
  notes:
    'Backend, mode, model, profile, folder and label are those of the earlier job unless given, the owner too when this call names none. The limit is a fresh one, and --max-live is asked for anew.',
  examples: ['continue --job staffer-mik3xa01-9c2k4d --prompt "Add a test"', 'continue --prompt "Go on"'],

  async run(context, input) {
    const root = context.root(input);
    checkRoot(root.folder);
    const prompt = await taskOf(context, input);
    const words = onceWords('continue', input, input.has('cwd') ? folderSaid(context, input) : null, prompt);
    const repeated = await repeatedLaunch(context, input, words, false);
    if (repeated) return repeated;
    const parent = parentOf(root, input);
    await requireGenuine(parent);
    const staff = parent.staff;
    const resume = conversationOf(root.folder, parent);
    if (!staff || resume === null) {
      const why = staff ? 'no conversation id was seen' : `a ${parent.kind} job keeps no conversation`;
      throw new FaultError('preflight', `cannot continue job ${parent.id}: ${why}`, await instead(root, parent));
    }
    const cwd = input.has('cwd') ? folderOf(context, input) : requireFolder(parent, 'continue', root.option);
    requireSameFolder(parent, cwd, root.option);
    const part = makeStaffPart({
      mode: staff.mode,
      stateRoot: root.folder,
      backend: input.text('backend') ?? staff.custom?.name ?? staff.backend,
      model: input.text('model') ?? staff.model,
      profile: askedProfile(input),
      earlierProfile: staff.profile,
      prompt,
      resume,
      cwd,
    });
    if (part.backend !== staff.backend)
      throw new FaultError(
        'preflight',
        `cannot continue a conversation of ${staff.backend} with ${part.backend}`,
        nextCommands.restart(parent.id, root.option),
      );
    context.tell(
      `continues ${parent.id} (${staff.custom?.name ?? part.backend}, mode ${part.mode}, profile ${part.profile})`,
    );
    part.earlier = earlierOf(root.folder, part.backend, resume);
    if (staff.schema) part.schema = true;
    if (staff.base) part.base = staff.base;
    return launchStaff(context, input, {
      verb: parent.verb,
      // Another task: when it may begin is not asked for again.
      earlier: { owner: parent.owner, label: parent.label, milestone: parent.milestone ?? null },
      staff: part,
      cwd,
      lineage: lineageOf(parent, 'continue'),
      isSynchronous: parent.verb === 'ask' && !input.has('id-only'),
      words,
      asksForLatest: !input.has('job') && !input.has('conversation'),
      quietMs: input.duration('quiet-after') ?? parent.quiet_ms ?? null,
      worktree: input.has('cwd') ? null : (parent.worktree ?? null),
      handback: parent.handback?.dir ?? null,
    });
  },
};

/** What can be done with a job that has no conversation to go on in. */
async function instead(root: StateRoot, parent: Spec): Promise<string | null> {
  const { state } = await refresh(root.folder, parent.id);
  if (!isEnded(state)) return nextCommands.waitOn(parent.id, parent, root.option);
  // An instant does not come again.
  if (parent.timer && parent.timer.delay_ms === null) return null;
  return nextCommands.restart(parent.id, root.option);
}

function parentOf(root: StateRoot, input: Parsed): Spec {
  const [job, conversation] = [input.text('job'), input.text('conversation')];
  if (job !== undefined && conversation !== undefined)
    throw usageError('cannot take --job and --conversation together');
  if (job !== undefined) return requireSpec(root, requireWholeId(root, job));
  const owner = conversation === undefined ? (input.text('owner') ?? variables.owner() ?? null) : null;
  const id = findLatest(root.folder, owner, (_, spec) => {
    const known = spec.staff ? conversationOf(root.folder, spec) : null;
    return conversation === undefined ? known !== null : known === conversation;
  });
  if (id !== undefined) return requireSpec(root, id);
  const what = conversation === undefined ? 'a conversation' : `conversation ${JSON.stringify(conversation)}`;
  const whose = owner === null ? '' : ` of owner ${owner}`;
  throw new FaultError(
    'unknown_job',
    `cannot find ${what}: no job${whose} in ${root.folder} recorded one`,
    nextCommands.status(root.option),
  );
}
