// Who is at work on this loop: a loop job or a gate that lives. One at a time.
import { inspect, isEnded } from '../jobs/view.ts';
import { realPath } from '../platform/folders.ts';
import { listActive } from '../store/catalog.ts';
import type { LoopPlace } from './place.ts';

/** `owner`: the loop job that asks; its own gates, and itself, are not in its way. */
export function liveLoopJob(place: LoopPlace, owner: string | null): { kind: string; id: string } | undefined {
  for (const id of listActive(place.root.folder)) {
    if (!/^(loop|gate)-/.test(id) || id === owner) continue;
    const { spec, state } = inspect(place.root.folder, id);
    const part = spec?.gate ?? spec?.loop;
    if (spec && part && !isEnded(state) && part.folder === realPath(place.worktree)) return { kind: spec.kind, id };
  }
  return undefined;
}
