// `observe [ID]`: a bounded look, one JSON document in every state; changes nothing, delivers nothing.
import { exitCodeOf } from '../core/exit-codes.ts';
import { requireNewest } from '../jobs/latest.ts';
import { observation } from '../jobs/observation.ts';
import { refreshUnasked } from '../jobs/reconcile.ts';
import { variables } from '../platform/env.ts';
import { findJob } from '../store/catalog.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { common, ownerOption } from './options.ts';

export const observe: Command = {
  name: 'observe',
  summary: 'look at a job: one bounded JSON document, nothing is consumed',
  form: '[ID] [--after-seq N]',
  words: { min: 0, max: 1 },
  options: {
    'after-seq': {
      kind: 'count',
      value: 'N',
      range: { default: 0, min: 0, max: 2 ** 40 },
      help: 'only events after number N (next_seq of an earlier look)',
    },
    ...ownerOption,
    ...common,
  },
  notes:
    'Default: the newest job; a live timer is not taken for it while another job is live. Exit codes as of wait: 0 says that the job is done, not that anybody has read its result.',
  examples: ['observe', 'observe run-mik3x9ab-4f7q2z --after-seq 4'],

  async run(context, input) {
    const root = context.root(input);
    checkRoot(root.folder);
    const owner = input.text('owner') ?? variables.owner() ?? null;
    const id =
      input.words[0] === undefined ? requireNewest(root, owner, 'a job to observe').id : findJob(root, input.words[0]);
    const view = await refreshUnasked(root.folder, id);
    return {
      code: exitCodeOf(view.state.state),
      json: observation(view, { afterSeq: input.count('after-seq') ?? null, root }),
    };
  },
};
