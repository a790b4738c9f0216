// `loop VERB`: work over many iterations whose truth lies in files. What verbs there are comes from loop/registry.ts.
import { usageError } from '../core/errors.ts';
import { quoteWords } from '../core/shell-words.ts';
import { selfWords } from '../platform/self.ts';
import type { Command } from './command.ts';
import { loadLoopVerb, loopVerbs } from './loop/registry.ts';
import { common } from './options.ts';

export const loop: Command = {
  name: 'loop',
  summary: 'work over many iterations, with a gate at every boundary',
  form: 'VERB [options]',
  words: { min: 1, max: 1 },
  options: common,
  notes: `Verbs: ${loopVerbs.join(', ')}. Each has a page of its own: loop VERB --help.`,
  examples: ['loop --help', 'loop status'],

  async choose(args) {
    const [word, ...rest] = args;
    if (word === '--help' || word === '-h') return { command: await listed(), args };
    const verb = word === undefined ? undefined : await loadLoopVerb(word);
    if (!verb) throw unknownVerb(word);
    return { command: verb, args: rest };
  },

  async run() {
    throw unknownVerb(undefined);
  },
};

/** The page of all verbs. */
async function listed(): Promise<Command> {
  const verbs = await Promise.all(loopVerbs.map(loadLoopVerb));
  const width = Math.max(...loopVerbs.map((verb) => verb.length));
  const rows = verbs.flatMap((verb, at) => (verb ? [`${loopVerbs[at]?.padEnd(width)}  ${verb.summary}`] : []));
  return {
    ...loop,
    notes: `${rows.join('\n')}\n\nEach has a page of its own: loop VERB --help.`,
    examples: verbs.flatMap((verb) => verb?.examples.slice(0, 1) ?? []),
  };
}

function unknownVerb(word: string | undefined): Error {
  const came =
    word === undefined
      ? 'cannot run loop without a verb'
      : word.startsWith('-')
        ? `cannot take ${word} there: the verb comes first`
        : `cannot run loop ${JSON.stringify(word)}: there is no such verb`;
  return usageError(`${came}; there are ${loopVerbs.join(', ')}`, quoteWords([...selfWords(), 'loop', '--help']));
}
