// What a caller that was just woken has to know, from durable evidence only: what fired since it looked last, what is outstanding, which wakes are
// late or come twice, which workers and machines were restarted. Consumes nothing: the same number gives the same answer again.
// Reads the jobs that live, and of the ended ones those whose state was written since.
import { isId } from '../core/ids.ts';
import { wakeJobs, wakeLagMs } from '../core/limits.ts';
import { nowMs } from '../platform/clock.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { bootId } from '../platform/identity.ts';
import { listActive, listJobs } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { readSpec } from '../store/records.ts';
import { type Fired, toldSince, type WorkerChange } from './fired.ts';
import { type Late, lateOf } from './late-wakes.ts';
import { tryView } from './listing.ts';
import { type Look, noteLook, readLooks, setBackMs } from './looks.ts';
import { type Outstanding, outstanding, waitForThem } from './outstanding.ts';
import { type Question, questionsOf } from './questions.ts';
import { standingEnds } from './unread.ts';
import { isEnded, type View } from './view.ts';
import { whoseJobs } from './whose.ts';

export interface OnWake {
  nowMs: number;
  owner: string | null;
  since: number;
  /** The last look of this owner; null when this is the first. */
  last: Look | null;
  /** The machine was restarted: since the last look, or since one of these jobs got its worker. */
  restarted: 'since_look' | 'since_launch' | null;
  setBackMs: number;
  /** The number that was given lies in the future. */
  isBeyond: boolean;
  /** Oldest first. */
  fired: (Fired & { view: View; late: Late | null; startedBy: string | null })[];
  changes: WorkerChange[];
  /** Ends of which the machine or the worker is the cause. */
  lost: { id: string; code: string }[];
  outstanding: Outstanding[];
  /** One command for those of them that nobody waits for; null when they are not several. */
  wait: string | null;
  /** What nobody has answered yet, whatever was told before. */
  questions: Question[];
  /** Ended before, and nobody has read the result; the newest first. */
  uncollected: string[];
  /** Ended jobs that were not looked into because there are too many. */
  older: number;
  nextSeq: number;
  /** Could it be written down for the next time? */
  isKept: boolean;
  /** Was anything ever started here? */
  isThere: boolean;
}

export async function lookAround(root: StateRoot, owner: string | null, given: number | null): Promise<OnWake> {
  const now = nowMs();
  const looks = await readLooks(root.folder, owner);
  const last = looks.at(-1) ?? null;
  const start = startOf(looks, given, now);
  const whose = whoseJobs(root.folder, owner);
  const { ids, older } = findJobs(root.folder, whose, start.since);
  const fired: OnWake['fired'] = [];
  const changes: WorkerChange[] = [];
  const open: Outstanding[] = [];
  const questions: Question[] = [];
  for (const id of ids) {
    for (const view of await tryView(root.folder, id)) {
      // Whose a damaged record is nobody can tell: everybody is told of it.
      const word = view.spec === null ? 'own' : whose(view.spec);
      if (word === 'other') continue;
      const startedBy = starterOf(view, owner);
      const told = toldSince(view, start.since, start.told, nowMs());
      fired.push(...told.fired.map((one) => ({ ...one, view, late: lateOf(one, view), startedBy })));
      changes.push(...told.changes);
      if (!isEnded(view.state) || view.damage !== null)
        open.push(outstanding(view, { ...told, startedBy, isBelow: word === 'below' }, root.option));
      if (!isEnded(view.state)) questions.push(...(await questionsOf(view, root.option)));
    }
  }
  const standing = standingEnds(root.folder, whose);
  for (const id of standing.asking)
    for (const view of await tryView(root.folder, id)) questions.push(...(await questionsOf(view, root.option)));
  fired.sort((a, b) => a.atMs - b.atMs);
  const told = [...fired, ...changes];
  // What is this fresh may have older company that is not on disk yet: it is asked for again, and left out when it was told.
  const newest = Math.max(start.since, ...told.map((one) => Math.floor(one.atMs)));
  // A number never gets more behind it than it had: whoever gives it again is told the same.
  const nextSeq = Math.max(start.since + Number(told.length > 0), Math.min(newest, now - wakeLagMs));
  const keys = [...start.told, ...told.filter((one) => one.atMs > nextSeq).map((one) => one.key)];
  const isKept = await noteLook(root.folder, owner, { seq: nextSeq, told: [...new Set(keys)] });
  const shown = new Set(fired.map((one) => one.id));
  return {
    nowMs: now,
    owner,
    since: start.since,
    last,
    restarted: restartOf(last, open, fired),
    setBackMs: start.setBackMs,
    isBeyond: start.isBeyond,
    fired,
    changes: changes.sort((a, b) => a.atMs - b.atMs),
    lost: fired.flatMap(({ id, wake, view }) => (wake === 'terminal' ? lossOf(id, view) : [])),
    outstanding: open.sort(byUrgency),
    wait: waitForThem(open, owner, root.option),
    questions,
    uncollected: standing.unread.filter((id) => !shown.has(id)),
    older,
    nextSeq,
    isKept,
    isThere: exists(root.folder),
  };
}

function restartOf(last: Look | null, open: Outstanding[], fired: OnWake['fired']): OnWake['restarted'] {
  if (last !== null && last.boot_id !== bootId()) return 'since_look';
  const isLost = fired.some(({ view }) => view.state.error?.code === 'host_restarted');
  return isLost || open.some(({ view }) => view.isOtherBoot) ? 'since_launch' : null;
}

interface Start {
  since: number;
  told: ReadonlySet<string>;
  setBackMs: number;
  isBeyond: boolean;
}

function startOf(looks: Look[], given: number | null, now: number): Start {
  const seq = given ?? looks.at(-1)?.seq ?? 0;
  const look = looks.findLast((one) => one.seq === seq);
  const back = look ? setBackMs(look) : 0;
  // What came after the clock was set back has earlier instants than what was told before.
  const since = Math.max(0, seq - back);
  const told = new Set(look?.told ?? []);
  return since > now
    ? { since: 0, told: new Set(), setBackMs: back, isBeyond: true }
    : { since, told, setBackMs: back, isBeyond: false };
}

/** Those that live, and those whose state was written since: of these the newest. Whose they are is asked before they are counted. */
function findJobs(root: string, whose: ReturnType<typeof whoseJobs>, since: number): { ids: string[]; older: number } {
  const live = listActive(root).filter((id) => exists(jobPaths(root, id).folder));
  const isLive = new Set(live);
  const ended: { id: string; writtenMs: number }[] = [];
  for (const id of listJobs(root)) {
    if (isLive.has(id)) continue;
    const writtenMs = factsOf(jobPaths(root, id).state)?.modifiedMs ?? Number.POSITIVE_INFINITY;
    if (writtenMs < since - wakeLagMs || !isOf(root, id, whose)) continue;
    ended.push({ id, writtenMs });
  }
  ended.sort((a, b) => b.writtenMs - a.writtenMs);
  return {
    ids: [...live, ...ended.slice(0, wakeJobs).map((one) => one.id)],
    older: Math.max(0, ended.length - wakeJobs),
  };
}

function isOf(root: string, id: string, whose: ReturnType<typeof whoseJobs>): boolean {
  const spec = readSpec(jobPaths(root, id));
  return spec.kind === 'ok' && whose(spec.value) !== 'other';
}

/** The job that started it, as far as that is news to whoever asks for its owner. */
function starterOf({ spec, id }: View, owner: string | null): string | null {
  const above = spec?.owner ?? null;
  return above !== null && above !== owner && above !== id && isId(above) ? above : null;
}

/** What asks for somebody first, then the oldest. */
function byUrgency(a: Outstanding, b: Outstanding): number {
  const calm = (one: Outstanding): number => Number(one.health.health !== 'attention' && one.late === null);
  return calm(a) - calm(b) || b.ageMs - a.ageMs;
}

const losses: readonly unknown[] = ['host_restarted', 'worker_lost'];

function lossOf(id: string, { state }: View): { id: string; code: string }[] {
  const code = state.error?.code;
  return code !== undefined && losses.includes(code) ? [{ id, code }] : [];
}
