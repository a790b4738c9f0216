// Bytes to lines, for streams that arrive in any pieces: a character split over two chunks is whole again, the last line counts
// without its newline, and a line above the bound is dropped and counted instead of filling memory.
import { streamLineBytes } from './limits.ts';

export class LineSplitter {
  private parts: Uint8Array[] = [];
  private size = 0;
  /** Lines that were longer than the bound. */
  dropped = 0;
  private readonly decoder = new TextDecoder();
  private readonly limit: number;

  constructor(limit = streamLineBytes) {
    this.limit = limit;
  }

  /** The lines that these bytes complete, without their newlines. */
  push(bytes: Uint8Array): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      this.keep(bytes.subarray(from, at));
      this.take(lines);
      from = at + 1;
    }
    if (from < bytes.length) this.keep(new Uint8Array(bytes.subarray(from)));
    return lines;
  }

  /** What stands after the last newline, once the stream has ended. */
  end(): string[] {
    const lines: string[] = [];
    if (this.size > 0) this.take(lines);
    return lines;
  }

  private keep(piece: Uint8Array): void {
    this.size += piece.length;
    if (this.size > this.limit) this.parts = [];
    else if (piece.length > 0) this.parts.push(piece);
  }

  private take(lines: string[]): void {
    if (this.size > this.limit) this.dropped += 1;
    else lines.push(this.decoder.decode(this.parts.length === 1 ? this.parts[0] : join(this.parts, this.size)));
    this.parts = [];
    this.size = 0;
  }
}

function join(parts: Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
