// What a command is: one object with its options as data. Parsing, help and checks come from the same table. A command returns a
// reply; it never prints and never exits.
import type { ExitCode } from '../core/exit-codes.ts';
import type { Parsable } from '../core/option-table.ts';
import type { Screen } from '../output/screen.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Parsed } from './parse.ts';

export interface Command extends Parsable {
  summary: string;
  /** More for its help page. */
  notes?: string;
  examples: readonly string[];
  /** For a verb that is several (`watch KIND`): the one that these words name, and its own words. Throws 'usage' when they name none. */
  choose?(args: readonly string[]): Promise<{ command: Command; args: readonly string[] }>;
  run(context: Context, input: Parsed): Promise<Reply>;
}

export interface Context {
  cwd: string;
  /** Does a person look at stdout? Then control sequences of others are removed. */
  isTerminal: boolean;
  readStdin(): Promise<Buffer>;
  /** What has come by its end, or by then. Null when it is more than that, or cannot be read. */
  readStdinWithin(bytes: number, ms: number): Promise<Buffer | null>;
  /** Columns of the terminal; a generous number elsewhere. */
  width: number;
  /** A part of the deliverable while the command still runs (stdout); false when nobody reads it any more. */
  say(text: string): boolean;
  /** A line for whoever watches while the command still runs (stderr). */
  tell(text: string): void;
  /** One line that is replaced by the next; null where nobody looks at stderr. An empty text clears it. */
  live: ((text: string) => void) | null;
  /** Where something is drawn again and again on stdout; null where no terminal is. */
  screen: Screen | null;
  root(input: Parsed): StateRoot;
}

export interface Reply {
  code: ExitCode;
  /** The deliverable: stdout, byte for byte. */
  out?: string | Uint8Array;
  /** Headers, warnings and hints: stderr. */
  notes?: string[];
  /** What `--json` prints instead of both. */
  json?: unknown;
  /** Done once everything was really written. */
  afterPrint?: () => void;
}
