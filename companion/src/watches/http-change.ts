// What an http watch remembers of an answer, to see whether the next one is another: a print of it, and the digest that belongs to an ETag.
import { sha256, toHex } from '../core/sha256.ts';
import type { HttpHead } from '../platform/http.ts';
import type { Cursor } from './watch.ts';

export interface Change {
  word: 'armed' | 'changed' | 'unchanged';
  /** Of this answer. */
  print: string;
  /** What changes are measured by from now on, unless this one is told. */
  baseline: string;
}

/** Status, and ETag, else Last-Modified, else the digest of the body. `isWhole`: it is more than its status. */
export function changeOf(
  head: HttpHead,
  { isWhole, digest, cursor }: { isWhole: boolean; digest: string | null; cursor: Cursor | null },
): Change {
  const rest = isWhole ? (validatorOf(head) ?? `sha256 ${digest}`) : '';
  const print = toHex(sha256(new TextEncoder().encode(`${head.status} ${rest}`))).slice(0, 16);
  const baseline = typeof cursor?.baseline === 'string' ? cursor.baseline : undefined;
  const word = baseline === undefined ? 'armed' : baseline === print ? 'unchanged' : 'changed';
  return { word, print, baseline: baseline ?? print };
}

export function validatorOf({ headers }: HttpHead): string | null {
  if (headers.etag) return `etag ${headers.etag}`;
  return headers['last-modified'] ? `modified ${headers['last-modified']}` : null;
}

/**
 * The digest that an earlier look took of the same bytes. It comes from a file that others may have written into, so it only ever says that
 * these bytes are not the wanted ones; that they are is seen, never remembered.
 */
export function knownDigest(head: HttpHead, cursor: Cursor | null, wanted: string | null): string | null {
  const tag = strongTag(head);
  const digest = tag !== undefined && cursor?.etag === tag ? cursor.sha256 : undefined;
  return typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) && digest !== wanted ? digest : null;
}

export function cursorOf(
  head: HttpHead,
  { digest, change, isMet }: { digest: string | null; change: Change | null; isMet: boolean },
): Cursor {
  const etag = strongTag(head);
  return {
    // Moves on when a change was told; until then all is measured by the first look.
    ...(change ? { baseline: isMet ? change.print : change.baseline } : {}),
    ...(digest !== null && etag !== undefined ? { etag, sha256: digest } : {}),
  };
}

/** A weak tag is no promise about the bytes. */
function strongTag({ headers }: HttpHead): string | undefined {
  return headers.etag && !headers.etag.startsWith('W/') && headers.etag.length <= 256 ? headers.etag : undefined;
}
