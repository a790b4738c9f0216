// What proves that a file of the loop belongs to a state. No times of files: a clone or a checkout makes all of them new (E5).
import type { LoopState } from '../core/loop.ts';
import { canonical, hashOf } from '../store/mac.ts';

/** Over all fields but the hash itself: a hand edit shows as a difference. */
export function hashOfState({ hash: _hash, ...rest }: LoopState): string {
  return hashOf(canonical(rest)).slice(0, 16);
}

export function isEdited(state: LoopState): boolean {
  return state.hash !== hashOfState(state);
}

/** Of what a handoff tells: the plan and the iteration, not the counters, nor whether the next milestone was begun. */
export function planHash(state: LoopState): string {
  const milestones = state.milestones.map(({ id, title, acceptance, status, risk }) => ({
    ...{ id, title, acceptance, risk: risk ?? 'standard' },
    isDone: status === 'done',
  }));
  const { goal, iteration, stop_conditions, budget, verify } = state;
  return hashOf(canonical({ goal, iteration, stop_conditions, budget, verify, milestones })).slice(0, 16);
}

/** The last line of handoff.md. */
export function stampLine(state: LoopState): string {
  return `<!-- loop iteration ${state.iteration} plan ${planHash(state)} -->`;
}
