// What is remembered of a file of a hand-back folder, and whether the file that lies there now is the one that is remembered. In jobs that an
// older version started a mark is a word: the SHA-256 of the content, or the stamp of a file that was not read.
import { createHash } from 'node:crypto';
import type { HandbackMark } from '../core/idle.ts';
import { handbackMost } from '../core/limits.ts';
import { handbackEnds } from '../core/limits-handback.ts';
import { isOtherFile, readUnchanged, type SeenFile } from '../platform/folder-look.ts';

/** Of its content: of a file that is too large to be read whole, of both ends and the size. */
export interface Content {
  sha256: string | null;
  ends: string | null;
  text: string;
}

/** Undefined when it has just changed, or cannot be read. */
export async function contentOf(path: string, file: SeenFile): Promise<Content | undefined> {
  const isWhole = file.size <= handbackMost.bytes;
  const bytes = await readUnchanged(path, file, isWhole ? null : handbackEnds);
  if (!bytes) return undefined;
  const hash = createHash('sha256').update(isWhole ? '' : `${file.size}/`);
  const made = hash.update(bytes).digest('hex');
  if (!isWhole) return { sha256: null, ends: made, text: '' };
  return { sha256: made, ends: null, text: bytes.toString('utf8') };
}

export function markOf(file: SeenFile, content: Content | undefined): HandbackMark {
  return { key: content?.sha256 ?? content?.ends ?? file.stamp, stamp: file.stamp };
}

/** The mark that an event of the journal, or a baseline, holds. */
export function markFrom(key: unknown, stamp: unknown): HandbackMark | undefined {
  if (typeof key !== 'string') return undefined;
  return { key, stamp: typeof stamp === 'string' ? stamp : null };
}

export function marksFrom(baseline: Record<string, unknown>): Map<string, HandbackMark> {
  const marks = new Map<string, HandbackMark>();
  for (const [name, value] of Object.entries(baseline)) {
    const { key, stamp } = typeof value === 'string' ? { key: value } : ((value ?? {}) as Partial<HandbackMark>);
    const mark = markFrom(key, stamp);
    if (mark) marks.set(name, mark);
  }
  return marks;
}

/** The same file, with the same content: it may have been touched, or written over in place with the bytes that it had. */
export function isSame(mark: HandbackMark, file: SeenFile, content: Content): boolean {
  const { key, stamp } = mark;
  const isKept = key === (content.sha256 ?? content.ends) || isStampOf(key, file);
  return isKept && (stamp === null || !isOtherFile(stamp, file));
}

/** Nothing was written to it since, not even the same bytes. */
export function isUntouched({ key, stamp }: HandbackMark, file: SeenFile): boolean {
  return isStampOf(stamp ?? key, file);
}

/** An older version wrote fewer parts. */
function isStampOf(stamp: string, file: SeenFile): boolean {
  return stamp === file.stamp || file.stamp.startsWith(`${stamp}/`);
}
