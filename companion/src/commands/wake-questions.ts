// The questions that nobody has answered yet, on the page of `reconcile`: they come before everything else that is told, on each look. A
// path is never cut: somebody is to write to it.
import { wakePage as page } from '../core/limits.ts';
import type { Question } from '../jobs/questions.ts';
import { cutToWidth } from '../output/width.ts';
import { rowsOf, wrap } from '../output/wrap.ts';
import { whatOf } from './status-what.ts';
import { line, questionWords } from './wake-words.ts';

/** As many as there is room for, at least one; the others are counted. */
export function questionLines(questions: readonly Question[], rows: number): string[] {
  if (questions.length === 0) return [];
  let count = Math.min(questions.length, page.named);
  for (; count > 1; count -= 1) if (rowsOf(linesOf(questions, count), page.columns) <= rows) break;
  return linesOf(questions, count);
}

function linesOf(questions: readonly Question[], count: number): string[] {
  const shown = questions.slice(0, count);
  const lines = [`questions open (${questions.length}):`];
  for (const [at, one] of shown.entries()) {
    const { view, next } = one;
    if (shown[at - 1]?.view !== view)
      lines.push(cutToWidth(`  ${view.id}  ${view.state.state}: ${line(whatOf(view), 120)}`, page.columns));
    lines.push(...wrap(questionWords(one), page.columns - 4).map((part) => `    ${part}`));
    // Once, after all that this job asks.
    if (next !== null && shown[at + 1]?.view !== view) lines.push(`    ${next}`);
  }
  const more = questions.length - shown.length;
  return more > 0 ? [...lines, `  and ${more} more; reconcile --json names them`] : lines;
}
