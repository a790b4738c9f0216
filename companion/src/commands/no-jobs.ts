// What `status` says when there is nothing to show: whether that is because nothing is there, or because it has ended.
import { excerpt, plainText } from '../core/excerpt.ts';
import { quoteWords } from '../core/shell-words.ts';
import { type Choice, countEnded } from '../jobs/listing.ts';
import type { StateRoot } from '../store/layout.ts';

export function noJobs(root: StateRoot, choice: Choice): string {
  const { owner, kinds } = choice;
  const whose = [...(owner === null ? [] : ['--owner', owner]), ...(kinds === null ? [] : ['--kind', kinds.join(',')])];
  const ended = countEnded(root.folder, choice);
  if (ended > 0)
    return `no live jobs in ${root.folder} (${ended} finished: ${quoteWords(['status', ...whose, ...root.option])})`;
  const which = [
    ...(owner === null ? [] : [`of owner ${excerpt(plainText(owner).replace(/\s+/g, ' '), 60)}`]),
    ...(kinds === null ? [] : [`of kind ${kinds.join(', ')}`]),
  ];
  return ['no jobs', ...which, `in ${root.folder}`].join(' ');
}
