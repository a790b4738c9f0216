// `verify`: a sketch.
import { FaultError } from '../core/errors.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'check what a job claims to have done',
  form: 'ID [--rerun CMD]',
  words: { min: 0, max: 2 },
  options: { ...common },
  examples: ['verify'],

  async run() {
    throw new FaultError('internal', 'cannot run verify: it is not built yet');
  },
};
