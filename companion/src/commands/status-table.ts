// The table of `status`. What does not fit the terminal goes column by column; what the job is about stays.
import { formatAge, formatDuration } from '../core/duration.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import { quoteWords } from '../core/shell-words.ts';
import { healthOf } from '../jobs/health-seen.ts';
import { staffFacts } from '../jobs/observation.ts';
import { conditionOf, isEnded, type View } from '../jobs/view.ts';
import { makePaint, type Paint } from '../output/style.ts';
import { fitTable, renderTable } from '../output/table.ts';
import { nowMs } from '../platform/clock.ts';

const head = ['ID', 'STATE', 'TIME', 'ENDED', 'OWNER', 'BACKEND', 'PROFILE', 'MODEL', 'WHAT'];
/** The least needed first. */
const dispensable = ['MODEL', 'PROFILE', 'OWNER', 'BACKEND', 'ENDED'];

export async function tableOf(views: View[], look: { width: number; isColored: boolean }): Promise<string> {
  const color = await makePaint(look.isColored);
  const table = fitTable({ head, rows: views.map(rowOf) }, look.width, dispensable);
  const lines = renderTable(table, look.width).split('\n');
  return lines.map((line, index) => paint(line, views[index - 1], color)).join('\n');
}

function rowOf(view: View): string[] {
  const { health } = healthOf(view, conditionOf(view));
  const { backend, profile, model } = staffFacts(view.spec);
  const word = health === 'attention' && !isEnded(view.state) ? `${view.state.state}!` : view.state.state;
  const cells = [word, timeOf(view), endedOf(view) ?? '-', ownerOf(view)];
  return [view.id, ...cells, ...[backend, profile, model].map((cell) => excerpt(cell ?? '-', 24)), whatOf(view)];
}

function paint(line: string, view: View | undefined, color: Paint): string {
  return view ? line.replace(` ${view.state.state}`, (word) => color(view.state.state, word)) : line;
}

/** How long it took, or has been there. */
export function timeOf({ state }: View): string {
  return formatDuration(state.duration_ms ?? Math.max(0, nowMs() - Date.parse(state.created_at)));
}

/** `3h ago`; null while it lives. */
export function endedOf({ state }: View): string | null {
  return isEnded(state) && state.ended_at !== null ? `${formatAge(nowMs() - Date.parse(state.ended_at))} ago` : null;
}

export function ownerOf(view: View): string {
  return excerpt(plainText(view.spec?.owner ?? '-'), 16);
}

export function whatOf({ spec, state }: View): string {
  const due = spec?.timer ? `due ${spec.timer.due_at} ${spec.label ?? spec.timer.message}`.trimEnd() : undefined;
  const text =
    due ?? spec?.label ?? (spec?.run ? quoteWords(spec.run.argv) : (spec?.staff?.prompt ?? state.error?.message ?? ''));
  const cause = state.error ? `[${state.error.code}] ` : '';
  return excerpt(`${cause}${plainText(text).replace(/\s+/g, ' ')}`, 200);
}
