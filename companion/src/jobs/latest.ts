// "The latest job": of this owner when one is named (so that two callers in one worktree do not collect each other's work),
// else of the worktree.
import { FaultError } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { quoteWords } from '../core/shell-words.ts';
import { selfWords } from '../platform/self.ts';
import { listJobs } from '../store/catalog.ts';
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

export function requireLatest(
  root: StateRoot,
  owner: string | null,
  what: string,
  accept?: (id: string, spec: Spec) => boolean,
): string {
  const id = findLatest(root.folder, owner, accept);
  if (id !== undefined) return id;
  const whose = owner === null ? '' : ` of owner ${owner}`;
  throw new FaultError(
    'unknown_job',
    `cannot find ${what}${whose} in the state folder ${root.folder}`,
    quoteWords([...selfWords(), 'status', ...root.option]),
  );
}
