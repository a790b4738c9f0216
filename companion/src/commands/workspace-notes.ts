// What the caller hears on stderr of the worktree after a staff job that could write, or that was not to and did.
import { plainText } from '../core/excerpt.ts';
import { isReader } from '../core/modes.ts';
import { isEnded, type View } from '../jobs/view.ts';
import { isChanges } from '../jobs/workspace/compare.ts';
import { summarizeChanges } from '../jobs/workspace/describe.ts';
import { readJson } from '../platform/files.ts';

/** Lines; none for jobs without a worktree record. The record lies where an agent may write: what lost its form is left out. */
export function workspaceNotes(view: View): string[] {
  const { spec, state, paths } = view;
  if (!spec?.staff || !isEnded(state)) return [];
  const read = readJson(paths.resultRecord);
  const changes = read.kind === 'ok' ? read.value.changes : undefined;
  if (!isChanges(changes)) return [];
  if (isReader(spec.staff.mode, spec.staff.profile) && changes.unchanged) return [];
  const notes = [`workspace: ${plainText(summarizeChanges(changes))}`];
  if (!spec.worktree || read.kind !== 'ok') return notes;
  const { take_over: commands } = (read.value.worktree ?? {}) as { take_over?: unknown };
  notes.push(`its own worktree: ${spec.worktree.path} (branch ${spec.worktree.branch})`);
  if (Array.isArray(commands))
    for (const command of commands.slice(0, 10))
      if (typeof command === 'string') notes.push(`take over: ${plainText(command)}`);
  return notes;
}
