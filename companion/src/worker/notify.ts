// Everything that somebody is to be told of, in order: events that wake (a new cause for attention, news of a watch, a hand-back), then the end. Sent by the
// worker - of the end only after it was published and the waiters were let go - or by `_notify ROOT ID`, which a reader starts for a job
// whose worker did not live to do it. A notifier can fail, hang or flood: the job, its codes and its times stay what they are.

import { errnoOf } from '../core/errors.ts';
import type { JobEvent } from '../core/events.ts';
import { isId } from '../core/ids.ts';
import { claimSeen } from '../jobs/notice-claim.ts';
import { inspect, isEnded } from '../jobs/view.ts';
import { withLock } from '../platform/lock.ts';
import { openJournal, readEvents } from '../store/journal.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import type { Claim } from './claim.ts';
import { sendNotice } from './notice.ts';
import { noticeDocument } from './notice-document.ts';

type Job = Pick<Claim, 'root' | 'paths' | 'spec'>;
type Append = (fields: Record<string, unknown>) => void;

export interface Notifier {
  /** An event that wakes was written. Returns at once. */
  wake(append: Append): void;
  /** The job is published and nobody waits any more: tell the rest. */
  finish(): Promise<void>;
}

/** For the worker of a job that has somebody to tell. One notice at a time; a wake during one leads to another round. */
export function makeNotifier(job: Job): Notifier {
  let round: Promise<void> = Promise.resolve();
  let after = 0;
  const send = (append: Append | undefined): Promise<void> => {
    round = round.then(async () => {
      after = await sendAll(job, after, append);
    });
    return round;
  };
  return {
    wake: (append) => void send(append).catch(() => undefined),
    finish: () => send(undefined),
  };
}

/** Entry of the hidden `_notify ROOT ID`. */
export async function runNotify(root: string, id: string): Promise<void> {
  if (!root.startsWith('/') || !isId(id)) throw new Error('usage: _notify ROOT ID');
  const { paths, spec } = inspect(root, id);
  if (!spec || !(await isGenuine(spec, readKey()))) return;
  await sendAll({ root, paths, spec }, 0, undefined);
}

/** Gives the number of the newest event that was looked at. */
async function sendAll(job: Job, after: number, append: Append | undefined): Promise<number> {
  let newest = after;
  for (const event of readEvents(job.paths, after, 1_000_000).events) {
    newest = Math.max(newest, event.seq);
    // The journal lies where an agent may write.
    if (Array.isArray(event.wake) && event.wake.some((wake) => ['attention', 'news', 'handback'].includes(wake)))
      await sendOne(job, `event-${event.seq}`, event, append);
  }
  if (!isEnded(inspect(job.root, job.spec.id).state) || claimSeen(job, 'end') === 'told') return newest;
  const ended = readEvents(job.paths, 0, 1_000_000).events.findLast((event) => event.type === 'ended');
  await sendOne(job, 'end', ended ?? { type: 'ended' }, append);
  return newest;
}

async function sendOne(
  job: Job,
  key: string,
  event: Partial<JobEvent> & { type: string },
  append: Append | undefined,
): Promise<void> {
  const told = await sendNotice(job, key, () => noticeDocument(job.root, job.spec.id, event));
  if (told.is === 'told') await writeDown(job, told.fields, append);
}

/** While the worker supervises, its own journal is the only writer; after the end whoever holds the lock. */
async function writeDown(job: Job, fields: Record<string, unknown>, append: Append | undefined): Promise<void> {
  try {
    if (append && !isEnded(inspect(job.root, job.spec.id).state)) return append(fields);
    await withLock(job.paths.lock, () => openJournal(job.paths, job.spec).append('notified', fields));
  } catch (error) {
    // No room, or the record was removed meanwhile: it was told, and that is what counts.
    if (errnoOf(error) === undefined) throw error;
  }
}
