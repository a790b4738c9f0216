// The bound of an observation: at most 8 KiB, whatever is in it.
import type { JobEvent } from '../core/events.ts';
import { tail } from '../core/excerpt.ts';
import { observeBytes, textTailBytes } from '../core/limits.ts';

/** The events that are told, oldest first, and where a reader goes on. */
export interface EventPage {
  events: JobEvent[];
  isMore: boolean;
  after: number;
}

/** What one told event may take when it is not the only thing that is told. */
const eventBytes = 3 * 1024;

/** Events are left out from the newest on (the cursor says where to go on), then the text shrinks. Without a page no events are told. */
export function boundDocument(document: Record<string, unknown>, page: EventPage | null): Record<string, unknown> {
  let kept = page?.events ?? [];
  const make = (): Record<string, unknown> => {
    if (!page) return document;
    const isMore = page.isMore || kept.length < page.events.length;
    // A wait that asked for events says itself where it goes on: an event may have come since it last looked.
    if (document.next_seq !== undefined) return { ...document, events: kept };
    return { ...document, events: kept, next_seq: kept.at(-1)?.seq ?? page.after, more: isMore };
  };
  const size = (): number => bytesOf(make());
  while (size() > observeBytes && kept.length > 1) kept = kept.slice(0, -1);
  if (size() > observeBytes && kept[0]) kept = [stumpOf(kept[0])];
  const progress = document.progress as { text?: string; tools?: unknown[] } | undefined;
  for (let limit = textTailBytes; progress && size() > observeBytes && limit > 64; limit = Math.floor(limit / 2)) {
    document.progress = { ...progress, text: tail(progress.text ?? '', limit).text, text_truncated: true };
  }
  if (progress && size() > observeBytes) document.progress = { tools_truncated: true, text_truncated: true };
  for (const name of ['files', 'warnings', 'label', 'timer', 'next', 'error', 'owner', 'model'])
    if (size() > observeBytes) delete document[name];
  return make();
}

/** The event that woke a wait: whole, or only its head. */
export function boundEvent(event: JobEvent): JobEvent {
  return bytesOf(event) <= eventBytes ? event : stumpOf(event);
}

function stumpOf({ seq, at, job, owner, type }: JobEvent): JobEvent {
  return { seq, at, job, owner, type, truncated: true };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
