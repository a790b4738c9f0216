// `status --markdown`: the lanes, for the checkpoint file of a caller that may forget: who has what, how it stands, what comes next. Whatever a label says,
// it stays text in its own cell.
import { formatAge, formatDuration } from '../core/duration.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import { ageOf } from '../core/recorded-time.ts';
import { isCollected } from '../jobs/collected.ts';
import { healthOf } from '../jobs/health-seen.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { leftOf, outstanding } from '../jobs/outstanding.ts';
import { conditionOf, isEnded, type View } from '../jobs/view.ts';
import { isoNow, localOf, nowMs } from '../platform/clock.ts';
import type { StateRoot } from '../store/layout.ts';
import { healthWord } from './status-table.ts';

const head = ['id', 'owner', 'label', 'kind', 'state', 'health', 'age', 'limit left', 'next command'];

export function lanesOf(views: readonly View[], root: StateRoot): string {
  const rows = [head, head.map(() => '---'), ...views.map((view) => rowOf(view, root))];
  const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  return `Jobs at ${isoNow()} (local ${localOf(nowMs())}), state in ${code(root.folder)}\n\n${table}`;
}

function rowOf(view: View, root: StateRoot): string[] {
  const { state, spec } = view;
  const isOver = isEnded(state);
  const left = leftOf(view);
  const age = ageOf(isOver ? state.ended_at : state.created_at, nowMs());
  return [
    view.id,
    cell(spec?.owner),
    cell(spec?.label),
    spec?.kind ?? '-',
    state.error ? `${state.state} (${cell(state.error.code)})` : state.state,
    isOver ? '-' : healthWord(healthOf(view, conditionOf(view)).health),
    age === null ? '-' : `${formatAge(age)}${isOver ? ' ago' : ''}`,
    left === null
      ? '-'
      : `${spec?.timer ? 'due in ' : ''}${formatDuration(Math.max(1000, Math.floor(left / 1000) * 1000))}`,
    nextOf(view, root),
  ];
}

/** An ended job whose result was read needs none. */
function nextOf(view: View, root: StateRoot): string {
  if (!isEnded(view.state) || view.damage !== null) return code(outstanding(view, {}, root.option).next);
  return isCollected(view) ? '-' : code(nextCommands.result(view.id, root.option));
}

/** Text that no reader of Markdown or HTML takes for more. */
function cell(text: string | null | undefined): string {
  const plain = excerpt(
    plainText(text ?? '')
      .replace(/\s+/g, ' ')
      .trim(),
    120,
  );
  if (plain === '') return '-';
  return plain
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[\\`*_{}[\]()#+!|~$:@]/g, '\\$&');
}

/** In a fence that its text does not hold; a bar would end the cell even there. */
function code(text: string): string {
  const plain = plainText(text).replace(/\s+/g, ' ');
  const longest = Math.max(0, ...[...plain.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 ? ' ' : '';
  return `${fence}${space}${plain.replaceAll('|', '\\|')}${space}${fence}`;
}
