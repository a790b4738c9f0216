// Whose business a job is. A job that a job started has that job's id as its owner: while that one lives it collects its own; when it has
// ended nobody of its kind is left, and they are the business of whoever it belonged to, over as many generations as have ended.
import { isId } from '../core/ids.ts';
import type { Spec } from '../core/job.ts';
import { exists } from '../platform/folders.ts';
import { jobPaths } from '../store/layout.ts';
import { readSpec, readState } from '../store/records.ts';
import { isEnded } from './view.ts';

/** `below`: a job of this owner that still lives started it, or one of its own did. */
export type Whose = 'own' | 'below' | 'other';

interface Starter {
  owner: string | null;
  isOver: boolean;
}

/** Null: everybody's are his own. Each record above is read once: make a new one for each look. */
export function whoseJobs(root: string, owner: string | null): (spec: Pick<Spec, 'id' | 'owner'>) => Whose {
  const known = new Map<string, Starter | 'gone' | 'unreadable'>();
  const look = (id: string): Starter | 'gone' | 'unreadable' => {
    const seen = known.get(id) ?? starterOf(root, id);
    known.set(id, seen);
    return seen;
  };
  return (spec) => {
    if (owner === null) return 'own';
    const passed = new Set([spec.id]);
    let isHeld = false;
    for (let above = spec.owner; above !== owner; ) {
      if (above === null || !isId(above) || passed.has(above)) return 'other';
      passed.add(above);
      const starter = look(above);
      // In another state folder, perhaps: it is nobody whom this folder knows.
      if (starter === 'gone') return 'other';
      // Whose they are nobody can tell: everybody is told of them.
      if (starter === 'unreadable') break;
      isHeld ||= !starter.isOver;
      above = starter.owner;
    }
    return isHeld ? 'below' : 'own';
  };
}

function starterOf(root: string, id: string): Starter | 'gone' | 'unreadable' {
  const paths = jobPaths(root, id);
  if (!exists(paths.folder)) return 'gone';
  const spec = readSpec(paths);
  if (spec.kind !== 'ok') return 'unreadable';
  const state = readState(paths);
  return { owner: spec.value.owner, isOver: state.kind === 'ok' && isEnded(state.value) };
}
