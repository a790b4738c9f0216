// The exact command that waits on as this one did: the same jobs, the same causes, the cursors where they are now.
import { formatDuration } from '../core/duration.ts';
import type { Wanted } from '../core/wakes.ts';
import { handbackWords, nextCommand, nextCommands } from '../jobs/next-commands.ts';
import type { WaitCursor } from '../jobs/wake-watch.ts';
import { exists } from '../platform/folders.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { readSpec } from '../store/records.ts';

export interface Asked {
  mode: 'any' | 'all';
  /** Empty: only the end. */
  until?: readonly Wanted[];
  cursors?: ReadonlyMap<string, WaitCursor>;
  /** As the caller gave it; undefined when it gave none. */
  timeoutAsked?: number | undefined;
  /** The caller said that only the end is to wake. */
  isEndAsked?: boolean;
}

/** All that a wait goes by. */
export interface Collecting extends Asked {
  timeoutMs: number;
  heartbeatMs: number | null;
  isJson: boolean;
  /** Whose wait it is; else JOB_OWNER says so. */
  owner?: string | null;
  /** Notes that the caller has heard in this very call: not told again. */
  told?: readonly string[];
}

export function waitAgain(
  root: StateRoot,
  ids: readonly string[],
  asked: Asked,
  moved: ReadonlyMap<string, number> = new Map(),
): string {
  const [first = ''] = ids;
  const { until = [], cursors = new Map() } = asked;
  // Whoever asked for nothing may not know that an agent asks before its end.
  const isHandedBack = until.length === 0 && ids.some((id) => handsBack(root, id));
  if (until.length === 0 && ids.length === 1 && !isHandedBack) return nextCommands.wait(first, root.option);
  const words = ['wait', ...ids];
  if (ids.length > 1) words.push(`--${asked.mode}`);
  if (until.length > 0) words.push('--until', until.join(','));
  else if (isHandedBack) words.push(...(asked.isEndAsked ? ['--until', 'terminal'] : handbackWords));
  for (const id of until.length > 0 ? ids : []) {
    const seq = moved.get(id) ?? cursors.get(id)?.seq;
    if (seq !== undefined) words.push('--after-seq', ids.length > 1 ? `${id}:${seq}` : String(seq));
  }
  const hasOwn = until.length > 0 && asked.timeoutAsked !== undefined;
  words.push('--timeout', hasOwn ? formatDuration(asked.timeoutAsked ?? 0) : '10m');
  return nextCommand(root.option, ...words);
}

/** It lives, and has a folder for what wakes its caller. */
function handsBack(root: StateRoot, id: string): boolean {
  const paths = jobPaths(root.folder, id);
  if (!exists(paths.marker)) return false;
  const spec = readSpec(paths);
  return spec.kind === 'ok' && Boolean(spec.value.handback);
}
