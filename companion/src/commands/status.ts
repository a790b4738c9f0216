// `status [ID]`: a table of live and recent jobs, or one job with what it said last.

import { usageError } from '../core/errors.ts';
import { exitCodeOf, exitCodes } from '../core/exit-codes.ts';
import { limits } from '../core/limits.ts';
import { listViews } from '../jobs/listing.ts';
import { observation } from '../jobs/observation.ts';
import { refresh } from '../jobs/reconcile.ts';
import { isoNow } from '../platform/clock.ts';
import { variables } from '../platform/env.ts';
import { findJob } from '../store/catalog.ts';
import type { StateRoot } from '../store/layout.ts';
import { checkRoot } from '../store/root.ts';
import type { Command, Context, Reply } from './command.ts';
import { common } from './options.ts';
import type { Parsed } from './parse.ts';
import { pageOf } from './status-page.ts';
import { rowDocument } from './status-row.ts';
import { tableOf } from './status-table.ts';

export const status: Command = {
  name: 'status',
  summary: 'table of live and recent jobs, or one job and what it said last',
  form: '[ID] [--watch]',
  words: { min: 0, max: 1 },
  options: {
    owner: { kind: 'text', value: 'NAME', help: 'only jobs of this owner (default: everybody)' },
    recent: {
      kind: 'count',
      value: 'N',
      range: { default: 10, min: 0, max: 10_000 },
      help: 'how many finished jobs to show (default 10)',
    },
    watch: {
      kind: 'flag',
      help: 'draw it again and again until no job lives; on a pipe: print it once, when no job is live any more',
    },
    every: { kind: 'duration', value: 'D', range: limits.redraw, help: 'with --watch: how often (default 1s)' },
    ...common,
  },
  notes: 'A state with "!" (running!) means that the job needs attention; status ID says why.',
  examples: ['status', 'status --watch', 'status run-mik3x9ab-4f7q2z', 'status --owner builder --json'],

  async run(context, input) {
    const root = context.root(input);
    const isThere = checkRoot(root.folder);
    if (input.has('every') && !input.has('watch')) throw usageError('cannot take --every without --watch');
    if (input.has('watch')) return watchIt(context, root, input);
    if (input.words[0] !== undefined) {
      const view = await refresh(root.folder, findJob(root, input.words[0]));
      return input.has('json')
        ? { code: exitCodeOf(view.state.state), json: observation(view, { afterSeq: null, root }) }
        : { code: exitCodeOf(view.state.state), out: pageOf(view, root) };
    }
    const views = isThere
      ? await listViews(root.folder, { recent: input.count('recent') ?? 10, owner: input.text('owner') ?? null })
      : [];
    if (input.has('json'))
      return { code: exitCodes.done, json: { state_folder: root.folder, now: isoNow(), jobs: views.map(rowDocument) } };
    if (views.length === 0) return { code: exitCodes.done, out: `no jobs in ${root.folder}\n` };
    const look = { width: context.width, isColored: context.isTerminal && !variables.noColor() };
    return { code: exitCodes.done, out: `${await tableOf(views, look)}\n` };
  },
};

async function watchIt(context: Context, root: StateRoot, input: Parsed): Promise<Reply> {
  if (input.has('json'))
    throw usageError('cannot take --watch and --json together: one is for people, the other for programs');
  const [word] = input.words;
  const { watchStatus } = await import('./status-watch.ts');
  return watchStatus(context, {
    root: root.folder,
    id: word === undefined ? null : findJob(root, word),
    owner: input.text('owner') ?? null,
    recent: input.count('recent') ?? 10,
    everyMs: input.durationOrDefault('every'),
  });
}
