// The brief for one milestone (S3.8): what is to be built, how, and where the boundary is. Pure.

import { oneLine } from '../core/byte-names.ts';
import type { LoopState, Milestone } from '../core/loop.ts';
import { acceptanceOf } from './handoff.ts';

const noAcceptance = 'none is written down: say first what must be true, so that a test can prove it';

/** `commits`: does whoever gets it commit, or does the checkpoint do that? */
export function milestoneBrief(
  state: LoopState,
  milestone: Milestone,
  { commits }: { commits: 'you' | 'checkpoint' },
): string {
  const acceptance = acceptanceOf(milestone);
  const verify = state.verify.map(({ cmd }) => `- \`${oneLine(cmd)}\``);
  const commit =
    commits === 'you'
      ? `Commit when the suite is green, with the message \`feat(${milestone.id}): <description>\`.`
      : `Do not commit: leave the changes in the worktree. The checkpoint commits them as \`feat(${milestone.id}): <description>\`; end your answer with that description.`;
  return `${[
    `# Milestone ${milestone.id}: ${oneLine(milestone.title)}`,
    '',
    `Goal of the whole loop: ${oneLine(state.goal)}`,
    '',
    'Acceptance:',
    ...(acceptance.length > 0 ? acceptance : [noAcceptance]).map((line) => `- ${line}`),
    '',
    'How:',
    '1. Write the tests that prove the acceptance first, and see them fail.',
    '2. Implement until they pass; then clean up.',
    '3. Run the full suite before you end:',
    ...(verify.length > 0 ? verify.map((line) => `   ${line}`) : ['   - the project has no verify command yet']),
    `4. ${commit}`,
    '',
    'Rules: no debug code, no TODO, FIXME or HACK left behind, no files outside the scope of this milestone, nothing in `.loop/` (a program writes it).',
    'If it cannot be finished, say what is missing and why; do not weaken a test.',
  ].join('\n')}\n`;
}
