// What a job is about, in a few words for a table or a line.
import { excerpt, plainText } from '../core/excerpt.ts';
import { quoteWords } from '../core/shell-words.ts';
import { isEnded, type View } from '../jobs/view.ts';
import { progressCells } from './progress-cells.ts';

export function whatOf(view: View): string {
  const { spec, state } = view;
  const cause = state.error ? `[${state.error.code}] ` : '';
  return excerpt(
    plainText(`${cause}${standing(view)}${spec?.label ?? subjectOf(view)}`)
      .replace(/\s+/g, ' ')
      .trim(),
    200,
  );
}

function subjectOf({ spec, state }: View): string {
  if (spec?.run) return quoteWords(spec.run.argv);
  if (spec?.watch) return String(spec.watch.words);
  if (spec?.timer) return String(spec.timer.message);
  return spec?.staff?.prompt ?? state.error?.message ?? '';
}

/** `due in 4m: ` of a timer, `[open] ` of a watch. */
function standing(view: View): string {
  if (isEnded(view.state) || !(view.spec?.timer || view.spec?.watch)) return '';
  const { note } = progressCells(view);
  if (note === null) return '';
  return view.spec.timer ? `${note}: ` : `[${note}] `;
}
