// The child's output as files, read in bounded parts. A trimmed stream (worker/output-cap.ts) is head + note + hole + tail; the
// kept tail is far longer than anything that is read here, so a tail never meets the hole.
import { lastLines, tailOfBytes } from '../core/excerpt.ts';
import { tailBytes, tailLines } from '../core/limits.ts';
import { readRange } from '../platform/files.ts';

/** The last lines of a log, at most 50 and at most 8 KiB, byte for byte. Empty when there is no output. */
export function readLogTail(file: string, limits = { lines: tailLines, bytes: tailBytes }): Buffer {
  const part = readRange(file, -(limits.bytes + 4), limits.bytes + 4);
  if (!part) return Buffer.alloc(0);
  const bounded = tailOfBytes(part.bytes, limits.bytes);
  return Buffer.from(lastLines(bounded, limits.lines));
}

export function logSize(file: string): number {
  return readRange(file, 0, 0)?.size ?? 0;
}
