// Until loop/brief.ts is there.
import type { LoopState, Milestone } from '../core/loop.ts';

export function milestoneBrief(
  _state: LoopState,
  milestone: Milestone,
  _how: { commits: 'you' | 'checkpoint' },
): string {
  return `Milestone ${milestone.id}: ${milestone.title}\n\nAcceptance: ${[milestone.acceptance].flat().join('; ')}\n`;
}
