// events.ndjson: append-only, one JSON object a line, numbered by `seq`. One writer at a time; a new writer first closes a torn
// last line. Readers skip what does not parse.

import type { EventType, JobEvent } from '../core/events.ts';
import { eventLineBytes } from '../core/limits.ts';
import { isoNow } from '../platform/clock.ts';
import { appendText, readRange } from '../platform/files.ts';
import type { JobPaths } from './layout.ts';

export interface Journal {
  /** Number of the newest event. */
  seq: number;
  append(type: EventType, fields?: Record<string, unknown>): JobEvent;
}

/** Open for writing: goes on after the newest event on disk. */
export function openJournal(paths: JobPaths, job: { id: string; owner: string | null }): Journal {
  const last = readRange(paths.events, -1, 1);
  if (last && last.size > 0 && last.bytes[0] !== 10) appendText(paths.events, '\n');
  const journal: Journal = {
    seq: newestSeq(paths),
    append(type, fields = {}) {
      const event: JobEvent = { seq: journal.seq + 1, at: isoNow(), job: job.id, owner: job.owner, type, ...fields };
      let line = JSON.stringify(event);
      if (Buffer.byteLength(line) > eventLineBytes) {
        line = JSON.stringify({ seq: event.seq, at: event.at, job: job.id, owner: job.owner, type, truncated: true });
      }
      appendText(paths.events, `${line}\n`);
      journal.seq = event.seq;
      return event;
    },
  };
  return journal;
}

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
    const events = parseEvents(part.bytes.toString('utf8'), isWhole);
    const first = events[0]?.seq ?? 0;
    if (!isWhole && first > after + 1 && size < 64 * chunk) {
      size *= 4;
      continue;
    }
    const wanted = events.filter((event) => event.seq > after);
    return { events: wanted.slice(0, limit), more: wanted.length > limit, missed: !isWhole && first > after + 1 };
  }
}

function newestSeq(paths: JobPaths): number {
  const part = readRange(paths.events, -2 * eventLineBytes, 2 * eventLineBytes);
  if (!part) return 0;
  return parseEvents(part.bytes.toString('utf8'), part.bytes.length >= part.size).at(-1)?.seq ?? 0;
}

function parseEvents(text: string, isWhole: boolean): JobEvent[] {
  const lines = text.split('\n');
  if (!isWhole) lines.shift();
  const events: JobEvent[] = [];
  for (const line of lines) {
    if (line === '') continue;
    try {
      const value = JSON.parse(line) as JobEvent;
      if (typeof value === 'object' && value !== null && typeof value.seq === 'number') events.push(value);
    } catch {
      // A torn line of a writer that died: the next line is whole again.
    }
  }
  return events;
}
