// Which lines of events.ndjson count. The file lies where the job itself may append, and one line with an odd number must not end the
// counting: nor may a number that was lost. In file order an event counts when its number is the next one, or later by at most as many
// as lines were passed over since the last one that counted (each of them may have been an event before it was torn). The first event
// gives the base: at the beginning of the file any number that leaves room to count on (somebody may have emptied the file, and its writer
// goes on), in the middle of it one that the bytes before it can have held. Everything else is passed over, by readers and by writers
// alike: a writer looks at what was appended before each event of its own, and goes on after the last one that counts (journal.ts).
import type { JobEvent } from '../core/events.ts';
import { maxSeq } from '../core/wakes.ts';

/** No line of ours is shorter. */
const shortestLine = 40;

export class EventChain {
  private last: number | undefined;
  private readonly greatestBase: number;
  /** Lines since the last event that counted. */
  private skipped = 0;

  /** `offset`: so many bytes of the file are not looked at. */
  constructor(offset: number) {
    this.greatestBase = offset === 0 ? maxSeq / 2 : Math.ceil(offset / shortestLine) + 1;
  }

  /** One line that is not empty: its event, if it counts. */
  take(line: string): JobEvent | undefined {
    const event = eventIn(line);
    if (event && this.isNext(event.seq)) {
      this.last = event.seq;
      this.skipped = 0;
      return event;
    }
    this.skipped += 1;
    return undefined;
  }

  /** A line that is too long to be one. */
  pass(): void {
    this.skipped += 1;
  }

  private isNext(seq: number): boolean {
    if (this.last === undefined) return seq <= this.greatestBase;
    return seq > this.last && seq <= this.last + 1 + this.skipped;
  }
}

/** The events that count in a piece of the file that begins with a whole line, at `offset`. */
export function eventsIn(text: string, offset: number): JobEvent[] {
  const lines = text.split('\n').filter((line) => line !== '');
  if (offset > 0) dropStrayBase(lines);
  const chain = new EventChain(offset);
  return lines.flatMap((line) => chain.take(line) ?? []);
}

/** In the middle of the file a first event that the next one does not go on from is as likely a stray one: then that next one is the base. */
function dropStrayBase(lines: string[]): void {
  const found: { at: number; seq: number }[] = [];
  for (const [at, line] of lines.entries()) {
    const event = eventIn(line);
    if (!event) continue;
    found.push({ at, seq: event.seq });
    const [one, two] = found.slice(-2);
    if (!one || !two) continue;
    if (two.seq > one.seq && two.seq <= one.seq + two.at - one.at) {
      lines.splice(0, one.at);
      return;
    }
  }
}

function eventIn(line: string): JobEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return undefined;
    const { seq } = value as JobEvent;
    return Number.isSafeInteger(seq) && seq > 0 && seq <= maxSeq ? (value as JobEvent) : undefined;
  } catch {
    // A torn line of a writer that died: the next one is whole again.
    return undefined;
  }
}
