// E1: the state can be read, is as we wrote it, and says without doubt what comes next.
import type { Milestone, Question } from '../../core/loop.ts';
import { editedFault, loopCommand, nextMilestone } from '../files.ts';
import { acceptanceOf } from '../handoff.ts';
import { type Check, fail, pass } from './check.ts';

export const coherent: Check = {
  id: 'E1',
  title: 'state coherent',

  run({ read, state, place }) {
    if (read.kind !== 'ok' || !state) {
      const faults = read.kind === 'damaged' ? read.faults : ['there is no loop'];
      return fail(
        'E1',
        faults.map((what) => ({ owner: 'loop' as const, what, command: 'git checkout -- .loop' })),
      );
    }
    if (read.isEdited)
      return fail('E1', [
        {
          owner: 'human',
          what: 'state.json was edited by hand: its hash does not fit',
          command: editedFault(place).next ?? '',
        },
      ]);
    const working = state.milestones.filter(({ status }) => status === 'in_progress');
    if (working.length > 1)
      return fail('E1', [
        { owner: 'human', what: `two milestones are in progress: ${working.map(({ id }) => id).join(', ')}` },
      ]);
    if (state.milestones.length === 0)
      return fail('E1', [
        {
          owner: 'human',
          what: 'the loop has no milestone',
          command: loopCommand(place, 'plan', '--milestone "ID: TITLE"'),
        },
      ]);
    const next = nextMilestone(state);
    if (!next) return pass(`all ${state.milestones.length} milestones are done`);
    if (acceptanceOf(next).length === 0)
      return fail('E1', [
        {
          owner: 'human',
          what: `milestone ${next.id} has no acceptance`,
          command: loopCommand(place, 'plan', `--acceptance "${next.id}: WHAT MUST BE TRUE"`),
        },
      ]);
    return { ...pass(`next: ${next.id}, ${next.status}`), questions: [questionOf(next)] };
  },
};

function questionOf(next: Milestone): Question {
  return {
    id: 'E1',
    check: 'E1',
    question: `Can a test prove the acceptance of ${next.id} (${acceptanceOf(next).join('; ')})?`,
  };
}
