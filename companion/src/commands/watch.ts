// `watch KIND ... --for D`: a condition that a worker looks at until it holds. What kinds there are and what each takes comes from
// watches/registry.ts; this file has what all of them share.
import { usageError } from '../core/errors.ts';
import type { WatchPart } from '../core/job.ts';
import { limits, toolGraceMs } from '../core/limits.ts';
import { quoteWords } from '../core/shell-words.ts';
import type { JobRequest } from '../jobs/launch.ts';
import { launch } from '../jobs/launch.ts';
import { realPath } from '../platform/folders.ts';
import { selfWords } from '../platform/self.ts';
import { findJob } from '../store/catalog.ts';
import { checkRoot } from '../store/root.ts';
import { loadWatch, watchIds } from '../watches/registry.ts';
import type { Place, Watch } from '../watches/watch.ts';
import type { Command, Context, Reply } from './command.ts';
import { checkLaunchOptions, launchWords, tellLaunched } from './launching.ts';
import { misplacedIn } from './misplaced.ts';
import { notifyOf } from './notifying.ts';
import { onceWords, repeatedLaunch } from './once-words.ts';
import { common } from './options.ts';
import type { Parsed } from './parse.ts';
import { watchOptions } from './watch-options.ts';

export const watch: Command = {
  name: 'watch',
  summary: 'wait for a condition: a file, a page, a check, another job, ...',
  form: 'KIND ... --for D [options]',
  words: { min: 1, max: 1 },
  options: common,
  notes: `Kinds: ${watchIds.join(', ')}. Each has a page of its own: watch KIND --help.`,
  examples: ['watch file build/out.tar --for 2h', 'watch --help', 'watch file --help'],

  async choose(args) {
    const [word, ...rest] = args;
    if (word === '--help' || word === '-h') return { command: await listed(), args };
    const kind = word === undefined ? undefined : await loadWatch(word);
    if (!kind) throw unknownKind(word);
    return { command: commandOf(kind, rest), args: rest };
  },

  async run() {
    throw unknownKind(undefined);
  },
};

/** The page of all kinds. */
async function listed(): Promise<Command> {
  const kinds = await Promise.all(watchIds.map(loadWatch));
  const width = Math.max(...watchIds.map((id) => id.length));
  const rows = kinds.flatMap((kind) => (kind ? [`${kind.id.padEnd(width)}  ${kind.summary}`] : []));
  return {
    ...watch,
    notes: `${rows.join('\n')}\n\nEach has a page of its own: watch KIND --help.`,
    examples: kinds.flatMap((kind) => kind?.examples.slice(0, 1) ?? []),
  };
}

function unknownKind(word: string | undefined): Error {
  const came =
    word === undefined
      ? 'cannot watch without a condition'
      : word.startsWith('-')
        ? `cannot take ${word} there: what to watch comes first`
        : `cannot watch ${JSON.stringify(word)}: there is no such condition`;
  return usageError(`${came}; there are ${watchIds.join(', ')}`, quoteWords([...selfWords(), 'watch', '--help']));
}

function commandOf(kind: Watch, args: readonly string[]): Command {
  return {
    name: `watch ${kind.id}`,
    summary: kind.summary,
    form: formOf(kind),
    words: kind.words,
    options: { ...kind.options, ...watchOptions(kind.isRemote) },
    ...(kind.notes === undefined ? {} : { notes: kind.notes }),
    examples: kind.examples,
    run: (context, input) => start(kind, args, context, input),
  };
}

/** What follows `--` belongs to the program: our options stand before it. */
function formOf({ form }: Watch): string {
  return form.startsWith('-- ') ? `--for D [options] ${form}` : `${form} --for D [options]`;
}

async function start(kind: Watch, args: readonly string[], context: Context, input: Parsed): Promise<Reply> {
  checkTogether(input);
  if (input.has('once'))
    return (await import('./watch-once.ts')).lookNow(context, kind, input, placeOf(context, input));
  if (!input.has('for')) throw missingBound(kind, args, input);
  const words = onceWords(`watch ${kind.id}`, input, context.cwd, null);
  const isForeground = input.has('foreground');
  const repeated = isForeground ? undefined : await repeatedLaunch(context, input, words, false);
  if (repeated) return repeated;
  const root = context.root(input);
  const launched = await launch(root, {
    ...requestOf(kind, context, input, words),
    notify: await notifyOf(context, input, null),
  });
  if (isForeground) return (await import('./watch-foreground.ts')).follow(context, root, launched.id);
  return tellLaunched(context, input, root, launched, false);
}

function requestOf(kind: Watch, context: Context, input: Parsed, words: string): JobRequest {
  return {
    kind: 'watch',
    verb: 'watch',
    ...launchWords(input),
    cwd: realPath(context.cwd),
    deadlineMs: input.durationOrDefault('for'),
    killGraceMs: toolGraceMs,
    maxOutputBytes: limits.maxOutput.default,
    firstOutputMs: null,
    stallMs: null,
    lineage: null,
    run: null,
    staff: null,
    watch: partOf(kind, input, placeOf(context, input)),
    words,
  };
}

function partOf(kind: Watch, input: Parsed, place: Place): WatchPart {
  const read = kind.read(input, place);
  return {
    condition: kind.id,
    ...read,
    ...(kind.start ? { start: kind.start(read.input) } : {}),
    every_ms: input.durationOrDefault('every'),
    attempt_ms: input.durationOrDefault('attempt-timeout'),
    tolerate: input.count('tolerate') ?? null,
    repeat: input.has('repeat'),
  };
}

function placeOf(context: Context, input: Parsed): Place {
  const root = context.root(input);
  return {
    cwd: context.cwd,
    stateRoot: root.folder,
    isOnce: input.has('once'),
    jobId(text) {
      checkRoot(root.folder);
      return findJob(root, text);
    },
  };
}

/** What says the opposite of each other, or means nothing beside it. */
function checkTogether(input: Parsed): void {
  const withoutJob = [
    'for',
    'every',
    'tolerate',
    'repeat',
    'foreground',
    'once-key',
    'notify',
    'label',
    'wait',
    'id-only',
  ];
  const pairs = [
    ...withoutJob.map((other) => ['once', other] as const),
    ['foreground', 'wait'] as const,
    ['foreground', 'id-only'] as const,
  ];
  for (const [one, other] of pairs)
    if (input.has(one) && input.has(other)) throw usageError(`cannot take --${one} and --${other} together`);
  checkLaunchOptions(input);
}

function missingBound(kind: Watch, args: readonly string[], input: Parsed): Error {
  const rest = input.rest ?? [];
  const misplaced = misplacedIn({ ...kind.options, ...watchOptions(kind.isRemote) }, rest);
  const own = misplaced ? args.slice(0, args.length - rest.length - 1) : args;
  const moved = misplaced ? [...misplaced.options, '--', ...misplaced.program] : [];
  const bound = misplaced?.options.some((word) => /^--for(=|$)/.test(word)) ? [] : ['--for', '2h'];
  const why = misplaced ? `; options go before --: ${quoteWords(misplaced.options)} would go to the program` : '';
  return usageError(
    `cannot watch without a bound: say with --for D how long at most (1s to 365d)${why}`,
    quoteWords([...selfWords(), 'watch', kind.id, ...bound, ...own, ...moved]),
  );
}
