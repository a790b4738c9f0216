// Writing to the standard streams without the stream classes, which cost every start 3 ms: straight to the descriptor, whole,
// before the process ends. A reader that closed its end early (`| head`) is no error of ours.
import { fstatSync, statSync, writeSync } from 'node:fs';
import { errnoOf } from '../core/errors.ts';

/** False when the reader has closed its end. Throws when the system refuses. */
export function writeOut(fd: 1 | 2, data: string | Uint8Array): boolean {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      const code = errnoOf(error);
      if (code === 'EAGAIN') pause();
      else if (code === 'EPIPE') return false;
      else throw error;
    }
  }
  return true;
}

export interface Terminal {
  isTerminal: boolean;
  columns: number;
  rows: number;
}

const elsewhere: Terminal = { isTerminal: false, columns: 1000, rows: 1000 };

/** Is a person's terminal at the other end, and how large is it now? `columns` and `rows` are 1000 elsewhere. */
export function terminalOf(fd: 1 | 2): Terminal {
  try {
    const stat = fstatSync(fd);
    if (!stat.isCharacterDevice() || isNullDevice(stat.rdev)) return elsewhere;
  } catch {
    return elsewhere;
  }
  // Only now: asking Node's own stream loads it.
  const stream = fd === 1 ? process.stdout : process.stderr;
  // A terminal that does not know its size says 0.
  return stream.isTTY ? { isTerminal: true, columns: stream.columns || 80, rows: stream.rows || 24 } : elsewhere;
}

/** Call `fn` whenever the terminal of stdout gets another size. Returns a function that stops it. */
export function onResize(fn: () => void): () => void {
  process.stdout.on('resize', fn);
  return () => process.stdout.off('resize', fn);
}

function isNullDevice(rdev: number): boolean {
  return rdev === (statSync('/dev/null', { throwIfNoEntry: false })?.rdev ?? -1);
}

const cell = new Int32Array(new SharedArrayBuffer(4));

/** A pipe whose reader is slow and that somebody made non-blocking. */
function pause(): void {
  Atomics.wait(cell, 0, 0, 2);
}
