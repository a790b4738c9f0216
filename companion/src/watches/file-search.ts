// Looking for something in a file that grows: the whole of it once, and then what was added. The cursor says how far it was searched, and
// how the file ended there: another file, or one that was written anew, is searched from its beginning. A very large file is searched
// over several looks.
import { formatSize } from '../core/size.ts';
import { sleep } from '../platform/clock.ts';
import { readRange } from '../platform/files.ts';
import { realPath, type TargetFacts } from '../platform/folders.ts';
import { matchAt } from '../platform/matching.ts';
import { seen, unreachable } from './local.ts';
import type { Cursor, Fault, Look, Tools, Trouble } from './watch.ts';

const chunkBytes = 256 * 1024;
/** Of a line that has no end yet. */
const lineBytes = 64 * 1024;
const endBytes = 32;
/** Part of an attempt that is left for telling. */
const reserveMs = 200;

/** What a search makes of one piece: where it found something, or how many bytes of the piece are done with. */
type Search = (piece: Buffer, isLast: boolean) => Promise<{ at: number } | { done: number } | 'slow'>;

export function lookForText(
  target: string,
  text: string,
  facts: TargetFacts,
  tools: Tools,
  cursor: Cursor,
): Promise<Look | Trouble | Fault> {
  const wanted = Buffer.from(text);
  return lookThrough(target, facts, tools, cursor, async (piece) => {
    const at = piece.indexOf(wanted);
    // The text may begin at the end of this piece.
    return at >= 0 ? { at } : { done: Math.max(0, piece.length - wanted.length + 1) };
  });
}

/** Whole lines; a last one without its newline counts as it stands, and again when it has grown. */
export function lookForPattern(
  target: string,
  pattern: string,
  facts: TargetFacts,
  tools: Tools,
  cursor: Cursor,
): Promise<Look | Trouble | Fault> {
  return lookThrough(target, facts, tools, cursor, async (piece, isLast) => {
    const end = piece.lastIndexOf(10) + 1;
    const text = (isLast || end === 0 ? piece : piece.subarray(0, end)).toString('utf8');
    const at = await matchAt(pattern, text);
    if (at === 'slow') return at;
    if (at >= 0) return { at: Buffer.byteLength(text.slice(0, at)) };
    return { done: piece.length - end > lineBytes ? piece.length : end };
  });
}

async function lookThrough(
  target: string,
  facts: TargetFacts,
  tools: Tools,
  cursor: Cursor,
  search: Search,
): Promise<Look | Trouble | Fault> {
  if (facts.kind !== 'file')
    return { kind: 'fault', cause: 'refused', message: `cannot look into ${target}: it is no regular file` };
  try {
    const real = realPath(target);
    let offset = startOf(real, facts, cursor);
    for (;;) {
      const part = readRange(real, offset, chunkBytes);
      if (!part) return seen('pending', 'missing', `${target} is not there`);
      const isLast = offset + part.bytes.length >= part.size;
      const found = part.bytes.length === 0 ? { done: 0 } : await search(part.bytes, isLast);
      if (found === 'slow') return tooSlow(target);
      if ('at' in found) return foundAt(target, part.bytes, found.at, offset);
      offset += found.done;
      const isTimeUp = tools.signal.aborted || tools.leftMs() < reserveMs;
      if (!isLast && !isTimeUp) {
        // Whoever wants to end us gets a turn.
        await sleep(0);
        continue;
      }
      const cursorNow = { inode: facts.inode, offset, end: endAt(real, offset) };
      const more = { facts: { bytes: part.size, searched_bytes: offset }, cursor: cursorNow };
      if (!isLast)
        return seen('pending', 'searching', `${target}: searched ${formatSize(offset)} of ${formatSize(part.size)}`, {
          ...more,
          againMs: 1000,
        });
      return seen('pending', 'not_found', `nothing of it in ${target} yet (${formatSize(part.size)})`, more);
    }
  } catch (error) {
    return unreachable(target, error);
  }
}

function startOf(real: string, facts: TargetFacts, { inode, offset, end }: Cursor): number {
  if (inode !== facts.inode || typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) return 0;
  return offset <= facts.size && endAt(real, offset) === end ? offset : 0;
}

function endAt(real: string, offset: number): string {
  const from = Math.max(0, offset - endBytes);
  return readRange(real, from, offset - from)?.bytes.toString('hex') ?? '';
}

/** The line that has it is the evidence. */
function foundAt(target: string, piece: Buffer, at: number, offset: number): Look {
  const from = piece.lastIndexOf(10, Math.max(0, at - 1)) + 1;
  const begin = at === 0 ? 0 : Math.max(from, at - 80);
  const end = piece.indexOf(10, at);
  const text = piece
    .subarray(begin, end < 0 ? undefined : end)
    .subarray(0, 300)
    .toString('utf8');
  return seen('met', 'found', `found: ${text.trim()} (${target})`, { facts: { offset: offset + at } });
}

function tooSlow(target: string): Trouble {
  const message = `the pattern takes too long on ${target}; a simpler one would not`;
  return { kind: 'trouble', cause: 'timeout', message, retryAfterMs: null };
}
