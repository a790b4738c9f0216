// Of the newest ended jobs those that still want somebody, whatever was told before: a result that nobody has read, or a question that the
// answer ended with.
import type { JobState, Outcome } from '../core/job.ts';
import { wakeJobs } from '../core/limits.ts';
import { exists } from '../platform/folders.ts';
import { listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { readSpec, readState } from '../store/records.ts';
import { hasQuestion } from './questions.ts';
import type { whoseJobs } from './whose.ts';

export interface Standing {
  /** The newest first. */
  unread: string[];
  asking: string[];
}

export function standingEnds(root: string, whose: ReturnType<typeof whoseJobs>): Standing {
  const found: Standing = { unread: [], asking: [] };
  for (const id of listJobs(root).slice(0, wakeJobs)) {
    const paths = jobPaths(root, id);
    // A timer has nothing to read.
    if (id.startsWith('timer-') || exists(paths.marker)) continue;
    const isCollected = exists(paths.collected);
    const state = readState(paths);
    if (state.kind !== 'ok' || !isUnread(state.value) || (isCollected && !hasQuestion(state.value))) continue;
    const spec = readSpec(paths);
    const word = spec.kind === 'ok' ? whose(spec.value) : 'other';
    if (word === 'other') continue;
    // One that lives reads those that it started itself.
    if (!isCollected && word === 'own') found.unread.push(id);
    if (hasQuestion(state.value)) found.asking.push(id);
  }
  return found;
}

const unread: readonly Outcome[] = ['done', 'failed', 'timed_out', 'crashed'];

/** What was canceled is known to whoever did it. */
function isUnread({ state }: JobState): boolean {
  return (unread as readonly string[]).includes(state);
}
