// The brief for one milestone (S3.8): what is to be built, how, and where the boundary is. Pure.

import { plainText } from '../core/excerpt.ts';
import type { LoopState, Milestone } from '../core/loop.ts';
import { acceptanceOf } from './handoff.ts';

/** `commits`: does whoever gets it commit, or does the checkpoint do that? */
export function milestoneBrief(
  state: LoopState,
  milestone: Milestone,
  { commits }: { commits: 'you' | 'checkpoint' },
): string {
  const verify = state.verify.map(({ cmd }) => `- \`${plainText(cmd)}\``);
  const commit =
    commits === 'you'
      ? `Commit when the suite is green, with the message \`feat(${milestone.id}): <description>\`.`
      : 'Do not commit: leave the changes in the worktree. The checkpoint makes the commit.';
  return `${[
    `# Milestone ${milestone.id}: ${plainText(milestone.title)}`,
    '',
    `Goal of the whole loop: ${plainText(state.goal)}`,
    '',
    'Acceptance:',
    ...acceptanceOf(milestone).map((line) => `- ${line}`),
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
