// `status [ID]`: a table of live and recent jobs, or one job with what it said last.

import { excerpt, plainText } from '../core/excerpt.ts';
import { exitCodeOf, exitCodes } from '../core/exit-codes.ts';
import { healthOf } from '../jobs/health-seen.ts';
import { listViews } from '../jobs/listing.ts';
import { observation, staffFacts } from '../jobs/observation.ts';
import { refresh } from '../jobs/reconcile.ts';
import { conditionOf, type View } from '../jobs/view.ts';
import { variables } from '../platform/env.ts';
import { findJob } from '../store/catalog.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';
import { pageOf } from './status-page.ts';
import { tableOf } from './status-table.ts';

export const status: Command = {
  name: 'status',
  summary: 'table of live and recent jobs, or one job and what it said last',
  form: '[ID]',
  words: { min: 0, max: 1 },
  options: {
    owner: { kind: 'text', value: 'NAME', help: 'only jobs of this owner (default: everybody)' },
    recent: {
      kind: 'count',
      value: 'N',
      range: { default: 10, min: 0, max: 10_000 },
      help: 'how many finished jobs to show (default 10)',
    },
    ...common,
  },
  examples: ['status', 'status run-mik3x9ab-4f7q2z', 'status --owner builder --json'],

  async run(context, input) {
    const root = context.root(input);
    const isThere = checkRoot(root.folder);
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
      return { code: exitCodes.done, json: { state_folder: root.folder, jobs: views.map(rowDocument) } };
    if (views.length === 0) return { code: exitCodes.done, out: `no jobs in ${root.folder}\n` };
    const look = { width: context.width, isColored: context.isTerminal && !variables.noColor() };
    return { code: exitCodes.done, out: `${await tableOf(views, look)}\n` };
  },
};

function rowDocument(view: View): Record<string, unknown> {
  const { state, spec } = view;
  return {
    id: view.id,
    kind: spec?.kind ?? null,
    verb: spec?.verb ?? null,
    owner: spec?.owner ? excerpt(plainText(spec.owner), 200) : null,
    label: spec?.label ? excerpt(plainText(spec.label), 200) : null,
    ...staffFacts(spec),
    state: state.state,
    ...healthOf(view, conditionOf(view)),
    created_at: state.created_at,
    ended_at: state.ended_at,
    duration_ms: state.duration_ms,
    exit_code: state.exit_code,
    error: state.error,
    cwd: spec?.cwd ?? null,
  };
}
