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
  if (spec?.gate)
    return state.gate
      ? `${state.gate.verdict}${state.gate.reason ? ` ${state.gate.reason}` : ''}: ${state.gate.detail}`
      : `the boundary of ${spec.gate.folder}`;
  if (spec?.loop) return loopWords(state) ?? `the loop of ${spec.loop.folder}`;
  return spec?.staff?.prompt ?? state.error?.message ?? '';
}

function loopWords({ loop }: View['state']): string | undefined {
  if (!loop) return undefined;
  const round = loop.round > 0 ? `, round ${loop.round}` : '';
  return `iteration ${loop.iteration}, ${loop.milestone ?? 'no milestone'}: ${loop.step}${round}${loop.job === null ? '' : ` (${loop.job})`}`;
}

/** `due in 4m: ` of a timer, `[open] ` of a watch. */
function standing(view: View): string {
  if (isEnded(view.state) || !(view.spec?.timer || view.spec?.watch)) return '';
  const { note } = progressCells(view);
  if (note === null) return '';
  return view.spec.timer ? `${note}: ` : `[${note}] `;
}
