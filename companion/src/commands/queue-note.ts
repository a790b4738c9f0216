// What a launch with `--max-live` says of the queue: where the job stands as its launcher sees it. Its worker may see it otherwise a moment later.
import type { Spec } from '../core/job.ts';
import { queueNamed } from '../core/limits.ts';
import { lookAtQueue, makeQueueMemory } from '../jobs/queue.ts';
import { queueWords } from '../jobs/queue-words.ts';
import { jobPaths } from '../store/layout.ts';
import { hasQueue, readTurn } from '../store/turn.ts';

export interface QueueTold {
  facts: Record<string, unknown>;
  line: string;
}

export async function queueNoteOf(root: string, spec: Spec): Promise<QueueTold | undefined> {
  if (spec.kind === 'timer')
    return { facts: {}, line: 'queue:   none: a timer is armed at once, --max-live does not count for it' };
  if (!hasQueue(spec)) return undefined;
  const { ahead, atWork, place, mayGo } = await lookAtQueue(root, spec, makeQueueMemory());
  const max_live = spec.max_live ?? 0;
  if (mayGo || readTurn(jobPaths(root, spec.id), spec.id))
    return { facts: { queue: null }, line: `queue:   its turn is now (at most ${max_live} at a time)` };
  if (place + atWork.length <= max_live)
    return { facts: { queue: null }, line: `queue:   a place is free (at most ${max_live} at a time)` };
  const before = ahead.at(-1);
  const behind = before ? [before] : atWork.slice(0, queueNamed).map(({ id }) => id);
  const seen = { place, live: atWork.length, max_live, behind };
  return { facts: { queue: seen }, line: `queued:  ${queueWords(seen)}` };
}
