// From the first word to a command. Commands load lazily: a launcher pays only for what a launch needs.
import { usageError } from '../core/errors.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { quoteWords } from '../core/shell-words.ts';
import { hasChangedWords } from '../platform/argv.ts';
import { variables } from '../platform/env.ts';
import { selfWords } from '../platform/self.ts';
import { locateRoot } from '../store/root.ts';
import type { Command, Context, Reply } from './command.ts';
import { parseCommand } from './parse.ts';
import { commandNames, loadCommand } from './registry.ts';

export async function dispatch(args: string[], base: Omit<Context, 'root'>, version: string): Promise<Reply> {
  const [word = 'help', ...rest] = args;
  if (word === '--version' || word === 'version') return { code: exitCodes.done, out: `${version}\n` };
  const name = word === '--help' || word === '-h' ? 'help' : word;
  const loaded = await loadCommand(name);
  if (!loaded)
    throw usageError(
      `cannot run ${JSON.stringify(word)}: there is no such command; there are ${commandNames.join(', ')}`,
      quoteWords([...selfWords(), 'help']),
    );
  if (hasChangedWords(args)) {
    throw usageError(
      'cannot take a word that is no UTF-8 text: it would arrive changed',
      'give it in a file or through --shell with printf',
    );
  }
  const { command, args: own } = (await loaded.choose?.(rest)) ?? { command: loaded, args: rest };
  const input = parseCommand(command, own);
  if (input.has('help')) return help(command);
  const context: Context = {
    ...base,
    root: (parsed) => locateRoot({ option: parsed.text('state-dir'), variable: variables.stateDir(), cwd: base.cwd }),
  };
  return command.run(context, input);
}

async function help(command: Command): Promise<Reply> {
  const { renderHelp } = await import('./usage.ts');
  return { code: exitCodes.done, out: renderHelp(command) };
}
