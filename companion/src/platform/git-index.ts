// The names in the index of a git worktree, read piece by piece in its order (gitformat-index, versions 2 to 4): most looks end with one of the
// first pieces, and an index of any size costs no more memory than one. Nothing here starts git.
import { closeSync } from 'node:fs';
import { monotonicMs } from './clock.ts';
import { type OpenFile, openRegular, readAt } from './regular-file.ts';

const pieceBytes = 256 * 1024;
/** Longer than any path that a system takes. */
const nameBytes = 16 * 1024;
/** What stands before a name, and its end. */
const roomBytes = 256;
const lookMs = 2000;

/** False: no such name, no index, or one of a form that we do not know. Throws when there is one that cannot be read, or not in time. */
export function isInIndex(file: string, hashBytes: number, found: (name: string) => 'yes' | 'no' | 'past'): boolean {
  const opened = openRegular(file);
  if (!opened) return false;
  try {
    for (const name of indexNames(file, opened, hashBytes)) {
      const answer = found(name);
      if (answer !== 'no') return answer === 'yes';
    }
    return false;
  } finally {
    closeSync(opened.fd);
  }
}

function* indexNames(file: string, opened: OpenFile, hashBytes: number): Generator<string> {
  const from = makePieces(opened);
  const first = from(0);
  if (first.length < 12 || first.toString('latin1', 0, 4) !== 'DIRC') return;
  const version = first.readUInt32BE(4);
  if (version < 2 || version > 4) return;
  const count = first.readUInt32BE(8);
  const head = 42 + hashBytes;
  const until = monotonicMs() + lookMs;
  let start = 12;
  let name = '';
  for (let number = 0; number < count; number += 1) {
    if (number % 512 === 511 && monotonicMs() > until) throw new Error(`${file} is too large to be looked through`);
    const bytes = from(start);
    if (bytes.length <= head) return;
    const isExtended = version >= 3 && (bytes.readUInt16BE(head - 2) & 0x4000) !== 0;
    let at = isExtended ? head + 2 : head;
    let kept = 0;
    if (version === 4) {
      const strip = readOffset(bytes, at);
      at = strip.next;
      kept = Math.max(0, name.length - strip.value);
    }
    const end = bytes.indexOf(0, at);
    // The file ends within the name.
    if (end < 0 && start + bytes.length >= opened.size) return;
    if (end < 0 || kept + end - at > nameBytes) throw new Error(`${file} holds a name that is too long`);
    name = name.slice(0, kept) + bytes.toString('latin1', at, end);
    start += version === 4 ? end + 1 : (end + 8) & ~7;
    yield name;
  }
}

/** How much of the name before is to be left out (version 4). */
function readOffset(bytes: Buffer, at: number): { value: number; next: number } {
  let next = at;
  let byte = bytes[next++] ?? 0;
  let value = byte & 0x7f;
  // Of the four bytes that any length of ours fits into.
  while (byte & 0x80 && next < at + 4) {
    byte = bytes[next++] ?? 0;
    value = ((value + 1) << 7) | (byte & 0x7f);
  }
  return { value, next };
}

/** The bytes from a place on: at least a whole entry, unless the file ends before. */
function makePieces({ fd, size }: OpenFile): (start: number) => Buffer {
  const piece = Buffer.alloc(Math.min(size, pieceBytes));
  let [base, length] = [0, 0];
  return (start) => {
    const isIn = start >= base && start <= base + length;
    const isEnough = start + nameBytes + roomBytes <= base + length || base + length >= size;
    if (!isIn || !isEnough || length === 0) {
      length = readAt(fd, piece, start);
      base = start;
    }
    return piece.subarray(start - base, length);
  };
}
