// How long to let a model sleep between two iterations (S3.16 to S3.20, S3.49). A worker's own looking costs no model and is not meant here.
import { usageError } from '../core/errors.ts';
import { loopLimits } from '../core/limits-loop.ts';

export const waitingOn = ['external', 'minutes5', 'long', 'tracked', 'human', 'none'] as const;
export type WaitingOn = (typeof waitingOn)[number];

export interface Pace {
  seconds: number;
  range: [number, number];
  reason: string;
}

const { pace } = loopLimits;

const table: Readonly<Record<WaitingOn, Pace>> = {
  external: {
    seconds: pace.external[1],
    range: [...pace.external],
    reason: 'CI, a deploy or a queue: within a prompt cache of five minutes',
  },
  minutes5: {
    seconds: pace.minutes5,
    range: [pace.minutes5, pace.minutes5],
    reason: 'about five minutes: 270 s, never 300, so that the cache is still warm',
  },
  long: {
    seconds: pace.long[0],
    range: [...pace.long],
    reason: 'tens of minutes or a heartbeat: the cache is cold anyway',
  },
  tracked: {
    seconds: pace.tracked,
    range: [pace.tracked, pace.most],
    reason: 'a job that wakes by its own end: this is only the backstop',
  },
  human: { seconds: pace.human, range: [pace.human, pace.human], reason: 'a person: the longest pause' },
  none: { seconds: pace.none, range: [pace.none, pace.none], reason: 'nothing is waited for: a heartbeat' },
};

/** `seconds`: another number than the table's; outside 60 to 1800 it needs a reason. Throws 'usage'. */
export function paceFor(what: WaitingOn, seconds: number | undefined, reason: string | undefined): Pace {
  const found = table[what];
  if (seconds === undefined) return reason === undefined ? found : { ...found, reason };
  const isOutside = seconds < pace.least || seconds > pace.most;
  if (isOutside && (reason ?? '').trim() === '')
    throw usageError(`cannot pace ${seconds} s: outside ${pace.least} to ${pace.most} s a --reason is needed`);
  const [from, to] = found.range;
  // The table's reason would be untrue of a number that the table does not give.
  const own =
    seconds >= from && seconds <= to
      ? found.reason
      : `asked for; ${what} is ${from === to ? from : `${from} to ${to}`} s`;
  return { seconds, range: found.range, reason: reason ?? own };
}
