// Options of ours that stand behind `--`, where they belong to the program: found, so that a refusal can say it and show them moved.
import type { OptionTable } from '../core/option-table.ts';

export interface Misplaced {
  /** With their values, in the order given. */
  options: string[];
  /** What is left: the program and its own words. */
  program: string[];
}

/** Only before and after the program's own words: one between them may as well be the program's. */
export function misplacedIn(table: OptionTable, rest: readonly string[]): Misplaced | undefined {
  const first = leading(table, rest);
  const words = rest.slice(first);
  let last = words.length;
  for (let at = words.length - 1; at > 0; at -= 1) if (leading(table, words.slice(at)) === words.length - at) last = at;
  const options = [...rest.slice(0, first), ...words.slice(last)];
  return options.length === 0 ? undefined : { options, program: words.slice(0, last) };
}

/** So many words from the first on are options of ours and their values. */
function leading(table: OptionTable, words: readonly string[]): number {
  for (let at = 0; ; ) {
    const [, option = '', value] = /^--([a-z-]+)(=.*)?$/s.exec(words[at] ?? '') ?? [];
    const row = Object.hasOwn(table, option) ? table[option] : undefined;
    const next = at + (row?.kind === 'flag' || value !== undefined ? 1 : 2);
    if (!row || next > words.length) return at;
    at = next;
  }
}
