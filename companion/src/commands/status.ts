// `status [ID]`: a table of live and recent jobs, or one job with the end of its log.

import { formatDuration } from '../core/duration.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import { exitCodeOf, exitCodes } from '../core/exit-codes.ts';
import { quoteWords } from '../core/shell-words.ts';
import { listViews } from '../jobs/listing.ts';
import { healthOf, observation } from '../jobs/observation.ts';
import { refresh } from '../jobs/reconcile.ts';
import { conditionOf, isEnded, type View } from '../jobs/view.ts';
import { makePaint, type Paint } from '../output/style.ts';
import { renderTable } from '../output/table.ts';
import { nowMs } from '../platform/clock.ts';
import { variables } from '../platform/env.ts';
import { findJob } from '../store/catalog.ts';
import type { StateRoot } from '../store/layout.ts';
import { readLogTail } from '../store/output-log.ts';
import { checkRoot } from '../store/root.ts';
import type { Command, Context, Reply } from './command.ts';
import { common } from './options.ts';

export const status: Command = {
  name: 'status',
  summary: 'table of live and recent jobs, or one job with its log tail',
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
        : tellOne(view, root);
    }
    const views = isThere
      ? await listViews(root.folder, { recent: input.count('recent') ?? 10, owner: input.text('owner') ?? null })
      : [];
    if (input.has('json'))
      return { code: exitCodes.done, json: { state_folder: root.folder, jobs: views.map(rowDocument) } };
    if (views.length === 0) return { code: exitCodes.done, out: `no jobs in ${root.folder}\n` };
    return { code: exitCodes.done, out: `${await table(context, views)}\n` };
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

async function table(context: Context, views: View[]): Promise<string> {
  const color = await makePaint(context.isTerminal && !variables.noColor());
  const rows = views.map((view) => {
    const health = healthOf(view, conditionOf(view));
    const word = health.health === 'attention' && !isEnded(view.state) ? `${view.state.state}!` : view.state.state;
    return [view.id, word, ageOf(view), ownerOf(view), whatOf(view)];
  });
  const lines = renderTable(['ID', 'STATE', 'AGE', 'OWNER', 'WHAT'], rows, context.width).split('\n');
  return lines.map((line, index) => paint(line, views[index - 1], color)).join('\n');
}

function paint(line: string, view: View | undefined, color: Paint): string {
  return view ? line.replace(` ${view.state.state}`, (word) => color(view.state.state, word)) : line;
}

function ageOf(view: View): string {
  return formatDuration(view.state.duration_ms ?? Math.max(0, nowMs() - Date.parse(view.state.created_at)));
}

function ownerOf(view: View): string {
  return excerpt(plainText(view.spec?.owner ?? '-'), 16);
}

function whatOf(view: View): string {
  const { spec, state } = view;
  const text =
    spec?.label ?? (spec?.run ? quoteWords(spec.run.argv) : (spec?.staff?.prompt ?? state.error?.message ?? ''));
  const cause = state.error ? `[${state.error.code}] ` : '';
  return excerpt(`${cause}${plainText(text).replace(/\s+/g, ' ')}`, 200);
}

function tellOne(view: View, root: StateRoot): Reply {
  const { state, spec } = view;
  const seen = observation(view, { afterSeq: null, root }) as {
    health: string;
    reason?: string;
    next: Record<string, string>;
  };
  const lines: [string, string | null][] = [
    ['id', view.id],
    ['state', state.state],
    ['health', isEnded(state) ? null : `${seen.health}${seen.reason ? ` (${seen.reason})` : ''}`],
    ['error', state.error ? `${state.error.code}: ${plainText(state.error.message)}` : null],
    ['exit code', state.exit_code === null ? null : String(state.exit_code)],
    ['age', ageOf(view)],
    ['owner', spec?.owner ? ownerOf(view) : null],
    ['what', whatOf(view)],
    ['folder', spec?.cwd ? plainText(spec.cwd) : null],
    ['conversation', state.conversation ? excerpt(plainText(state.conversation.id), 200) : null],
    ...state.warnings.map((one): [string, string] => ['warning', plainText(one.message)]),
    ...Object.entries(seen.next).map(([name, command]): [string, string] => [name, command]),
  ];
  const text = lines
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`)
    .join('\n');
  const logs = [view.paths.output, view.paths.error]
    .map((file) => plainText(readLogTail(file).toString('utf8')).trimEnd())
    .filter((log) => log !== '');
  return { code: exitCodeOf(state.state), out: `${[text, ...logs].join('\n\n')}\n` };
}
