// `clean`: remove old records; shows what it would do unless --yes.
import { exitCodes } from '../core/exit-codes.ts';
import { limits } from '../core/limits.ts';
import { planClean, removeDebris, removeJobs } from '../jobs/clean.ts';
import { nextCommand } from '../jobs/next-commands.ts';
import { withLock } from '../platform/lock.ts';
import { rootPaths } from '../store/layout.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';

export const clean: Command = {
  name: 'clean',
  summary: 'remove old job records (a dry run unless --yes)',
  form: '[--older-than D] [--keep N] [--yes]',
  words: { min: 0, max: 0 },
  options: {
    'older-than': {
      kind: 'duration',
      value: 'D',
      range: limits.cleanAge,
      help: 'only jobs that ended at least this long ago (default 14d)',
    },
    keep: {
      kind: 'count',
      value: 'N',
      range: { default: 0, min: 0, max: 1_000_000 },
      help: 'keep the newest N finished jobs in any case',
    },
    yes: { kind: 'flag', help: 'really remove' },
    ...common,
  },
  notes:
    'Never removes a live, awaited or uncollected job, nor one that a live job descends from. Once-keys stay. The worktree of a job ' +
    '(--worktree) goes with its record, and both stay while it holds uncommitted or unmerged work, or a job of its own.',
  examples: ['clean', 'clean --older-than 3d --keep 20 --yes'],

  async run(context, input) {
    const root = context.root(input);
    const none = { state_folder: root.folder, removed: [], would_remove: [], worktrees: [], kept: [] };
    if (!checkRoot(root.folder))
      return input.has('json')
        ? { code: exitCodes.done, json: none }
        : { code: exitCodes.done, out: `no jobs in ${root.folder}\n` };
    const options = {
      olderThanMs: input.durationOrDefault('older-than'),
      keep: input.count('keep') ?? 0,
      includeUncollected: false,
    };
    if (!input.has('yes')) {
      const plan = await planClean(root.folder, options);
      if (input.has('json'))
        return {
          code: exitCodes.done,
          json: { ...none, would_remove: plan.remove, worktrees: plan.worktrees, kept: plan.keep },
        };
      const lines = [
        ...plan.remove.map((id) => `would remove ${id}${withTree(plan.worktrees, id)}`),
        ...plan.keep.map((one) => `keeps ${one.id}: ${one.why}`),
        `${plan.remove.length} of these jobs would be removed; do it with:`,
        `${nextCommand(root.option, 'clean', ...given(input), '--yes')}`,
      ];
      return { code: exitCodes.done, out: `${lines.join('\n')}\n` };
    }
    const done = await withLock(rootPaths(root.folder).lock, async () => {
      const plan = await planClean(root.folder, options);
      removeDebris(plan.debris);
      const { kept, ...gone } = await removeJobs(root.folder, plan.remove);
      return { ...gone, kept: [...plan.keep, ...kept] };
    });
    if (input.has('json')) return { code: exitCodes.done, json: { ...none, ...done } };
    return {
      code: exitCodes.done,
      out: `${[
        ...done.removed.map((id) => `removed ${id}${withTree(done.worktrees, id)}`),
        ...done.kept.filter((one) => one.why.includes('worktree')).map((one) => `keeps ${one.id}: ${one.why}`),
        `${done.removed.length} removed`,
      ].join('\n')}\n`,
    };
  },
};

/** What goes with a record. */
function withTree(trees: readonly { id: string; path: string; branch: string }[], id: string): string {
  const tree = trees.find((one) => one.id === id);
  return tree ? ` and its worktree ${tree.path} with its branch ${tree.branch}` : '';
}

function given(input: { text(name: string): string | undefined }): string[] {
  return ['older-than', 'keep'].flatMap((name) => {
    const value = input.text(name);
    return value === undefined ? [] : [`--${name}`, value];
  });
}
