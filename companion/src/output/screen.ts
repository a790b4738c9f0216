// A few lines that are drawn again and again in the same place of a terminal. Changes no setting of the terminal but the wrapping of long
// lines, and that only within one write, so that there is nothing to restore, however this program ends. Earlier output stays above.
import { cutToWidth, widthOf } from './width.ts';

export interface Size {
  columns: number;
  rows: number;
}

export interface Screen {
  size(): Size;
  /** In the place of what was drawn last; cut to the terminal as it is now. */
  draw(text: string): void;
  /** What was drawn last goes. */
  clear(): void;
  /** What was drawn last stays, and the next drawing goes below it: somebody else wrote in between. */
  leave(): void;
  /** Returns a function that stops it. */
  onResize(fn: () => void): () => void;
}

export function makeScreen(terminal: {
  size: () => Size;
  write: (text: string) => void;
  onResize: (fn: () => void) => () => void;
}): Screen {
  let drawn: string[] = [];
  /** To the first of the lines drawn last. A terminal that became narrower may have broken them. */
  const back = (): string => {
    const { columns } = terminal.size();
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(bare(line)) / columns)), 0);
    return rows > 0 ? `\r\x1b[${rows}A` : '\r';
  };
  return {
    size: terminal.size,
    onResize: terminal.onResize,
    draw(text) {
      const { columns, rows } = terminal.size();
      const lines = fitRows(text.split('\n'), Math.max(2, rows - 1)).map((line) => fit(line, Math.max(1, columns - 1)));
      const body = lines.map((line) => `${line}\x1b[K\n`).join('');
      terminal.write(`${back()}\x1b[?7l${body}\x1b[J\x1b[?7h`);
      drawn = lines;
    },
    clear() {
      if (drawn.length > 0) terminal.write(`${back()}\x1b[J`);
      drawn = [];
    },
    leave() {
      drawn = [];
    },
  };
}

/** What does not fit below each other is counted. */
function fitRows(lines: string[], rows: number): string[] {
  if (lines.length <= rows) return lines;
  const kept = lines.slice(0, rows - 1);
  return [...kept, `... and ${lines.length - kept.length} more`];
}

const color = /\x1b\[[0-9;]*m/g;

function bare(line: string): string {
  return line.replace(color, '');
}

/** A line that is cut loses its colour: half a colour would run on. */
function fit(line: string, columns: number): string {
  return widthOf(bare(line)) <= columns ? line : cutToWidth(bare(line), columns);
}
