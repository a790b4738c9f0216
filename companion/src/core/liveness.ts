// How an agent is doing, from observations of equal length: at work, rightly waiting for something that works for it, or waiting for nothing.
// Only what the agent does not write by choice counts: its process, CPU, bytes of output, what it started, commits. Pure, and nothing here can
// stop anything: a dead wait is told, once.
import { type Activity, countDescendants, isBusy } from './activity.ts';
import { formatDuration } from './duration.ts';
import { excerpt } from './excerpt.ts';
import type { LivenessNote } from './idle.ts';
import { livenessObservations, sleepingShare } from './limits.ts';
import { formatSize } from './size.ts';

/** What one observation saw. */
export interface LivenessSeen {
  at: string;
  /** How long one is meant to be. */
  everyMs: number;
  /** Of the whole tree; descendants are those that the agent started for its task. */
  activity: Activity;
  /** CPU of the agent itself, with the processes that began with it; null where that cannot be told. */
  ownCpuMs: number | null;
  hasCommit: boolean;
  /** Of the agent, jobs that it started and that are at work. */
  jobs: number;
  /** Processes that began with it and live. */
  standing: number;
  isStopped: boolean;
  /** Bytes of output so far: names a standstill, whoever looks. */
  bytes: number;
}

type Kind = 'working' | 'waiting' | 'dead' | 'unmeasured';

export interface LivenessMemory {
  kind: Kind;
  /** So many observations in a row said so. */
  count: number;
  /** For so long nothing moved. */
  stillMs: number;
  /** Of that, since anything that it started was at work. */
  asleepMs: number;
  /** What was told last. */
  word: LivenessNote['word'];
  /** Causes that were told and last. */
  told: readonly string[];
}

export const freshLiveness: LivenessMemory = {
  kind: 'working',
  count: 0,
  stillMs: 0,
  asleepMs: 0,
  word: 'working',
  told: [],
};

export interface LivenessJudgement {
  note: LivenessNote;
  memory: LivenessMemory;
  /** The word is another one than was told last, or there is a new cause: an event. */
  isNews: boolean;
  /** Somebody should look. */
  isAttention: boolean;
  /** Names the cause of an attention. */
  fingerprint: string | null;
  /** That cause was not told yet. */
  wakes: boolean;
}

const reasonBytes = 400;

export function judgeLiveness(before: LivenessMemory, seen: LivenessSeen): LivenessJudgement {
  const { activity, everyMs } = seen;
  // Nobody looked for much longer than an observation lasts (a stopped worker): that proves nothing, so it begins anew.
  const isGap = activity.spanMs > 2 * everyMs;
  const kind = kindOf(seen);
  if (kind === 'working') return judgeWorking(before, seen);
  // Of a part of the time only, it says nothing about the rest.
  const isWhole = !isGap && activity.spanMs >= everyMs / 2;
  const count = !isWhole ? (isGap ? 0 : before.count) : kind === before.kind ? before.count + 1 : 1;
  // What was not there in this observation cannot have slept in it.
  const asleep = isAtWork(seen) || activity.descendants === 0 ? 0 : before.asleepMs + activity.spanMs;
  const memory: LivenessMemory = {
    ...before,
    kind: isWhole || isGap ? kind : before.kind,
    count,
    stillMs: isGap ? 0 : before.stillMs + activity.spanMs,
    asleepMs: isGap ? 0 : asleep,
  };
  const word = count < livenessObservations ? 'unknown' : wordOf(kind);
  const cause = causeOf(word, memory, seen);
  const reason = reasonOf(word, kind, memory, seen, cause !== null);
  const wakes = cause !== null && !before.told.includes(cause);
  if (cause !== null) memory.told = [...new Set([...before.told, cause])];
  const isOther = word !== 'unknown' && word !== before.word;
  if (isOther) memory.word = word;
  return {
    note: { word, reason: excerpt(reason, reasonBytes), observations: Math.max(1, count), at: seen.at },
    memory,
    isNews: isOther || wakes,
    // One look after a new worker came, or after another kind of standstill, takes nothing back.
    isAttention: cause !== null || (word === 'unknown' && memory.told.length > 0),
    fingerprint: cause,
    wakes,
  };
}

/** One look is enough for this, and it ends whatever was told. */
function judgeWorking(before: LivenessMemory, seen: LivenessSeen): LivenessJudgement {
  const count = before.kind === 'working' ? before.count + 1 : 1;
  return {
    note: { word: 'working', reason: excerpt(workWords(seen), reasonBytes), observations: count, at: seen.at },
    memory: { ...freshLiveness, count },
    isNews: before.word !== 'working',
    isAttention: false,
    fingerprint: null,
    wakes: false,
  };
}

function kindOf(seen: LivenessSeen): Kind {
  const { activity, ownCpuMs, hasCommit } = seen;
  if (activity.hasOutput || hasCommit || isBusy(ownCpuMs, activity.spanMs)) return 'working';
  if (seen.jobs > 0 || isAtWork(seen)) return 'waiting';
  if (activity.cpuMs === null) return 'unmeasured';
  return activity.descendants > 0 ? 'waiting' : 'dead';
}

/** Something that it started works for it: also what came and went between two looks. */
function isAtWork({ activity, jobs }: LivenessSeen): boolean {
  return jobs > 0 || isBusy(activity.cpuMs, activity.spanMs);
}

function wordOf(kind: Kind): LivenessNote['word'] {
  if (kind === 'dead') return 'dead_wait';
  return kind === 'waiting' ? 'waiting' : 'unknown';
}

/** A dead wait at once; what it waits for being asleep as well, only after a longer time: many a tool sleeps for a good reason. */
function causeOf(
  word: LivenessNote['word'],
  { asleepMs }: LivenessMemory,
  { everyMs, bytes }: LivenessSeen,
): string | null {
  if (word === 'dead_wait') return `dead_wait@${bytes}`;
  const longMs = sleepingShare * livenessObservations * everyMs;
  return word === 'waiting' && asleepMs >= longMs ? `asleep@${bytes}` : null;
}

function reasonOf(
  word: LivenessNote['word'],
  kind: Kind,
  { stillMs, asleepMs, count }: LivenessMemory,
  seen: LivenessSeen,
  isCause: boolean,
): string {
  const { activity, standing, isStopped, jobs } = seen;
  const stopped = isStopped ? '; the agent is stopped (SIGSTOP?)' : '';
  const nothing = `for ${formatDuration(stillMs || activity.spanMs)} no output, no CPU of its own and no new commit`;
  if (kind === 'unmeasured')
    return `${nothing.replace(', no CPU of its own', '')}; CPU time cannot be told here${stopped}`;
  if (word === 'dead_wait') {
    const asleep =
      standing > 0 ? ` (but ${standing} process${standing === 1 ? '' : 'es'} that began with it, asleep)` : '';
    return `dead_wait: ${nothing}, and nothing that it started is left${asleep}${stopped}`;
  }
  if (word === 'waiting') {
    if (jobs > 0) return `${nothing}; it waits for ${jobs} job${jobs === 1 ? '' : 's'} of its own${stopped}`;
    const what = countDescendants(activity.descendants);
    if (isCause)
      return `no observable change: ${nothing}, and ${what} of its own asleep for ${formatDuration(asleepMs)}${stopped}`;
    return `${nothing}; it waits for ${isAtWork(seen) ? `what it started, which works (${cpuWords(activity)})` : `${what}, asleep`}${stopped}`;
  }
  return `${nothing}; ${count === 0 ? 'nobody looked for a while' : 'one observation is not enough'}${stopped}`;
}

function workWords({ activity, ownCpuMs, hasCommit }: LivenessSeen): string {
  const parts = [
    ...(activity.hasOutput ? [`${formatSize(activity.outputBytes)} of output`] : []),
    ...(isBusy(ownCpuMs, activity.spanMs) ? [`${formatDuration(ownCpuMs ?? 0)} of CPU`] : []),
    ...(hasCommit ? ['a new commit'] : []),
  ];
  return `${parts.join(', ')} within ${formatDuration(activity.spanMs)}`;
}

function cpuWords({ cpuMs, spanMs }: Activity): string {
  return `${formatDuration(cpuMs ?? 0)} of CPU within ${formatDuration(spanMs)}`;
}
