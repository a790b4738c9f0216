// The command line against a command's table of options. Strict: what is not in the table is refused with what is. A text
// option takes the next word whatever it is, so that a prompt may begin with `--`. The words come from node's own parser.
import { parseArgs } from 'node:util';
import { parseDuration } from '../core/duration.ts';
import { usageError } from '../core/errors.ts';
import type { Given, OptionRow, Parsable } from '../core/option-table.ts';
import { quoteWords } from '../core/shell-words.ts';
import { parseSize } from '../core/size.ts';
import { selfWords } from '../platform/self.ts';

export class Parsed implements Given {
  readonly words: string[];
  /** What followed `--`. */
  readonly rest: string[] | null;
  private readonly values: ReadonlyMap<string, readonly string[]>;
  private readonly command: Parsable;

  constructor(
    command: Parsable,
    values: ReadonlyMap<string, readonly string[]>,
    words: string[],
    rest: string[] | null,
  ) {
    this.command = command;
    this.values = values;
    this.words = words;
    this.rest = rest;
  }

  has(name: string): boolean {
    return this.values.has(name);
  }

  /** Every option that was given, with its text. */
  given(): [name: string, text: string][] {
    return [...this.values].flatMap(([name, texts]) => texts.map((text): [string, string] => [name, text]));
  }

  text(name: string): string | undefined {
    return this.values.get(name)?.[0];
  }

  texts(name: string): readonly string[] {
    return this.values.get(name) ?? [];
  }

  /** ms; checked against the option's range. */
  duration(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : parseDuration(text, `--${name}`, rangeOf(this.command.options[name], name));
  }

  durationOrDefault(name: string): number {
    return this.duration(name) ?? rangeOf(this.command.options[name], name).default;
  }

  size(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : parseSize(text, `--${name}`, rangeOf(this.command.options[name], name));
  }

  /** A whole number from 0 on. */
  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const range = rangeOf(this.command.options[name], name);
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= range.min && value <= range.max) return value;
    throw usageError(
      `cannot take --${name} ${JSON.stringify(text)}: allowed are whole numbers from ${range.min} to ${range.max}`,
    );
  }
}

export function parseCommand(command: Parsable, args: readonly string[]): Parsed {
  const values = new Map<string, string[]>();
  const words: string[] = [];
  let rest: string[] | null = null;
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, row]) => [
      name,
      {
        type: row.kind === 'flag' ? ('boolean' as const) : ('string' as const),
        ...(name === 'help' ? { short: 'h' } : {}),
      },
    ]),
  );
  // Not `strict`: it would refuse a text that begins with a dash. The checks below are ours.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'option-terminator') {
      rest = args.slice(token.index + 1);
      break;
    }
    if (token.kind === 'positional') {
      words.push(token.value);
      continue;
    }
    const isKnown = token.rawName.startsWith('--') || token.rawName === '-h';
    const row = isKnown && Object.hasOwn(command.options, token.name) ? command.options[token.name] : undefined;
    if (!row)
      throw usageError(
        `cannot take option ${token.rawName}: ${command.name} knows ${optionNames(command)}`,
        helpOf(command),
      );
    if (row.kind === 'flag' && token.value !== undefined)
      throw usageError(`cannot take a value for --${token.name}: it is a switch`, helpOf(command));
    if (row.kind !== 'flag' && token.value === undefined)
      throw usageError(`cannot take --${token.name} without a value`, helpOf(command));
    const earlier = values.get(token.name) ?? [];
    if (earlier.length > 0 && row.kind !== 'list')
      throw usageError(`cannot take --${token.name} twice`, helpOf(command));
    // An unset variable of a shell would ask for nobody's jobs.
    if (token.name === 'owner' && token.value?.trim() === '')
      throw usageError(
        'cannot take an empty --owner: give a name (is the variable set?), or leave it out',
        helpOf(command),
      );
    checkChoice(token.name, row, token.value);
    values.set(token.name, [...earlier, token.value ?? 'true']);
  }
  const parsed = new Parsed(command, values, words, rest);
  // Every value is checked now, before anything is looked up or made.
  for (const name of values.keys()) {
    const kind = command.options[name]?.kind;
    if (kind === 'duration') parsed.duration(name);
    if (kind === 'size') parsed.size(name);
    if (kind === 'count') parsed.count(name);
  }
  if (!values.has('help')) checkWords(command, words, rest);
  return parsed;
}

function checkChoice(name: string, row: OptionRow, value: string | undefined): void {
  if (row.kind !== 'choice' || value === undefined || row.choices?.includes(value)) return;
  throw usageError(`cannot take --${name} ${JSON.stringify(value)}: allowed are ${row.choices?.join(', ')}`);
}

function checkWords(command: Parsable, words: string[], rest: string[] | null): void {
  if (rest !== null && !command.words.rest) {
    words.push(...rest);
  }
  if (words.length > command.words.max) {
    const extra = words
      .slice(command.words.max)
      .map((word) => JSON.stringify(word))
      .join(' ');
    const hint = command.words.rest
      ? `put -- before the command: ${command.name} [options] -- COMMAND ARG...`
      : helpOf(command);
    throw usageError(`cannot take ${extra}: the form is ${command.name} ${command.form}`, hint);
  }
  if (words.length < command.words.min)
    throw usageError(
      `cannot run ${command.name}: ${missingWord(command, words.length)} is missing; the form is ${command.name} ${command.form}`,
      helpOf(command),
    );
  if (command.words.rest === true && (rest === null || rest.length === 0)) {
    throw usageError(
      `cannot run ${command.name} without a command: the form is ${command.name} ${command.form}`,
      helpOf(command),
    );
  }
}

/** As the form calls it. */
function missingWord({ form }: Parsable, at: number): string {
  return /^[A-Z][A-Z/@#]*/.exec(form.split(' ')[at] ?? '')?.[0] ?? 'a word';
}

function optionNames(command: Parsable): string {
  return Object.keys(command.options)
    .map((name) => `--${name}`)
    .join(' ');
}

function helpOf(command: Parsable): string {
  return quoteWords([...selfWords(), ...command.name.split(' '), '--help']);
}

function rangeOf(row: OptionRow | undefined, name: string): { default: number; min: number; max: number } {
  if (!row?.range) throw new Error(`option ${name} has no range`);
  return row.range;
}
