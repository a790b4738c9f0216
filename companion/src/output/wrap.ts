// Text for a terminal of 80 columns: broken at spaces only, so that a path or a command stays whole.
import { widthOf } from './width.ts';

export function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) as string;
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

/** What lines take on a terminal that breaks those that are longer than a row. */
export function rowsOf(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, one) => sum + Math.max(1, Math.ceil(widthOf(one) / columns)), 0);
}

const usualWidth = 14;

/** `  LABEL        TEXT`, with every further line below the text. */
export function labelled(label: string, text: string, labelWidth = usualWidth): string[] {
  return text
    .split('\n')
    .flatMap((line) => wrap(line, 80 - labelWidth - 2))
    .map((line, at) => `  ${(at === 0 ? label : '').padEnd(labelWidth)}${line}`.trimEnd());
}
