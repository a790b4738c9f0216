// The part of `setup`'s page about hooks as they stand, and the one about what it writes.
import type { HookFinding } from '../jobs/hook-setup.ts';
import type { SetupEdit } from '../jobs/setup.ts';
import { labelled } from '../output/wrap.ts';

/** `copy`: of the old file, when it was written and there was one. */
export type TakenEdit = SetupEdit & { copy: string | null };

export function hooksText(hooks: readonly HookFinding[], isAsOfNow: boolean): string {
  const head = `Hooks that tell a session of its jobs${isAsOfNow ? ', as it is now' : ''}:`;
  if (hooks.length === 0) return `${head} none (setup --hooks HOST)`;
  const lines = hooks.flatMap(({ host, file, problem }) =>
    labelled(host, `${problem === null ? 'on' : `do not work: ${problem}`}, ${file}`),
  );
  return [head, ...lines].join('\n');
}

export function editsText(edits: readonly TakenEdit[], isApplied: boolean): string {
  if (edits.length === 0) return 'Nothing to write: all of it is so already.';
  const lines = edits.flatMap(({ file, before, after, changes, copy, copyBase = file }) => {
    const verb = after === null ? 'remove' : before === null ? 'make' : 'change';
    const done = { remove: 'removed', make: 'made', change: 'changed' }[verb];
    const kept = before === null ? [] : labelled('copy', isApplied ? `${copy}` : `${copyBase}.job-companion-TIME.bak`);
    return [
      `${isApplied ? done : `would ${verb}`} ${file}`,
      ...changes.flatMap((change) => labelled('', change)),
      ...kept,
    ];
  });
  return [...lines, ...(isApplied ? [] : ['A dry run: nothing was written. Write it with --apply.'])].join('\n');
}
