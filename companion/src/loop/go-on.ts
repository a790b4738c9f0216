// What a reader does next, in one sentence with its command: a page that ends without it leaves a reader without memory to guess.
import { plainText } from '../core/excerpt.ts';
import type { LoopState } from '../core/loop.ts';
import { holderText } from './begin.ts';
import { loopCommand, nextMilestone } from './files.ts';
import type { LoopPlace } from './place.ts';

export function goOn(place: LoopPlace, state: LoopState): string {
  const { stopped } = state;
  if (stopped?.reason === 'finished') return 'the loop is finished: nothing is left to do';
  if (stopped)
    return `STOPPED (${stopped.reason}: ${short(stopped.detail)}): begin nothing; take it back with: ${loopCommand(place, 'stop', '--clear')}`;
  const next = nextMilestone(state);
  if (!next) return `all milestones are done: ${loopCommand(place, 'gate')}`;
  if (next.status === 'pending') return `take it: ${loopCommand(place, 'start')}`;
  return `${next.id} is in progress, held by ${holderText(state)}; its brief: ${loopCommand(place, 'next', '--prompt')}`;
}

/** After the check (S3.31, S3.32). Work that had begun is not lost to a reader who comes in the middle of it. */
export function lastWords(place: LoopPlace, state: LoopState | null, holds: boolean): string[] {
  if (holds && state) return [`go on: ${goOn(place, state)}`];
  const nogo = [
    'NO-GO: begin no milestone. Mend handoff, state and journal only (never source,',
    `tests or configuration), then: ${loopCommand(place, 'check')}`,
  ];
  const isMidway = state?.milestones.some(({ status }) => status === 'in_progress') ?? false;
  if (!state || (!isMidway && !state.stopped)) return nogo;
  return state.stopped
    ? [...nogo, goOn(place, state)]
    : [...nogo, `Changes that are not committed may be work that had begun: ${goOn(place, state)}`];
}

function short(text: string): string {
  return plainText(text).replaceAll(/\s+/g, ' ').slice(0, 200);
}
