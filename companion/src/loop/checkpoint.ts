// The boundary of an iteration: the milestone is done, iteration +1, an entry in the journal, a new handoff, and one commit with the code.

import { oneLine } from '../core/byte-names.ts';
import { FaultError, usageError } from '../core/errors.ts';
import type { LoopState, Milestone } from '../core/loop.ts';
import { quoteWords } from '../core/shell-words.ts';
import { isoNow } from '../platform/clock.ts';
import { holderText } from './begin.ts';
import { beginCheckpoint, type Finished, finishBegun } from './begun.ts';
import { editedFault, lastDone, lockLoop, loopCommand, requireLoop, sealState, stateText } from './files.ts';
import { headOf, openLoopGit } from './git.ts';
import { extraOf, makeHandoff } from './handoff.ts';
import { entryText, remediationNote } from './journal.ts';
import { loopJobs } from './own-jobs.ts';
import type { LoopPlace } from './place.ts';
import { readHandoff } from './rewrite.ts';
import { isEdited } from './stamp.ts';

export interface CheckpointWords {
  did: readonly string[];
  verified: readonly string[];
  deficiencies: readonly string[];
  next: readonly string[];
  risks: readonly string[];
  keyFiles: readonly string[];
  message: string | undefined;
  owner: string | null;
  job?: string;
  isDone: boolean;
  /** Code that was mended after a NO-GO: no iteration of its own. */
  isFix: boolean;
  commits: boolean;
}

export interface Checkpointed extends Finished {
  state: LoopState;
  milestone: Milestone;
  message: string | null;
}

export function makeCheckpoint(place: LoopPlace, words: CheckpointWords): Promise<Checkpointed> {
  return lockLoop(
    place,
    () => {
      const old = requireLoop(place);
      if (isEdited(old)) throw editedFault(place);
      const milestone = words.isFix ? fixedMilestone(place, old, words) : workedOn(place, old, words);
      const message = messageOf(words, milestone);
      const opened = openLoopGit(place);
      const commits = words.commits && place.isGit;
      const base = 'git' in opened ? headOf(opened.git) : null;
      const state = sealState(words.isFix ? { ...old, fixed: isoNow() } : nextState(old, milestone, words, base));
      const at = isoNow();
      const entry = entryText(
        state.iteration,
        at,
        { ...words, did: [...didOf(words, milestone), ...jobLines(place, old)] },
        words.isFix ? remediationNote(old.remediation_rounds) : undefined,
      );
      const before = extraOf(readHandoff(place));
      const handoff = makeHandoff(state, {
        risks: words.risks.length > 0 ? words.risks : before.risks,
        keyFiles: words.keyFiles.length > 0 ? words.keyFiles : before.keyFiles,
        next: words.next,
      });
      beginCheckpoint(place, {
        stateText: stateText(state),
        entry,
        handoff,
        message: commits ? message : null,
        from: old.hash,
      });
      const done = finishBegun(place);
      if (!done) throw new Error('the checkpoint that was just begun cannot be read');
      return { ...done, state, milestone, message: commits ? message : null };
    },
    { commits: words.commits },
  );
}

function nextState(
  { fixed: _fixed, ...old }: LoopState,
  milestone: Milestone,
  words: CheckpointWords,
  base: string | null,
): LoopState {
  const status = words.isDone ? ('done' as const) : ('pending' as const);
  return {
    ...old,
    iteration: old.iteration + 1,
    milestones: old.milestones.map((one) => (one.id === milestone.id ? { ...one, status } : one)),
    current: null,
    // From where the work began: commits that were made meanwhile are of this boundary, too.
    boundary: old.current?.base ?? base,
    ...(words.isDone ? { last: milestone.id, last_iteration: old.iteration + 1 } : {}),
    remediation_rounds: 0,
  };
}

function workedOn(place: LoopPlace, state: LoopState, words: CheckpointWords): Milestone {
  const working = state.milestones.filter(({ status }) => status === 'in_progress');
  if (working.length > 1)
    throw new FaultError(
      'preflight',
      `cannot make a checkpoint: two milestones are in progress: ${working.map(({ id }) => id).join(', ')}`,
      loopCommand(place, 'check'),
    );
  const [milestone] = working;
  if (!milestone)
    throw new FaultError(
      'preflight',
      'cannot make a checkpoint: no milestone is in progress',
      loopCommand(place, 'start'),
    );
  requireHolder(place, state, words);
  return milestone;
}

/** All that changed goes into the commit, so nobody else's work may be among it. */
function requireHolder(place: LoopPlace, state: LoopState, words: CheckpointWords): void {
  const { current } = state;
  if (current === null || current.owner === null || current.owner === words.owner) return;
  if (current.job !== undefined && current.job === words.job) return;
  throw new FaultError(
    'busy',
    `cannot make a checkpoint: milestone ${current.milestone} is held by ${holderText(state)}`,
    loopCommand(place, 'checkpoint', '--owner', quoteWords([current.owner])),
  );
}

function fixedMilestone(place: LoopPlace, state: LoopState, words: CheckpointWords): Milestone {
  requireHolder(place, state, words);
  const milestone =
    lastDone(state) ?? state.milestones.find(({ status }) => status === 'in_progress') ?? state.milestones[0];
  if (state.iteration === 0 || !milestone)
    throw new FaultError(
      'preflight',
      'cannot take --fix: there was no checkpoint yet',
      loopCommand(place, 'checkpoint'),
    );
  return milestone;
}

/** `feat(ID): words`, `fix(ID): words` with --fix; one that is given must have that form. */
function messageOf(words: CheckpointWords, milestone: Milestone): string {
  const kind = words.isFix ? 'fix' : 'feat';
  const head = `${kind}(${milestone.id}): `;
  const { message } = words;
  if (message === undefined) return `${head}${oneLine(words.did[0] ?? milestone.title).slice(0, 200)}\n`;
  const [first = ''] = message.split('\n');
  if (!first.startsWith(head) || first.slice(head.length).trim() === '')
    throw usageError(
      `cannot take --message ${JSON.stringify(oneLine(first).slice(0, 80))}: its form is "${head}<description>"`,
    );
  return `${message.trimEnd()}\n`;
}

function didOf(words: CheckpointWords, milestone: Milestone): string[] {
  const head = words.isFix
    ? `mended ${milestone.id}`
    : `${milestone.id}: ${milestone.title} (${words.isDone ? 'done' : 'not done'})`;
  return [head, ...words.did];
}

/** With start and end, so that nobody has to ask what ran in the background (S3.34). */
function jobLines(place: LoopPlace, state: LoopState): string[] {
  return loopJobs(place, state.since).map(({ spec, state: job }) => {
    const end = job?.ended_at === null || job === null ? 'not ended' : `to ${job.ended_at}`;
    return `job ${spec.id} (${spec.milestone}): ${job?.state ?? 'unknown'}, from ${spec.created_at} ${end}`;
  });
}
