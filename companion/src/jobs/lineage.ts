// What a job hands on to one that continues or restarts it. The old record never changes; its spec is used only when it is the one
// that this user's launcher wrote.
import { findBackend } from '../backends/registry.ts';
import { FaultError } from '../core/errors.ts';
import type { Lineage, Spec, StaffPart } from '../core/job.ts';
import { isFolder } from '../platform/folders.ts';
import { listJobs } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { readSpec, readState } from '../store/records.ts';
import { isContinuable } from './continuable.ts';
import { nextCommands } from './next-commands.ts';
import { isEnded } from './view.ts';

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
  const paths = jobPaths(root, spec.id);
  const state = readState(paths);
  if (state.kind !== 'ok' || (isEnded(state.value) && !isContinuable(paths, state.value))) return null;
  return state.value.conversation?.id ?? null;
}

/** The folder in which the earlier job worked. Throws 'preflight' when it is gone. */
export function requireFolder(parent: Spec, verb: 'continue' | 'restart', option: readonly string[]): string {
  if (isFolder(parent.cwd)) return parent.cwd;
  const gone = parent.worktree ? `its worktree ${parent.worktree.path}` : `its folder ${parent.cwd}`;
  throw new FaultError(
    'preflight',
    `cannot ${verb} job ${parent.id}: ${gone} is gone`,
    verb === 'continue'
      ? `name another folder with --cwd DIR, or start the task afresh: ${nextCommands.restart(parent.id, option)}`
      : 'launch the task again where it belongs now',
  );
}

/** Some CLIs keep a conversation for the folder in which it began: elsewhere they fail, or say nothing for ever. */
export function requireSameFolder(parent: Spec, cwd: string, option: readonly string[]): void {
  const backend = findBackend(parent.staff?.backend ?? '');
  if (!backend || backend.resumesElsewhere || !backend.keepsConversation || cwd === parent.cwd) return;
  throw new FaultError(
    'preflight',
    `cannot continue job ${parent.id} in ${cwd}: ${backend.title} keeps its conversation for ${parent.cwd}`,
    `leave --cwd away, or start the task afresh: ${nextCommands.restart(parent.id, option)}`,
  );
}

/** How the newest job of a conversation left it: the totals that a CLI counts on from, and the failure that it may repeat. */
export function earlierOf(root: string, backend: string, conversation: string): StaffPart['earlier'] {
  for (const id of listJobs(root)) {
    const paths = jobPaths(root, id);
    const [spec, state] = [readSpec(paths), readState(paths)];
    if (spec.kind !== 'ok' || state.kind !== 'ok' || spec.value.staff?.backend !== backend) continue;
    if (state.value.conversation?.id !== conversation) continue;
    const { usage_total = null, usage, error } = state.value;
    // A release that knew no totals told those of a fresh conversation as its usage.
    const total = usage_total ?? (spec.value.staff.resume === null ? usage : null);
    // A job that was refused before its turn (busy, killed) tells no total: the one before it holds.
    const before = spec.value.staff.earlier ?? null;
    return { usage_total: total ?? before?.usage_total ?? null, error: error?.message ?? before?.error ?? null };
  }
  return null;
}

export function lineageOf(parent: Spec, relation: Lineage['relation']): Lineage {
  return { relation, parent: parent.id, root: parent.lineage?.root ?? parent.id };
}
