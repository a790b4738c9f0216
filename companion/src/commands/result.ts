// `result [ID]`: the stored deliverable again, with --json the terminal record, with --claims what the answer claims.

import { exitCodes } from '../core/exit-codes.ts';
import { noteCollected } from '../jobs/collected.ts';
import { requireLatest } from '../jobs/latest.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { observation } from '../jobs/observation.ts';
import { refresh } from '../jobs/reconcile.ts';
import { inspect, isEnded } from '../jobs/view.ts';
import { variables } from '../platform/env.ts';
import { findJob } from '../store/catalog.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { endedDocument, tellEnded } from './ended.ts';
import { common, ownerOption } from './options.ts';

export const result: Command = {
  name: 'result',
  summary: 'print the stored result of a finished job again',
  form: '[ID]',
  words: { min: 0, max: 1 },
  options: {
    claims: {
      kind: 'flag',
      help: 'print the completion block of the answer as JSON instead; 3 with a typed error where there is none',
    },
    ...ownerOption,
    ...common,
  },
  notes: 'Default: the latest finished job. Exit codes as of wait.',
  examples: ['result', 'result run-mik3x9ab-4f7q2z --json', 'result implement-mik3x9ab-4f7q2z --claims'],

  async run(context, input) {
    const root = context.root(input);
    checkRoot(root.folder);
    const owner = input.text('owner') ?? variables.owner() ?? null;
    const isFinished = (id: string): boolean => isEnded(inspect(root.folder, id).state);
    const id =
      input.words[0] === undefined
        ? requireLatest(root, owner, 'a finished job', isFinished)
        : findJob(root, input.words[0]);
    const view = await refresh(root.folder, id, true);
    if (!isEnded(view.state)) {
      const wait = nextCommands.waitOn(id, view.spec, root.option);
      if (input.has('json')) return { code: exitCodes.pending, json: observation(view, { afterSeq: null, root }) };
      return {
        code: exitCodes.pending,
        notes: [`${id}: ${view.state.state}, there is no result yet; wait for it with:`, wait],
      };
    }
    // Not the deliverable: reading them collects nothing.
    if (input.has('claims')) return (await import('./claims-reply.ts')).tellClaims(view);
    const afterPrint = (): void => noteCollected(view, 'result');
    const reply = tellEnded(context, view);
    return input.has('json') ? { code: reply.code, json: endedDocument(view), afterPrint } : { ...reply, afterPrint };
  },
};
