// `reconcile`: a sketch.
import { FaultError } from '../core/errors.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';

export const reconcile: Command = {
  name: 'reconcile',
  summary: 'the page for a caller that has just been woken',
  form: '[--owner NAME] [--since SEQ]',
  words: { min: 0, max: 2 },
  options: { ...common },
  examples: ['reconcile'],

  async run() {
    throw new FaultError('internal', 'cannot run reconcile: it is not built yet');
  },
};
