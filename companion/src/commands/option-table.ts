// Options as data: what the parser checks and what help prints come from the same rows.
import type { Range } from '../core/limits.ts';

export interface OptionRow {
  kind: 'flag' | 'text' | 'duration' | 'size' | 'count' | 'choice';
  /** What stands for the value in help. */
  value?: string;
  range?: Range;
  choices?: readonly string[];
  help: string;
}

export type OptionTable = Readonly<Record<string, OptionRow>>;

/** What the parser needs to know of a command. */
export interface Parsable {
  name: string;
  /** What follows the name in the usage line. */
  form: string;
  options: OptionTable;
  /** How many words without a dash it takes; `rest` takes what follows `--`. */
  words: { min: number; max: number; rest?: boolean };
}
