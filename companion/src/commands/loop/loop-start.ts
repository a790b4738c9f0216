// `loop start`: take the next milestone.

import { oneLine } from '../../core/byte-names.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { quoteWords } from '../../core/shell-words.ts';
import { beginMilestone } from '../../loop/begin.ts';
import { loopCommand } from '../../loop/files.ts';
import { loopPlace } from '../../loop/place.ts';
import { variables } from '../../platform/env.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

export const start: Command = {
  name: 'loop start',
  summary: 'take the next milestone; one at a time',
  form: '[--milestone ID] [--owner NAME] [options]',
  words: { min: 0, max: 0 },
  options: {
    milestone: { kind: 'text', value: 'ID', help: 'another one than the next in order' },
    owner: { kind: 'text', value: 'NAME', help: 'who takes it (default: JOB_OWNER); told to whoever comes second' },
    ...common,
  },
  examples: ['loop start --owner night-shift', 'loop start --milestone p2'],

  async run(context, input) {
    const place = loopPlace(context.cwd, context.root(input));
    const owner = input.text('owner') ?? variables.owner() ?? null;
    const { milestone, isNew, state } = await beginMilestone(place, { owner, milestone: input.text('milestone') });
    const lines = [
      `${milestone.id}: ${oneLine(milestone.title)} (${isNew ? 'in progress now' : 'in progress already, yours'})`,
      `brief: ${loopCommand(place, 'next', '--prompt')}`,
      `when it is done: ${loopCommand(place, 'checkpoint', ...(owner === null ? [] : ['--owner', quoteWords([owner])]))}`,
    ];
    return {
      code: exitCodes.done,
      out: `${lines.join('\n')}\n`,
      ...(input.has('json') ? { json: { milestone, is_new: isNew, current: state.current } } : {}),
    };
  },
};
