// `idle-check`: a sketch.
import { FaultError } from '../core/errors.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';

export const idleCheck: Command = {
  name: 'idle-check',
  summary: 'may the caller go idle now: who delivers each live job, and what stands behind',
  form: '[--owner NAME]',
  words: { min: 0, max: 2 },
  options: { ...common },
  examples: ['idle-check'],

  async run() {
    throw new FaultError('internal', 'cannot run idle-check: it is not built yet');
  },
};
