// How an answer is told: one line for people, some facts for programs. What a server wrote is plain and bounded in both; nothing of a
// body is shown but the value at --field.
import { excerpt, plainText } from '../core/excerpt.ts';
import { evidenceChars } from '../core/limits.ts';
import { formatSize } from '../core/size.ts';
import type { HttpHead } from '../platform/http.ts';
import { shownAddress } from './http-address.ts';

/** `GET https://example.org/x: 404 (12.0 KiB, application/json)`. `size`: what was read of its body, when it does not say. */
export function tellAnswer(url: string, head: HttpHead, size: number | null): string {
  const bytes = sizeOf(head, size);
  const details = [bytes === null ? null : formatSize(bytes), typeOf(head)].filter((part) => part !== null);
  const from =
    head.redirects > 0 ? ` at ${shownAddress(head.url)}${head.wasDowngraded ? ', over plain http' : ''}` : '';
  const told = details.length > 0 ? ` (${details.join(', ')})` : '';
  return withReason(`GET ${shownAddress(url)}: ${head.status}${told}${from}`);
}

/** The reason is not lost to a long address. */
export function withReason(told: string, reason?: string): string {
  if (!reason) return excerpt(told, evidenceChars);
  const rest = excerpt(reason, evidenceChars / 2);
  return `${excerpt(told, evidenceChars - new TextEncoder().encode(rest).length - 2)}; ${rest}`;
}

export function factsOf(
  head: HttpHead,
  { size, digest, value }: { size: number | null; digest: string | null; value: string | undefined },
): Record<string, unknown> {
  const etag = head.headers.etag;
  return {
    status: head.status,
    bytes: sizeOf(head, size),
    content_type: typeOf(head),
    final_url: shownAddress(head.url),
    redirects: head.redirects,
    ...(head.wasDowngraded ? { downgraded: true } : {}),
    ...(etag ? { etag: excerpt(plainText(etag), 80) } : {}),
    ...(digest ? { sha256: digest } : {}),
    ...(value === undefined ? {} : { value }),
  };
}

function sizeOf(head: HttpHead, read: number | null): number | null {
  const declared = head.headers['content-length'];
  return declared !== undefined && /^\d{1,15}$/.test(declared) ? Number(declared) : read;
}

function typeOf(head: HttpHead): string | null {
  const [type = ''] = (head.headers['content-type'] ?? '').split(';');
  return excerpt(plainText(type).trim(), 40) || null;
}
