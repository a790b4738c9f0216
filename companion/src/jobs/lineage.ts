// What a job hands on to one that continues or restarts it. The old record never changes; its spec is used only when it is the one
// that this user's launcher wrote.
import { FaultError } from '../core/errors.ts';
import type { Lineage, Spec } from '../core/job.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { readSpec, readState } from '../store/records.ts';

export function requireSpec(root: StateRoot, id: string): Spec {
  const read = readSpec(jobPaths(root.folder, id));
  if (read.kind === 'ok') return read.value;
  const reason = read.kind === 'damaged' ? read.reason : 'its spec.json is missing';
  throw new FaultError('preflight', `cannot use job ${id}: ${reason}`);
}

/** Nothing is ever executed from a spec that somebody else wrote or changed. */
export async function requireGenuine(spec: Spec): Promise<void> {
  if (await isGenuine(spec, readKey())) return;
  throw new FaultError(
    'preflight',
    `cannot start anything from job ${spec.id}: its spec.json was changed or comes from another user or machine`,
    'launch it again in your own words',
  );
}

/** The conversation that a job recorded, or was asked to go on with. */
export function conversationOf(root: string, spec: Spec): string | null {
  const state = readState(jobPaths(root, spec.id));
  return (state.kind === 'ok' ? state.value.conversation?.id : undefined) ?? null;
}

export function lineageOf(parent: Spec, relation: Lineage['relation']): Lineage {
  return { relation, parent: parent.id, root: parent.lineage?.root ?? parent.id };
}
