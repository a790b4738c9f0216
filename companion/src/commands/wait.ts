// `wait [ID...]`: block until the end (or the caller's own patience) and print the result.
import { usageError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { parseUntil } from '../core/wakes.ts';
import { requireNewest } from '../jobs/latest.ts';
import { whoseJobs } from '../jobs/whose.ts';
import { variables } from '../platform/env.ts';
import { exists } from '../platform/folders.ts';
import { findJob, listActive } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { readSpec } from '../store/records.ts';
import { checkRoot } from '../store/root.ts';
import { waitAndTell } from './collecting.ts';
import type { Command, Context } from './command.ts';
import { parseCursors } from './cursors.ts';
import { common, ownerOption } from './options.ts';

export const wait: Command = {
  name: 'wait',
  summary: 'block until a job ends and print its result',
  form: '[ID...] [--any|--all] [--until CAUSES] [--after-seq N] [--timeout D]',
  words: { min: 0, max: 1000 },
  options: {
    any: { kind: 'flag', help: 'return when the first has ended; without ids: of all live jobs' },
    all: { kind: 'flag', help: 'return when all have ended; without ids: all live jobs' },
    timeout: {
      kind: 'duration',
      value: 'D',
      range: limits.waitTimeout,
      help: 'patience of this call (default 100s, no maximum); the job runs on',
    },
    until: {
      kind: 'text',
      value: 'CAUSES',
      help: 'what else wakes it, with commas: checkpoint, attention, handback, news (the end, terminal, always does)',
    },
    'after-seq': {
      kind: 'list',
      value: 'N',
      help: 'only events after number N wake: next_seq of an earlier wait; of several jobs ID:N, once for each',
    },
    heartbeat: {
      kind: 'duration',
      value: 'D',
      range: limits.heartbeat,
      help: 'a line on stderr this often (default: silence)',
    },
    ...ownerOption,
    ...common,
  },
  notes:
    'Without ids: the newest job, also when others are live (--all and --any take all that are live). A live timer is not taken for it while another job is live. The results of several jobs come one after the other; on a terminal each stands below a line "== ID: STATE ==".\nWith --until, the first cause after the cursor ends the wait with code 2; the last line is the command that waits on. Nothing is consumed by reading. Older checkpoints are folded into the newest (skipped in the document says how many); attention and news never are: each wakes, the oldest first.\nExit codes: 0 done, 2 not finished (patience is over, or woken), 3 failed, timed out or crashed, 4 canceled, 1 this command is at fault.\nKilling a wait (Ctrl-C too) never touches the job.',
  examples: [
    'wait',
    'wait run-mik3x9ab-4f7q2z --timeout 10m',
    'wait run-mik3x9ab-4f7q2z run-mik3xa01-9c2k4d --any --timeout 1h',
    'wait run-mik3x9ab-4f7q2z --until attention --after-seq 12',
  ],

  async run(context, input) {
    const root = context.root(input);
    checkRoot(root.folder);
    if (input.has('any') && input.has('all')) throw usageError('cannot take --any and --all together');
    const until = parseUntil(input.text('until') ?? 'terminal');
    const owner = input.text('owner') ?? variables.owner() ?? null;
    const ids =
      input.words.length > 0
        ? [...new Set(input.words.map((word) => findJob(root, word)))]
        : liveOrLatest(context, root, owner, input.has('any') || input.has('all'));
    if (ids.length > 1 && !input.has('any') && !input.has('all')) {
      throw usageError(`cannot wait for ${ids.length} jobs without saying how: add --any (the first) or --all`);
    }
    if (until.includes('handback') && !ids.some((id) => canHandBack(root, id)))
      context.tell(
        `${ids.length === 1 ? `${ids[0]} has` : 'these jobs have'} no hand-back folder (--handback): nothing can be handed back, only ${until.length > 1 ? 'the other causes and the end wake' : 'the end wakes'}`,
      );
    return waitAndTell(context, root, ids, {
      mode: input.has('any') ? 'any' : 'all',
      until,
      cursors: parseCursors(input.texts('after-seq'), ids, root),
      timeoutMs: input.durationOrDefault('timeout'),
      timeoutAsked: input.duration('timeout'),
      heartbeatMs: input.duration('heartbeat') ?? null,
      isJson: input.has('json'),
      owner,
      isEndAsked: input.has('until'),
    });
  },
};

/** Of one that cannot be read nothing is said. */
function canHandBack(root: StateRoot, id: string): boolean {
  const spec = readSpec(jobPaths(root.folder, id));
  return spec.kind !== 'ok' || Boolean(spec.value.handback);
}

/** With --any or --all and no ids: every live job (of this owner, when one is named). */
function liveOrLatest(context: Context, root: StateRoot, owner: string | null, isMany: boolean): string[] {
  const whose = whoseJobs(root.folder, owner);
  const isOurs = (id: string): boolean => {
    const spec = readSpec(jobPaths(root.folder, id));
    return owner === null || (spec.kind === 'ok' && whose(spec.value) === 'own');
  };
  const live = isMany
    ? listActive(root.folder).filter((id) => exists(jobPaths(root.folder, id).folder) && isOurs(id))
    : [];
  if (live.length > 0) return live;
  const newest = requireNewest(root, owner, 'a job to wait for');
  if (newest.live.length > 1 && newest.live.includes(newest.id)) {
    const aside = newest.isPastTimer ? ' (timers aside)' : '';
    context.tell(`waiting for ${newest.id}, the newest of ${newest.live.length} live jobs${aside}`);
  }
  return [newest.id];
}
