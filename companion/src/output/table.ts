// Columns for a terminal: as wide as needed, at most as wide as the screen; the last column takes the rest.

import { cutToWidth, widthOf } from './width.ts';

export interface Table {
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

export function renderTable({ head, rows }: Table, width: number): string {
  const all = [head, ...rows];
  const widths = widthsOf({ head, rows });
  return all
    .map((row) => {
      const line = row
        .map((cell, column) => (column === row.length - 1 ? cell : pad(cell, widths[column] ?? 0)))
        .join('  ')
        .trimEnd();
      return cutToWidth(line, Math.max(2, width));
    })
    .join('\n');
}

/** Fewest characters that the last column is worth showing with. */
const room = 16;

/**
 * Without as many of the `dispensable` columns (by head, the least needed first) as the width asks for. An empty one goes as soon as
 * anything is cut, any other only when the last column has no room.
 */
export function fitTable(table: Table, width: number, dispensable: readonly string[]): Table {
  const isEmpty = (name: string): boolean => table.rows.every((row) => row[table.head.indexOf(name)] === '-');
  let fitted = table;
  for (const name of [...dispensable.filter(isEmpty), ...dispensable.filter((one) => !isEmpty(one))]) {
    if (neededBy(fitted, isEmpty(name) ? Number.POSITIVE_INFINITY : room) <= width) continue;
    const at = fitted.head.indexOf(name);
    const without = (row: readonly string[]): string[] => row.filter((_, column) => column !== at);
    if (at >= 0) fitted = { head: without(fitted.head), rows: fitted.rows.map(without) };
  }
  return fitted;
}

function neededBy(table: Table, atMostLast: number): number {
  const widths = widthsOf(table);
  const last = Math.min(atMostLast, widths.at(-1) ?? 0);
  return widths.slice(0, -1).reduce((sum, one) => sum + one + 2, last);
}

function widthsOf({ head, rows }: Table): number[] {
  return head.map((_, column) => Math.max(...[head, ...rows].map((row) => widthOf(row[column] ?? ''))));
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)));
}
