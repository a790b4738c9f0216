// Options as data: what the parser checks and what help prints come from the same rows. A `list` may be given several times.
import type { Range } from './limits.ts';

export interface OptionRow {
  kind: 'flag' | 'text' | 'list' | 'duration' | 'size' | 'count' | 'choice';
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
  /** How many words without a dash it takes; `rest` takes what follows `--` (and, unless `optional`, must have it). */
  words: { min: number; max: number; rest?: boolean | 'optional' };
}

/** A command line that was checked against its table. */
export interface Given {
  readonly words: readonly string[];
  /** What followed `--`. */
  readonly rest: readonly string[] | null;
  has(name: string): boolean;
  text(name: string): string | undefined;
  /** Every value of a `list`, in the order given. */
  texts(name: string): readonly string[];
  /** ms, within the option's range. */
  duration(name: string): number | undefined;
  /** Bytes, within the option's range. */
  size(name: string): number | undefined;
  /** A whole number from 0 on, within the option's range. */
  count(name: string): number | undefined;
}
