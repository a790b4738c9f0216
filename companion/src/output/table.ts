// Columns for a terminal: as wide as needed, at most as wide as the screen; the last column takes the rest.

export function renderTable(head: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) => {
      const line = row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
        .trimEnd();
      return line.length > width ? `${line.slice(0, Math.max(1, width - 1))}…` : line;
    })
    .join('\n');
}
