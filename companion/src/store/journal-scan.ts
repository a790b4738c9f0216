// Reading events.ndjson on and on while others append to it: each call gives what is new since the last. Reads each byte once, so that a
// wait over a talkative job costs what the job writes and not its square.
import type { JobEvent } from '../core/events.ts';
import { eventLineBytes } from '../core/limits.ts';
import { readRange } from '../platform/files.ts';
import { EventChain } from './event-chain.ts';

const chunkBytes = 256 * 1024;
/** Of a journal that is longer only the end is read. */
const atMostBytes = 64 * 1024 * 1024;

export class JournalScan {
  private readonly file: string;
  private offset: number | undefined;
  private rest: Buffer = Buffer.alloc(0);
  /** What precedes the first line end is the end of a line that is not wanted. */
  private isInside = false;
  private chain = new EventChain(0);

  constructor(file: string) {
    this.file = file;
  }

  /** The last line has no end yet. */
  get isTorn(): boolean {
    return this.isInside || this.rest.length > 0;
  }

  /** Whole lines that were appended since the last call; a torn one is read again when its end is there. */
  read(tell: (event: JobEvent) => void): void {
    for (;;) {
      const part = readRange(this.file, this.offset ?? -atMostBytes, chunkBytes);
      if (!part) return;
      if (this.offset === undefined) {
        this.offset = Math.max(0, part.size - atMostBytes);
        this.isInside = this.offset > 0;
        this.chain = new EventChain(this.offset);
      } else if (part.size < this.offset) {
        // Another file of that name, or one that was cut: from its beginning.
        this.reset();
        continue;
      }
      if (part.bytes.length === 0) return;
      this.offset += part.bytes.length;
      this.take(part.bytes, tell);
    }
  }

  private reset(): void {
    this.offset = 0;
    this.rest = Buffer.alloc(0);
    this.isInside = false;
    this.chain = new EventChain(0);
  }

  private take(bytes: Buffer, tell: (event: JobEvent) => void): void {
    const text = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    let from = 0;
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, from)) {
      const event = !this.isInside && end > from ? this.chain.take(text.toString('utf8', from, end)) : undefined;
      if (event) tell(event);
      if (this.isInside) this.chain.pass();
      this.isInside = false;
      from = end + 1;
    }
    this.rest = Buffer.from(text.subarray(from));
    if (this.rest.length <= 2 * eventLineBytes) return;
    // No line of ours is that long.
    this.rest = Buffer.alloc(0);
    this.isInside = true;
  }
}
