// What lies in a state folder for a caller that wants to go idle: its live jobs with whoever would tell it of their end, its armed timers, its
// finished jobs that nobody has collected, and what could not be read. Looks only: nothing is settled, started or written.
import { FaultError } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { idleScan, uncollectedShown } from '../core/limits.ts';
import { exists } from '../platform/folders.ts';
import { listActive, listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { readSpec, readState } from '../store/records.ts';
import { type Deliveries, deliveriesOf, type JobTrouble, troubleOf } from './deliveries.ts';
import { isForged } from './may-act.ts';
import { conditionOf, inspect, isEnded, type View } from './view.ts';
import { type Whose, whoseJobs } from './whose.ts';

export interface LiveJob {
  view: View;
  owner: string | null;
  /** Whose turn its end is to start: its owner's, or of the one who asked, when it was left to him. */
  window: string | null;
  deliveries: Deliveries;
  trouble: JobTrouble | null;
}

export interface IdleSeen {
  /** Oldest first; without timers. */
  jobs: LiveJob[];
  /** Armed ones, the next one first. */
  timers: LiveJob[];
  /** Finished and never collected, newest first; of a timer: due. At most so many (uncollectedShown). */
  uncollected: View[];
  /** There are, or may be, more of them. */
  isMore: boolean;
  /** Live ones that a live job of this owner started: that one's business. */
  below: number;
  /** Whose they are cannot be known. */
  unreadable: { id: string; reason: string; option: readonly string[] }[];
}

/** `owner` null: everybody's. */
export async function lookForIdle(root: string, owner: string | null): Promise<IdleSeen> {
  const active = listActive(root);
  const seen = await lookForLive(root, active, owner);
  await addFinished(seen, new Set(active), asker(root, owner));
  seen.timers.sort((a, b) => dueOf(a.view) - dueOf(b.view));
  return seen;
}

/** These live ones only, as far as there is time for. */
export async function lookForLive(
  root: string,
  active: readonly string[],
  owner: string | null,
  isOver: () => boolean = () => false,
): Promise<IdleSeen> {
  const seen: IdleSeen = { jobs: [], timers: [], uncollected: [], isMore: false, below: 0, unreadable: [] };
  const who = asker(root, owner);
  for (const id of active) {
    if (isOver()) break;
    await addLive(seen, id, who);
  }
  seen.timers.sort((a, b) => dueOf(a.view) - dueOf(b.view));
  return seen;
}

interface Asker {
  root: string;
  owner: string | null;
  whose: (spec: Pick<Spec, 'id' | 'owner'>) => Whose;
}

function asker(root: string, owner: string | null): Asker {
  return { root, owner, whose: whoseJobs(root, owner) };
}

async function addLive(seen: IdleSeen, id: string, { root, owner, whose }: Asker): Promise<void> {
  const view = lookAt(root, id);
  if (!view) return;
  const { spec } = view;
  const relation = spec ? whose(spec) : 'own';
  if (relation !== 'own' && !(await isForged(view))) {
    if (relation === 'below' && !isEnded(view.state)) seen.below += 1;
    return;
  }
  if (isEnded(view.state) && view.damage === null) {
    // Its marker goes with its worker; until then it may still be told of it.
    if (!exists(view.paths.collected)) addUncollected(seen, view);
    return;
  }
  const reason = await faultOf(view);
  if (reason !== null || !spec) {
    seen.unreadable.push({ id, reason: reason ?? '', option: spec?.state_option ?? [] });
    return;
  }
  // Due, and nobody came to say so: it is no backstop any more, and nothing that one waits for.
  const isDue = spec.timer && conditionOf(view) === 'over';
  if (isDue) return addUncollected(seen, view);
  const deliveries = await deliveriesOf(view);
  const window = owner ?? spec.owner;
  const job = { view, owner: spec.owner, window, deliveries, trouble: troubleOf(view, deliveries.waiters) };
  (spec.timer ? seen.timers : seen.jobs).push(job);
}

/** A living worker has its record in memory; whose job it is cannot be read all the same. */
async function faultOf(view: View): Promise<string | null> {
  if (view.damage !== null) return view.damage;
  if (!view.spec) return 'spec.json cannot be read';
  return (await isForged(view)) ? 'spec.json is not the one that was written at launch' : null;
}

/** Undefined: it is gone, or not yet in its place. */
function lookAt(root: string, id: string): View | undefined {
  if (!exists(jobPaths(root, id).folder)) return undefined;
  try {
    return inspect(root, id);
  } catch (error) {
    if (error instanceof FaultError && error.code === 'unknown_job') return undefined;
    throw error;
  }
}

/** The newest finished jobs. One that is not finished has lost its marker: it lives all the same. */
async function addFinished(seen: IdleSeen, active: ReadonlySet<string>, who: Asker): Promise<void> {
  const { root } = who;
  const others = listJobs(root).filter((id) => !active.has(id));
  for (const [at, id] of others.entries()) {
    if (at >= idleScan || seen.uncollected.length >= uncollectedShown) {
      seen.isMore = true;
      return;
    }
    const paths = jobPaths(root, id);
    if (exists(paths.collected)) continue;
    const state = readState(paths);
    if (state.kind !== 'ok' || !isEnded(state.value)) {
      await addLive(seen, id, who);
      continue;
    }
    if (!isOfAsker(id, who)) continue;
    const view = lookAt(root, id);
    if (view) addUncollected(seen, view);
  }
}

/** One whose end is on disk is nobody's danger: that its spec cannot be read makes it no secret of somebody else's. */
function isOfAsker(id: string, { root, owner, whose }: Asker): boolean {
  const spec = readSpec(jobPaths(root, id));
  return spec.kind === 'ok' ? whose(spec.value) === 'own' : owner === null;
}

function addUncollected(seen: IdleSeen, view: View): void {
  // Whoever canceled it was told so then.
  if (view.state.state === 'canceled') return;
  if (seen.uncollected.length < uncollectedShown) seen.uncollected.push(view);
  else seen.isMore = true;
}

export function dueOf(view: View): number {
  return Date.parse(view.spec?.timer?.due_at ?? '') || 0;
}
