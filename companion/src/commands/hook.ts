// `hook`: a sketch.
import { FaultError } from '../core/errors.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';

export const hook: Command = {
  name: 'hook',
  summary: 'what a host calls at the end of a turn or with a new prompt',
  form: 'HOST EVENT',
  words: { min: 0, max: 2 },
  options: { ...common },
  examples: ['hook'],

  async run() {
    throw new FaultError('internal', 'cannot run hook: it is not built yet');
  },
};
