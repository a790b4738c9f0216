// `help [COMMAND [KIND]]`: the one page that lists everything, or one command's page.

import { usageError } from '../core/errors.ts';
import { exitCodes } from '../core/exit-codes.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';

export const help: Command = {
  name: 'help',
  summary: 'this page, or the page of one command',
  form: '[COMMAND [KIND]]',
  words: { min: 0, max: 2 },
  options: common,
  examples: ['help', 'help run', 'help watch file'],

  async run(_context, input) {
    const { commandNames, loadCommand } = await import('./registry.ts');
    const { renderHelp } = await import('./usage.ts');
    const { labelled } = await import('../output/wrap.ts');
    const [word, ...more] = input.words;
    if (word !== undefined) {
      const command = await loadCommand(word);
      if (!command)
        throw usageError(`cannot show help for ${JSON.stringify(word)}: there are ${commandNames.join(', ')}`);
      // A verb that is several has a page of each.
      const chosen = await command.choose?.(more.length > 0 ? more : ['--help']);
      if (more.length > 0 && !chosen)
        throw usageError(`cannot show help for ${JSON.stringify(more.join(' '))}: ${word} has one page`);
      return { code: exitCodes.done, out: renderHelp(chosen?.command ?? command) };
    }
    const commands = await Promise.all(commandNames.map(loadCommand));
    const rows = commands.flatMap((command) => labelled(command?.name ?? '', command?.summary ?? '', 12));
    return { code: exitCodes.done, out: `${[head, 'Commands:', ...rows, '', foot].join('\n')}\n` };
  },
};

const head = `job-companion - hand a long command or an agent's task to a supervised job,
go away, and come back for a result that is really there.

  job-companion run -- COMMAND ARG...   start; prints an id, the next commands
  job-companion wait ID --timeout 10m   sleeps until the end, prints the result
`;

const foot = `Exit codes: 0 done, 2 not finished, 3 failed or timed out or crashed,
4 canceled, 1 the command itself is at fault.
"COMMAND --help" shows its options.`;
