// events.ndjson: append-only, one JSON object a line, numbered by `seq`. One writer at a time; a new writer first closes a torn
// last line. Readers skip what does not parse.

import type { EventType, JobEvent } from '../core/events.ts';
import { excerpt } from '../core/excerpt.ts';
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
  // A line that was cut off by a full disk must not swallow the next one.
  let isTorn = false;
  const owner = job.owner === null ? null : excerpt(job.owner, 200);
  const journal: Journal = {
    seq: newestSeq(paths),
    append(type, fields = {}) {
      const event: JobEvent = { seq: journal.seq + 1, at: isoNow(), job: job.id, owner, type, ...fields };
      let line = JSON.stringify(event);
      if (Buffer.byteLength(line) > eventLineBytes) {
        line = JSON.stringify({ seq: event.seq, at: event.at, job: job.id, owner, type, truncated: true });
      }
      const text = `${isTorn ? '\n' : ''}${line}\n`;
      isTorn = true;
      appendText(paths.events, text);
      isTorn = false;
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
    if (!isWhole && (events.length === 0 || first > after + 1) && size < 64 * chunk) {
      size *= 4;
      continue;
    }
    const wanted = events.filter((event) => event.seq > after);
    return { events: wanted.slice(0, limit), more: wanted.length > limit, missed: !isWhole && first > after + 1 };
  }
}

/** From the end backwards, as far as garbage makes it necessary. */
function newestSeq(paths: JobPaths): number {
  for (let size = 2 * eventLineBytes; ; size *= 4) {
    const part = readRange(paths.events, -size, size);
    if (!part) return 0;
    const isWhole = part.bytes.length >= part.size;
    const newest = parseEvents(part.bytes.toString('utf8'), isWhole).at(-1);
    if (newest || isWhole || size > 64 * chunk) return newest?.seq ?? 0;
  }
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
