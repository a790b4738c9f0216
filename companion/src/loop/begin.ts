// Beginning a milestone: one at a time, and whoever comes second is told who holds it.
import { FaultError, usageError } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import type { LoopState, Milestone } from '../core/loop.ts';
import { isoNow } from '../platform/clock.ts';
import { changeLoop, loopCommand } from './files.ts';
import { headOf, openLoopGit } from './git.ts';
import type { LoopPlace } from './place.ts';

export interface Begun {
  state: LoopState;
  milestone: Milestone;
  /** False when the same owner had begun it before. */
  isNew: boolean;
}

export async function beginMilestone(
  place: LoopPlace,
  who: { owner: string | null; milestone: string | undefined; job?: string },
): Promise<Begun> {
  const git = openLoopGit(place);
  const base = 'git' in git ? headOf(git.git) : null;
  let isNew = true;
  const state = await changeLoop(place, (old) => {
    if (old.stopped)
      throw new FaultError(
        'preflight',
        `cannot start: the loop is stopped (${old.stopped.reason}: ${plainText(old.stopped.detail)})`,
        loopCommand(place, 'stop', '--clear'),
      );
    const working = old.milestones.filter(({ status }) => status === 'in_progress');
    if (working.length > 1)
      throw new FaultError(
        'preflight',
        `cannot start: two milestones are in progress: ${working.map(({ id }) => id).join(', ')}`,
        loopCommand(place, 'check'),
      );
    const [open] = working;
    if (open) {
      const isSame =
        (who.milestone ?? open.id) === open.id &&
        old.current !== null &&
        ((old.current.owner === who.owner && who.owner !== null) ||
          (who.job !== undefined && old.current.job === who.job));
      if (!isSame) throw held(place, old, open);
      isNew = false;
      return old;
    }
    const chosen = chosenOf(place, old, who.milestone);
    const now = isoNow();
    return {
      ...old,
      milestones: old.milestones.map((one) =>
        one.id === chosen.id ? { ...one, status: 'in_progress' as const } : one,
      ),
      current: {
        milestone: chosen.id,
        owner: who.owner,
        started: now,
        base,
        ...(who.job === undefined ? {} : { job: who.job }),
      },
      since: now,
    };
  });
  const milestone = state.milestones.find(({ status }) => status === 'in_progress') as Milestone;
  return { state, milestone, isNew };
}

/** Who holds the milestone that is in progress. */
export function holderText({ current }: LoopState): string {
  if (!current) return 'somebody';
  const who = current.owner === null ? 'a caller without an owner' : plainText(current.owner);
  return `${who}${current.job === undefined ? '' : ` (job ${current.job})`} since ${current.started}`;
}

function held(place: LoopPlace, state: LoopState, open: Milestone): FaultError {
  return new FaultError(
    'busy',
    `cannot start: milestone ${open.id} is in progress, held by ${holderText(state)}`,
    loopCommand(place, 'status'),
  );
}

function chosenOf(place: LoopPlace, state: LoopState, id: string | undefined): Milestone {
  const pending = state.milestones.filter(({ status }) => status === 'pending');
  const [first] = pending;
  if (!first) throw new FaultError('preflight', 'cannot start: no milestone is pending', loopCommand(place, 'gate'));
  if (id === undefined) return first;
  const found = pending.find((one) => one.id === id);
  if (!found)
    throw usageError(
      `cannot start ${JSON.stringify(plainText(id))}: no such pending milestone; there are ${pending.map((one) => one.id).join(', ')}`,
    );
  return found;
}
