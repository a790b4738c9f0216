// E5: the handoff was written for this state. Its last line proves it, so a clone or a checkout, which make all files new, change nothing.
import { handoffHeads } from '../handoff.ts';
import { readHandoff } from '../rewrite.ts';
import { stampLine } from '../stamp.ts';
import { type Check, fail, pass, skipped } from './check.ts';

export const handoff: Check = {
  id: 'E5',
  title: 'handoff fresh',

  run({ state, place }) {
    if (!state) return skipped('the state cannot be read');
    const text = readHandoff(place);
    if (text === undefined) return fail('E5', [{ owner: 'loop', what: 'there is no handoff.md' }]);
    const faults: string[] = [];
    const last = text.trimEnd().split('\n').at(-1) ?? '';
    if (last !== stampLine(state))
      faults.push(`handoff.md is of another state: it ends with ${last.slice(0, 80) || 'nothing'}`);
    const missing = handoffHeads.filter((head) => !text.includes(`\n## ${head}\n`));
    if (missing.length > 0) faults.push(`handoff.md has no ${missing.join(', ')}`);
    const next = state.milestones.find(({ status }) => status !== 'done');
    if (next && !text.includes(next.id)) faults.push(`handoff.md does not name the next milestone ${next.id}`);
    if (faults.length > 0)
      return fail(
        'E5',
        faults.map((what) => ({ owner: 'loop', what })),
      );
    return {
      ...pass(`written for iteration ${state.iteration}`),
      questions: [
        { id: 'E5', check: 'E5', question: 'Is .loop/handoff.md enough for a reader who knows nothing else?' },
      ],
    };
  },
};
