// What changed outside git: files by size, time of change and inode. A file that was written again with the same bytes counts.
import { makeLooker } from '../../platform/raw-content.ts';
import { entriesOf, isDirty } from './rest.ts';
import type { Change, PathChanges, Side } from './sides.ts';
import type { GitSnapshot, WorkspaceSnapshot } from './types.ts';

/** Both looked at the same folder. Where one was cut short, the folder itself is asked for what the other does not list. */
export function comparePlain(before: WorkspaceSnapshot, after: WorkspaceSnapshot): Change[] {
  const [known, now] = [filesOf(before), filesOf(after)];
  const looker = makeLooker(after.cwd);
  const changes: Change[] = [];
  for (const path of [...new Set([...known.keys(), ...now.keys()])].sort()) {
    const was = known.get(path) ?? null;
    const is = now.get(path) ?? (after.exact ? null : lookNow(path));
    if (was?.mode === is?.mode && was?.content === is?.content) continue;
    const isOld = !was && !before.exact && (looker.look(path)?.changedMs ?? 0) < Date.parse(before.at) - 2_000;
    if (!isOld) changes.push({ path, was, is, was_dirty: false, committed: false });
  }
  return changes;

  function lookNow(path: string): Side {
    const facts = looker.look(path);
    return facts && facts.kind !== 'folder' ? { mode: facts.mode, content: facts.stat } : null;
  }
}

/** Where git cannot be asked any more: of what was dirty, by size, time of change and inode; nothing is known of the rest. */
export function compareUnasked(before: GitSnapshot): PathChanges {
  const looker = makeLooker(before.git.root);
  const paths: PathChanges = { changes: [], untouched: [], swallowed: [] };
  for (const [path, entry] of entriesOf(before)) {
    const facts = looker.look(path);
    if (!isDirty(entry) || entry.mode === '160000') continue;
    const now = facts && facts.kind !== 'folder' ? facts : null;
    const isSame = now ? now.mode === entry.mode && now.stat === entry.stat : entry.mode === null;
    const sideOf = (side: { mode: string; stat: string | null }): Side => ({ mode: side.mode, content: side.stat });
    const was = entry.mode === null ? null : sideOf({ mode: entry.mode, stat: entry.stat });
    if (isSame) paths.untouched.push(path);
    else paths.changes.push({ path, was, is: now && sideOf(now), was_dirty: true, committed: false });
  }
  return paths;
}

function filesOf({ files }: WorkspaceSnapshot): Map<string, NonNullable<Side>> {
  return new Map((files ?? []).map(([path, mode, stat]) => [path, { mode, content: stat }]));
}
