// Following the child's two output files: how much came, when last, and (for agents) the lines of the stream. Sleeps while
// nothing comes; looks every few milliseconds while much comes, because the cap depends on it.

import type { OutputNote } from '../core/job.ts';
import { LineSplitter } from '../core/lines.ts';
import { isoNow, monotonicMs } from '../platform/clock.ts';
import { readRange } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';
import { onNextChange } from '../platform/watch-path.ts';
import type { JobPaths } from '../store/layout.ts';
import { OutputCap } from './output-cap.ts';

const fastest = 10;
const slowest = 250;
const chunk = 1024 * 1024;

export interface LineSink {
  stdout(line: string): void;
  stderr(line: string): void;
}

class Stream {
  readonly file: string;
  readonly cap: OutputCap;
  size = 0;
  private offset = 0;
  private readonly lines = new LineSplitter();
  private readonly sink: ((line: string) => void) | undefined;

  constructor(file: string, capBytes: number, sink: ((line: string) => void) | undefined) {
    this.file = file;
    this.cap = new OutputCap(file, capBytes);
    this.sink = sink;
  }

  /** True when bytes came. */
  look(): boolean {
    const size = factsOf(this.file)?.size ?? 0;
    const hasGrown = size !== this.size;
    this.size = size;
    // Cut in the middle (no holes here): what follows the cut is new.
    this.offset = Math.min(this.offset, size);
    if (hasGrown && this.sink) this.read();
    if (hasGrown) this.cap.check();
    return hasGrown;
  }

  end(): void {
    this.look();
    if (this.sink) for (const line of this.lines.end()) this.sink(line);
  }

  private read(): void {
    for (;;) {
      const part = readRange(this.file, this.offset, chunk);
      if (!part || part.bytes.length === 0) return;
      this.offset += part.bytes.length;
      for (const line of this.lines.push(part.bytes)) this.sink?.(line);
    }
  }
}

export class Follower {
  private readonly streams: Stream[];
  private timer: NodeJS.Timeout | undefined;
  private pause = fastest;
  private unwatch: () => void = () => undefined;
  private stopped = false;
  /** Monotonic instant of the newest output; null before the first. */
  lastOutputMono: number | null = null;
  lastOutputAt: string | null = null;
  private readonly onOutput: () => void;

  /** `sink` gets the lines when there is one; else only sizes are looked at. */
  constructor(paths: JobPaths, capBytes: number, sink: LineSink | undefined, onOutput: () => void) {
    this.streams = [
      new Stream(paths.output, capBytes, sink && ((line) => sink.stdout(line))),
      new Stream(paths.error, capBytes, sink && ((line) => sink.stderr(line))),
    ];
    this.onOutput = onOutput;
    this.step();
  }

  /** Called by the worker's slow tick, for file systems that tell of no changes. */
  tick(): void {
    if (!this.stopped && this.timer === undefined && this.scan()) this.schedule();
  }

  sizes(): { stdout: number; stderr: number } {
    return { stdout: this.streams[0]?.size ?? 0, stderr: this.streams[1]?.size ?? 0 };
  }

  /** The child and all its descendants are gone: read the rest, trim, and say what is there. */
  async end(): Promise<{ stdout: OutputNote; stderr: OutputNote }> {
    this.stopped = true;
    clearTimeout(this.timer);
    this.unwatch();
    for (const stream of this.streams) stream.end();
    const [stdout, stderr] = await Promise.all(this.streams.map((stream) => stream.cap.finish()));
    return { stdout: stdout as OutputNote, stderr: stderr as OutputNote };
  }

  private step(): void {
    this.timer = undefined;
    if (this.stopped) return;
    if (!this.scan()) this.pause = Math.min(this.pause * 1.5, slowest);
    this.schedule();
  }

  private schedule(): void {
    this.unwatch();
    if (this.pause < slowest) this.timer = setTimeout(() => this.step(), this.pause);
    else
      this.unwatch = onNextChange(
        this.streams.map((stream) => stream.file),
        () => this.step(),
      );
  }

  private scan(): boolean {
    let hasGrown = false;
    for (const stream of this.streams) hasGrown = stream.look() || hasGrown;
    if (!hasGrown) return false;
    this.pause = fastest;
    this.lastOutputMono = monotonicMs();
    this.lastOutputAt = isoNow();
    this.onOutput();
    return true;
  }
}
