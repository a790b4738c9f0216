// "The latest job": of this owner when one is named (so that two callers in one worktree do not collect each other's work),
// else of the worktree.
import { FaultError } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { quoteWords } from '../core/shell-words.ts';
import { selfWords } from '../platform/self.ts';
import { listActive, listJobs, noFolderFault } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { readSpec } from '../store/records.ts';

export function findLatest(
  root: string,
  owner: string | null,
  accept: (id: string, spec: Spec) => boolean = () => true,
): string | undefined {
  for (const id of listJobs(root)) {
    const spec = readSpec(jobPaths(root, id));
    if (spec.kind !== 'ok') continue;
    if (owner !== null && spec.value.owner !== owner) continue;
    if (accept(id, spec.value)) return id;
  }
  return undefined;
}

export interface Newest {
  id: string;
  /** All that live, of this owner when one is named. */
  live: string[];
  /** A live timer is newer, and was passed over. */
  isPastTimer: boolean;
}

/** The one to look after: a timer that was set to look after another job must not hide that job. */
export function requireNewest(root: StateRoot, owner: string | null, what: string): Newest {
  const id = requireLatest(root, owner, what);
  const specOf = (one: string): Spec | null => {
    const read = readSpec(jobPaths(root.folder, one));
    return read.kind === 'ok' ? read.value : null;
  };
  const live = listActive(root.folder).filter((one) => {
    const spec = specOf(one);
    return spec !== null && (owner === null || spec.owner === owner);
  });
  if (!live.includes(id) || specOf(id)?.kind !== 'timer') return { id, live, isPastTimer: false };
  const other = live.findLast((one) => specOf(one)?.kind !== 'timer');
  return other === undefined ? { id, live, isPastTimer: false } : { id: other, live, isPastTimer: true };
}

export function requireLatest(
  root: StateRoot,
  owner: string | null,
  what: string,
  accept?: (id: string, spec: Spec) => boolean,
): string {
  const id = findLatest(root.folder, owner, accept);
  if (id !== undefined) return id;
  const fault = noFolderFault(root, what);
  if (fault) throw fault;
  const whose = owner === null ? '' : ` of owner ${owner}`;
  throw new FaultError(
    'unknown_job',
    `cannot find ${what}${whose} in the state folder ${root.folder}`,
    quoteWords([...selfWords(), 'status', ...root.option]),
  );
}
