// What the caller hears on stderr of the worktree after a staff job, and of a writing role that was not let to write.
import { plainText } from '../core/excerpt.ts';
import type { StaffPart } from '../core/job.ts';
import { findMode, isWriter } from '../core/modes.ts';
import { isEnded, type View } from '../jobs/view.ts';
import { isChanges } from '../jobs/workspace/compare.ts';
import { summarizeChanges } from '../jobs/workspace/describe.ts';
import { readJson } from '../platform/files.ts';

/** Lines; none for jobs without a worktree record. The record lies where an agent may write: what lost its form is left out. */
export function workspaceNotes(view: View): string[] {
  const { spec, state, paths } = view;
  if (!spec?.staff || !isEnded(state)) return [];
  const notes = isHeldBack(spec.staff) ? ['profile: restricted (nothing could be changed)'] : [];
  const read = readJson(paths.resultRecord);
  const changes = read.kind === 'ok' ? read.value.changes : undefined;
  if (!isChanges(changes)) return notes;
  notes.push(`workspace: ${plainText(summarizeChanges(changes))}`);
  if (!spec.worktree || read.kind !== 'ok') return notes;
  const { take_over: commands } = (read.value.worktree ?? {}) as { take_over?: unknown };
  notes.push(`its own worktree: ${spec.worktree.path} (branch ${spec.worktree.branch})`);
  if (Array.isArray(commands))
    for (const command of commands.slice(0, 10))
      if (typeof command === 'string') notes.push(`take over: ${plainText(command)}`);
  return notes;
}

/** A mode that is there to write, held to reading: an answer that says "done" did nothing. */
function isHeldBack({ mode, profile }: StaffPart): boolean {
  return !isWriter(profile) && isWriter(findMode(mode)?.profile ?? 'restricted');
}
