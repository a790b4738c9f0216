// `loop status`: where the loop stands.
import { exitCodes } from '../../core/exit-codes.ts';
import { requireLoop } from '../../loop/files.ts';
import { loopPlace } from '../../loop/place.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

export const status: Command = {
  name: 'loop status',
  summary: 'where the loop stands',
  form: '[options]',
  words: { min: 0, max: 0 },
  options: common,
  examples: ['loop status'],

  async run(context, input) {
    const state = requireLoop(loopPlace(context.cwd, context.root(input)));
    return { code: exitCodes.done, out: `${state.goal}\n`, ...(input.has('json') ? { json: { state } } : {}) };
  },
};
