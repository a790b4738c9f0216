// May a caller go idle now? For each live job: would its end start a turn, and is there one thing behind that, should it never come - the
// finite patience of a wait for it, or an armed timer of the same owner that somebody waits for. One owner is one window: two armed timers
// are one too many. What is missing has the exact command that arms it. Nothing is told safe that could not be read.
import { formatDuration } from '../core/duration.ts';
import { idleGraceMs, idleWaitMs } from '../core/limits.ts';
import { monotonicMs, nowMs } from '../platform/clock.ts';
import { variables } from '../platform/env.ts';
import { boundOf } from './bound.ts';
import { heardSeq } from './collected.ts';
import { mendedByWait } from './deliveries.ts';
import { pastExpectation } from './expectation.ts';
import { continueCommand } from './health-seen.ts';
import { dueOf, type IdleSeen, type LiveJob, lookForIdle } from './idle-seen.ts';
import { nextCommand, nextCommands } from './next-commands.ts';
import { othersLive } from './others-live.ts';
import type { Waiter } from './waiters.ts';

/** `handback`: its end would be heard, and what it asks before that would not. */
export type Missing = 'delivery' | 'backstop' | 'handback' | 'attention';

export interface Backstop {
  by: 'wait' | 'timer';
  /** Of the wait, or the timer's id. */
  pid: number | null;
  id: string | null;
  leftMs: number;
}

export interface JudgedJob extends LiveJob {
  backstop: Backstop | null;
  missing: Missing[];
  /** Past what was expected of it; told, and no reason for anything. */
  late: string | null;
  /** The command that arms what is missing; null when nothing is. */
  next: string | null;
  /** The command that helps whoever should look after it; null when nothing is wrong, or `next` does. */
  mend: string | null;
}

export interface JudgedTimer extends LiveJob {
  isDelivered: boolean;
  /** Another timer of this owner is the backstop: one of both is too many. */
  isExtra: boolean;
  /** The answer is "not safe" because of it. */
  isFault: boolean;
  next: string | null;
}

export interface IdleReport extends Pick<IdleSeen, 'uncollected' | 'isMore' | 'below' | 'unreadable'> {
  isSafe: boolean;
  jobs: JudgedJob[];
  timers: JudgedTimer[];
  /** Waits on which something rests, and whoever started them is gone. */
  orphans: number;
  /** Nothing is live, and of others something is: the name may be misspelt. */
  others: string | null;
  /** One command for everything that a wait can arm, when that is more than one job. */
  next: string | null;
}

/** `owner` null: everybody's. `option` makes the commands find the state folder. */
export async function judgeIdle(root: string, owner: string | null, option: readonly string[]): Promise<IdleReport> {
  const report = judgeSeen(await lookForIdle(root, owner), owner, option);
  const isQuiet = report.jobs.length + report.timers.length + report.below === 0;
  return { ...report, others: isQuiet ? othersLive(root, owner) : null };
}

export function judgeSeen(seen: IdleSeen, owner: string | null, option: readonly string[]): IdleReport {
  const windows = [...new Set([...seen.jobs, ...seen.timers].map((one) => one.window))];
  const judged = windows.map((window) => judgeWindow(seen, window, option));
  const jobs = seen.jobs.flatMap(({ view }) => judged.flatMap((one) => one.jobs.filter((job) => job.view === view)));
  const timers = seen.timers.flatMap(({ view }) =>
    judged.flatMap((one) => one.timers.filter((timer) => timer.view === view)),
  );
  const { uncollected, isMore, below, unreadable } = seen;
  return {
    isSafe: unreadable.length === 0 && !jobs.some(isFaulty) && !timers.some(({ isFault }) => isFault),
    ...{ jobs, timers, uncollected, isMore, below, unreadable },
    others: null,
    orphans: orphansOf([...seen.jobs, ...seen.timers]),
    next: commandForAll(jobs, timers, owner, option),
  };
}

export function isFaulty(job: JudgedJob): boolean {
  return job.missing.length > 0;
}

function judgeWindow(
  seen: IdleSeen,
  window: string | null,
  option: readonly string[],
): { jobs: JudgedJob[]; timers: JudgedTimer[] } {
  const timers = seen.timers.filter((timer) => timer.window === window);
  const jobs = seen.jobs.filter((job) => job.window === window);
  // The one that would wake somebody, else the one that is due first.
  const held = timers.find(isDelivered);
  const kept = held ?? timers[0];
  return {
    jobs: jobs.map((job) => judgeJob(job, held, option)),
    timers: timers.map((timer) => judgeTimer(timer, { isKept: timer === kept, isAlone: jobs.length === 0 }, option)),
  };
}

function judgeJob(job: LiveJob, timer: LiveJob | undefined, option: readonly string[]): JudgedJob {
  const backstop = backstopOf(job) ?? (timer ? backstopBy(timer) : null);
  const missing: Missing[] = [];
  if (!isDelivered(job)) missing.push('delivery');
  if (!backstop) missing.push('backstop');
  if (needsHandback(job) && !job.deliveries.waiters.some(hearsHandback)) missing.push('handback');
  if (job.trouble?.isGrave) missing.push('attention');
  return { ...job, backstop, missing, late: pastExpectation(job.view), ...commandsFor(job, missing, option) };
}

function isDelivered({ deliveries }: LiveJob): boolean {
  return deliveries.waiters.length > 0 || deliveries.notifier !== null;
}

/** It may ask while it works, and no notifier is there to be told of it. */
function needsHandback({ view, deliveries }: LiveJob): boolean {
  return Boolean(view.spec?.handback) && deliveries.notifier === null;
}

function hearsHandback({ until }: Waiter): boolean {
  return until.includes('handback');
}

/** Where another one hears it too, nothing is lost with them. */
function orphansOf(live: readonly LiveJob[]): number {
  const alone = live.filter(
    ({ deliveries }) => deliveries.notifier === null && deliveries.waiters.every(({ isOrphan }) => isOrphan),
  );
  return new Set(alone.flatMap(({ deliveries }) => deliveries.waiters.map(({ identity }) => identity.pid))).size;
}

/** The wait for it that expires first. */
function backstopOf({ deliveries }: LiveJob): Backstop | null {
  const finite = deliveries.waiters.flatMap(({ identity, leftMs }) =>
    leftMs === null ? [] : [{ by: 'wait' as const, pid: identity.pid, id: null, leftMs }],
  );
  return finite.sort((a, b) => a.leftMs - b.leftMs)[0] ?? null;
}

function backstopBy({ view }: LiveJob): Backstop {
  return { by: 'timer', pid: null, id: view.id, leftMs: Math.max(0, dueOf(view) - nowMs()) };
}

/** A timer is its own backstop: its instant comes whatever becomes of anybody. */
function judgeTimer(
  timer: LiveJob,
  { isKept, isAlone }: { isKept: boolean; isAlone: boolean },
  option: readonly string[],
): JudgedTimer {
  const { view } = timer;
  const isHeld = isDelivered(timer);
  const isFault = !isKept || (isAlone && !isHeld);
  const armed = isHeld
    ? null
    : nextCommand(option, 'wait', view.id, ...ownerWords(timer), '--timeout', patienceFor(timer));
  return {
    ...timer,
    isDelivered: isHeld,
    isExtra: !isKept,
    isFault,
    next: isKept ? armed : nextCommands.cancel(view.id, option),
  };
}

function commandsFor(
  job: LiveJob,
  missing: readonly Missing[],
  option: readonly string[],
): Pick<JudgedJob, 'next' | 'mend'> {
  const { view, deliveries, trouble } = job;
  const isOpen = isForWait(missing);
  const next = isOpen
    ? nextCommand(option, 'wait', view.id, ...ownerWords(job), ...causesFor([job]), '--timeout', patienceFor(job))
    : null;
  // A wait takes a lost worker's place, or publishes the end.
  const isMended =
    isOpen && deliveries.waiters.length === 0 && trouble !== null && mendedByWait.includes(trouble.cause);
  if (!missing.includes('attention') || isMended) return { next, mend: null };
  return { next, mend: continueCommand(view) ?? nextCommands.doctor(view.id, option) };
}

/** Where JOB_OWNER names another one, the wait has to say whose it is. */
function ownerWords({ window }: LiveJob): string[] {
  const said = variables.owner();
  return said === undefined || window === null || said === window ? [] : ['--owner', window];
}

/** Is it something that a wait arms? */
function isForWait(missing: readonly Missing[]): boolean {
  return missing.some((one) => one !== 'attention');
}

/** What was told of hand-backs before is not told again: it would end the wait at once. */
function causesFor(jobs: readonly LiveJob[]): string[] {
  const asking = jobs.filter(needsHandback);
  if (asking.length === 0) return [];
  const cursors = asking.flatMap(({ view }) => {
    const seq = heardSeq(view.paths, 'handback');
    if (seq === null) return [];
    return ['--after-seq', jobs.length > 1 ? `${view.id}:${seq}` : String(seq)];
  });
  return ['--until', 'handback', ...cursors];
}

/** What is left of its limit and a little, so that its own end comes first, and never long: a wake too many costs less than one that never comes. */
function patienceMs({ view }: Pick<LiveJob, 'view'>): number {
  const { spec, turn } = view;
  if (!spec) return idleWaitMs;
  if (spec.timer) return dueOf(view) - nowMs() + idleGraceMs;
  // A queued job has its whole limit before it.
  const leftMs = Math.max(0, boundOf(spec, turn) - monotonicMs());
  return Math.min(idleWaitMs, leftMs + spec.kill_grace_ms + idleGraceMs);
}

function patienceFor(...jobs: Pick<LiveJob, 'view'>[]): string {
  const longest = Math.max(...jobs.map(patienceMs));
  const step = longest > 120_000 ? 60_000 : 1000;
  return formatDuration(Math.max(1, Math.ceil(longest / step)) * step);
}

/** Ids on one command line that one still reads. */
const mostIds = 8;

function commandForAll(
  jobs: readonly JudgedJob[],
  timers: readonly JudgedTimer[],
  owner: string | null,
  option: readonly string[],
): string | null {
  const open = [
    ...jobs.filter(({ missing }) => isForWait(missing)),
    ...timers.filter(({ isFault, isExtra }) => isFault && !isExtra),
  ];
  if (open.length < 2) return null;
  const ids = open.length <= mostIds ? open.map(({ view }) => view.id) : [];
  const [first] = open;
  const whose = owner === null || !first ? [] : ids.length > 0 ? ownerWords(first) : ['--owner', owner];
  const which = [...ids, ...whose];
  return nextCommand(option, 'wait', ...which, '--any', ...causesFor(open), '--timeout', patienceFor(...open));
}
