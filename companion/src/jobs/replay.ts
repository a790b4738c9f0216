// A staff job's stream, folded from the files alone. The worker folds the same lines while they appear; a reader that settles a job
// without a worker, and a replacement worker, come to the same reading.
import { type Backend, type Ending, makeReading, noteWarning, type Reading } from '../backends/backend.ts';
import { findBackend } from '../backends/registry.ts';
import { messageOf } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { tailBytes } from '../core/limits.ts';
import { LineSplitter } from '../core/lines.ts';
import { isoOf } from '../platform/clock.ts';
import { readRange, readText } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';
import type { JobPaths } from '../store/layout.ts';

const chunk = 1024 * 1024;

/** The backend of a staff job; undefined for a record of a release that knew another one. */
export function backendOf(spec: Spec): Backend | undefined {
  return spec.staff ? findBackend(spec.staff.backend) : undefined;
}

export function replay(spec: Spec, paths: JobPaths): Reading {
  const reading = makeReading();
  const backend = backendOf(spec);
  if (!backend) return reading;
  const at = isoOf(factsOf(paths.output)?.modifiedMs ?? 0);
  eachLine(paths.output, (line) => readSafely(reading, () => backend.read(line, reading, at)));
  if (backend.readError)
    eachLine(paths.error, (line) => readSafely(reading, () => backend.readError?.(line, reading, at)));
  return reading;
}

/** What an agent writes must not bring down who reads it: a line that a backend stumbles over is told, and the rest is read. */
export function readSafely(reading: Reading, read: () => void): void {
  try {
    read();
  } catch (error) {
    noteWarning(reading, 'backend_error', `the stream has something that could not be read: ${messageOf(error)}`);
  }
}

/** The last facts before judging: what only the end shows, and an answer that is stdout as it is. */
export function closeReading(
  spec: Spec,
  paths: JobPaths,
  reading: Reading,
  exit: { code: number | null; signal: string | null; byItself: boolean },
): Ending {
  const backend = backendOf(spec);
  const stderrTail = readRange(paths.error, -tailBytes, tailBytes)?.bytes.toString('utf8') ?? '';
  const ending: Ending = { exitCode: exit.code, signal: exit.signal, stderrTail, byItself: exit.byItself };
  // The beginning shows whether there is an answer; what is delivered are the file's own bytes.
  if (backend?.answerFrom === 'stdout') reading.answer = readText(paths.output, chunk) ?? '';
  const asked = { resume: spec.staff?.resume ?? null, earlierError: spec.staff?.earlier?.error ?? null };
  readSafely(reading, () => backend?.close?.(reading, ending, asked));
  return ending;
}

function eachLine(file: string, fn: (line: string) => void): void {
  const lines = new LineSplitter();
  for (let offset = 0; ; ) {
    const part = readRange(file, offset, chunk);
    if (!part || part.bytes.length === 0) break;
    for (const line of lines.push(part.bytes)) fn(line);
    offset += part.bytes.length;
  }
  for (const line of lines.end()) fn(line);
}
