// What changed outside git: files by size, time of change and inode. A file that was written again with the same bytes counts.
import { makeLooker } from '../../platform/raw-content.ts';
import type { Change, Side } from './sides.ts';
import type { WorkspaceSnapshot } from './types.ts';

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

function filesOf({ files }: WorkspaceSnapshot): Map<string, NonNullable<Side>> {
  return new Map((files ?? []).map(([path, mode, stat]) => [path, { mode, content: stat }]));
}
