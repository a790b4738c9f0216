// events.ndjson: append-only, one JSON object a line, numbered by `seq`. One writer of ours at a time; but the job itself can append too, so
// a writer that finds the file other than it left it closes a torn last line and goes on after the last event that counts
// (event-chain.ts), and tells its event again when another line took the number at the very same moment.

import type { EventType, JobEvent } from '../core/events.ts';
import { excerpt } from '../core/excerpt.ts';
import { eventLineBytes } from '../core/limits.ts';
import { isoNow } from '../platform/clock.ts';
import { appendText, readRange } from '../platform/files.ts';
import { eventsIn } from './event-chain.ts';
import { JournalScan } from './journal-scan.ts';
import type { JobPaths } from './layout.ts';

export interface Journal {
  /** Number of the newest event. */
  seq: number;
  append(type: EventType, fields?: Record<string, unknown>): JobEvent;
}

/** Open for writing: goes on after the newest event on disk. */
export function openJournal(paths: JobPaths, job: { id: string; owner: string | null }): Journal {
  const owner = job.owner === null ? null : excerpt(job.owner, 200);
  // Reads what its readers read, so that both count the same.
  const scan = new JournalScan(paths.events);
  const look = (): void => {
    // Of a file that was emptied the readers take any number: then this one stays as it is.
    const go = (event: JobEvent): void => {
      journal.seq = event.seq;
    };
    scan.read(go);
    if (!scan.isTorn) return;
    // A line that was cut off, by a full disk or by another, must not swallow the next one.
    appendText(paths.events, '\n');
    scan.read(go);
  };
  const write = (type: EventType, fields: Record<string, unknown>): JobEvent => {
    const event: JobEvent = { seq: journal.seq + 1, at: isoNow(), job: job.id, owner, type, ...fields };
    let line = JSON.stringify(event);
    if (Buffer.byteLength(line) > eventLineBytes) {
      line = JSON.stringify({ seq: event.seq, at: event.at, job: job.id, owner, type, truncated: true });
    }
    appendText(paths.events, `${line}\n`);
    return event;
  };
  const journal: Journal = {
    seq: 0,
    append(type, fields = {}) {
      for (let round = 1; ; round += 1) {
        look();
        const event = write(type, fields);
        let isTold = false;
        scan.read((seen) => {
          journal.seq = seen.seq;
          isTold ||= seen.seq === event.seq && seen.at === event.at && seen.type === type && seen.job === job.id;
        });
        if (isTold || round === appendRounds) return event;
      }
    },
  };
  look();
  return journal;
}

/** So often an event is written when others write at the same moment. */
const appendRounds = 3;
const chunk = 256 * 1024;

/** Events after `after`, oldest first, at most `limit`; reads a bounded part from the end of the file. */
export function readEvents(
  paths: JobPaths,
  after: number,
  limit: number,
): { events: JobEvent[]; more: boolean; missed: boolean } {
  let size = chunk;
  for (;;) {
    const part = readRange(paths.events, -size, size);
    if (!part) return { events: [], more: false, missed: false };
    const isWhole = part.bytes.length >= part.size;
    const events = eventsOf(part);
    const first = events[0]?.seq ?? 0;
    if (!isWhole && (events.length === 0 || first > after + 1) && size < 64 * chunk) {
      size *= 4;
      continue;
    }
    const wanted = events.filter((event) => event.seq > after);
    return { events: wanted.slice(0, limit), more: wanted.length > limit, missed: !isWhole && first > after + 1 };
  }
}

function eventsOf({ bytes, size }: { bytes: Buffer; size: number }): JobEvent[] {
  const offset = size - bytes.length;
  // The first line of a later piece is the end of one.
  const from = offset === 0 ? 0 : bytes.indexOf(10) + 1;
  return offset > 0 && from === 0 ? [] : eventsIn(bytes.toString('utf8', from), offset + from);
}
