// `status [ID]`: a table of live and recent jobs, or one job with what it said last. What only one form of it needs is loaded for that form:
// a look at the table is what people and programs do most.
import { usageError } from '../core/errors.ts';
import { exitCodeOf, exitCodes } from '../core/exit-codes.ts';
import { type Kind, kinds } from '../core/job.ts';
import { limits } from '../core/limits.ts';
import { type Choice, listViews } from '../jobs/listing.ts';
import type { View } from '../jobs/view.ts';
import { variables } from '../platform/env.ts';
import type { StateRoot } from '../store/layout.ts';
import { checkRoot } from '../store/root.ts';
import type { Command, Context, Reply } from './command.ts';
import { common } from './options.ts';
import type { Parsed } from './parse.ts';

const recentDefault = 10;

export const status: Command = {
  name: 'status',
  summary: 'table of live and recent jobs, or one job and what it said last',
  form: '[ID] [--watch]',
  words: { min: 0, max: 1 },
  options: {
    owner: { kind: 'text', value: 'NAME', help: 'only jobs of this owner (default: everybody)' },
    kind: { kind: 'text', value: 'K[,K]', help: `only jobs of these kinds: ${kinds.join(', ')}` },
    active: { kind: 'flag', help: 'only jobs that have not ended' },
    recent: {
      kind: 'count',
      value: 'N',
      range: { default: recentDefault, min: 0, max: 10_000 },
      help: `how many finished jobs to show (default ${recentDefault})`,
    },
    tree: {
      kind: 'flag',
      help: 'which job came from which: continued, restarted, or started by a job (of --owner: also what its jobs started)',
    },
    markdown: { kind: 'flag', help: 'as a table for a checkpoint file: state, health, limit left, next command' },
    watch: {
      kind: 'flag',
      help: 'draw it again and again until no job lives; on a pipe: print it once, when no job is live any more',
    },
    every: { kind: 'duration', value: 'D', range: limits.redraw, help: 'with --watch: how often (default 1s)' },
    ...common,
  },
  notes: 'A state with "!" (running!) means that the job needs attention; status ID says why.',
  examples: [
    'status',
    'status --watch',
    'status run-mik3x9ab-4f7q2z',
    'status --owner builder --json',
    'status --active --kind staff,run --markdown',
  ],

  async run(context, input) {
    const root = context.root(input);
    checkWords(input);
    const choice: Choice = { owner: input.text('owner') ?? null, kinds: parseKinds(input.text('kind')) };
    const isThere = checkRoot(root.folder);
    if (input.has('watch')) return watchIt(context, root, input, choice);
    if (input.words[0] !== undefined) return showOne(root, input.words[0], input.has('json'));
    if (input.has('tree') && choice.owner !== null) {
      const { whoseJobs } = await import('../jobs/whose.ts');
      const whose = whoseJobs(root.folder, choice.owner);
      choice.isMine = (spec) => whose(spec) !== 'other';
    }
    const views = isThere ? await listViews(root.folder, { ...choice, recent: recentOf(input) }) : [];
    const reply = { code: exitCodes.done, ...(await shown(context, root, input, { views, choice })) };
    const others = isThere && !input.has('markdown') ? await othersOf(root, choice, views) : null;
    return others === null || reply.out === undefined ? reply : { ...reply, out: `${reply.out}${others}\n` };
  },
};

/** The name may be misspelt. */
async function othersOf(root: StateRoot, { owner }: Choice, views: readonly View[]): Promise<string | null> {
  const { isEnded } = await import('../jobs/view.ts');
  if (owner === null || views.some(({ state }) => !isEnded(state))) return null;
  return (await import('../jobs/others-live.ts')).othersLive(root.folder, owner);
}

/** What cannot be meant together. */
function checkWords(input: Parsed): void {
  if (input.has('every') && !input.has('watch')) throw usageError('cannot take --every without --watch');
  const form = ['json', 'markdown', 'tree', 'watch'].filter((name) => input.has(name));
  if (input.has('watch') && input.has('json'))
    throw usageError('cannot take --watch and --json together: one is for people, the other for programs');
  if (form.length > 1)
    throw usageError(`cannot take --${form[0]} and --${form[1]} together: each is a form of its own`);
  if (input.has('active') && input.has('recent'))
    throw usageError('cannot take --active and --recent together: --active shows no finished jobs');
  const among = ['kind', 'active', 'tree', 'markdown'].find((name) => input.has(name));
  if (input.words[0] !== undefined && among !== undefined)
    throw usageError(`cannot take --${among} with the id of one job: it is for the table`);
}

function parseKinds(text: string | undefined): Kind[] | null {
  if (text === undefined) return null;
  const words = text.split(',');
  const unknown = words.find((word) => !(kinds as readonly string[]).includes(word));
  if (unknown === undefined) return words as Kind[];
  throw usageError(
    `cannot show jobs of kind ${JSON.stringify(unknown)}: allowed are ${kinds.join(', ')}, with commas between`,
  );
}

function recentOf(input: Parsed): number {
  return input.has('active') ? 0 : (input.count('recent') ?? recentDefault);
}

async function shown(
  context: Context,
  root: StateRoot,
  input: Parsed,
  { views, choice }: { views: View[]; choice: Choice },
): Promise<Pick<Reply, 'out' | 'json'>> {
  if (input.has('json')) {
    const { isoNow } = await import('../platform/clock.ts');
    const { rowDocument } = await import('./status-row.ts');
    return { json: { state_folder: root.folder, now: isoNow(), jobs: views.map(rowDocument) } };
  }
  if (views.length === 0) return { out: `${(await import('./no-jobs.ts')).noJobs(root, choice)}\n` };
  if (input.has('markdown')) return { out: `${(await import('./status-markdown.ts')).lanesOf(views, root)}\n` };
  if (input.has('tree'))
    return { out: `${await (await import('./status-tree.ts')).treeOf(root.folder, views, context.width)}\n` };
  const { tableOf } = await import('./status-table.ts');
  const look = { width: context.width, isColored: context.isTerminal && !variables.noColor() };
  return { out: `${await tableOf(views, look)}\n` };
}

async function showOne(root: StateRoot, word: string, isJson: boolean): Promise<Reply> {
  const { findJob } = await import('../store/catalog.ts');
  const { refreshUnasked } = await import('../jobs/reconcile.ts');
  const view = await refreshUnasked(root.folder, findJob(root, word));
  const code = exitCodeOf(view.state.state);
  if (!isJson) return { code, out: (await import('./status-page.ts')).pageOf(view, root) };
  const { observation } = await import('../jobs/observation.ts');
  return { code, json: observation(view, { afterSeq: null, root }) };
}

async function watchIt(context: Context, root: StateRoot, input: Parsed, choice: Choice): Promise<Reply> {
  const [word] = input.words;
  const { findJob } = await import('../store/catalog.ts');
  const { watchStatus } = await import('./status-watch.ts');
  return watchStatus(context, {
    ...choice,
    root,
    id: word === undefined ? null : findJob(root, word),
    recent: recentOf(input),
    everyMs: input.durationOrDefault('every'),
  });
}
