// `reconcile`: the page for a caller that was just woken, and may have forgotten everything. Always 0 when it could be shown: what is to
// be done stands in it.
import { exitCodes } from '../core/exit-codes.ts';
import { lookAround } from '../jobs/on-wake.ts';
import { variables } from '../platform/env.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';
import { wakeDocument } from './wake-document.ts';
import { wakePage } from './wake-page.ts';

export const reconcile: Command = {
  name: 'reconcile',
  summary: 'the page for a caller that has just been woken: what fired, what is outstanding, what comes next',
  form: '[--owner NAME] [--since SEQ]',
  words: { min: 0, max: 0 },
  options: {
    owner: { kind: 'text', value: 'NAME', help: 'whose jobs (default: JOB_OWNER, else everybody)' },
    since: {
      kind: 'count',
      value: 'SEQ',
      range: { default: 0, min: 0, max: 999_999_999_999_999 },
      help: 'what fired after this number, which an earlier reconcile gave; 0 is all (default: where the last one of this owner stood)',
    },
    ...common,
  },
  notes:
    'Nothing is consumed: the same number gives the same again. Settles jobs that are provably over, as status does; starts nothing.',
  examples: ['reconcile', 'reconcile --owner builder', 'reconcile --since 1767225600000 --json'],

  async run(context, input) {
    const root = context.root(input);
    checkRoot(root.folder);
    const owner = input.text('owner') ?? variables.owner() ?? null;
    const seen = await lookAround(root, owner, input.count('since') ?? null);
    if (input.has('json')) return { code: exitCodes.done, json: wakeDocument(seen, root) };
    return { code: exitCodes.done, out: wakePage(seen, root) };
  },
};
