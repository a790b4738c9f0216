// What a watch remembers between two looks, and what an answer makes of it: the news to tell, the trouble, the end. Pure. All of it
// stands in cursor.json (watch-cursor.ts), so that the next worker goes on as if nothing had happened.
import { formatDuration } from '../core/duration.ts';
import type { Wake } from '../core/events.ts';
import { excerptBytes, watchLongLimitMs, watchTroubles } from '../core/limits.ts';
import type { WatchNote, WatchPart } from '../core/waiting.ts';
import type { Answer } from '../jobs/watch-attempt.ts';
import type { WatchEnd } from '../jobs/watch-verdict.ts';
import { line, smallFacts } from '../jobs/watch-words.ts';
import { hashOf } from '../store/mac.ts';
import type { Cursor, Fault, Look, Trouble } from '../watches/watch.ts';

/** One event to tell. `n` counts what was told, so that whoever comes later knows whether it stands in the journal. */
export interface Telling {
  n: number;
  type: 'news' | 'trouble' | 'recovered';
  wake?: Wake[];
  [field: string]: unknown;
}

export interface Memory {
  cursor: Cursor | null;
  /** Of the newest news. */
  key: string | null;
  note: WatchNote;
  /** Of the trouble that was told last and is not over. */
  cause: string | null;
  /** What the newest answer made us tell. */
  telling: Telling[];
  /** Programs were started: at the end there may be something left of them. */
  hasRun: boolean;
  end: WatchEnd | null;
  /** Of the end (jobs/watch-verdict.ts). */
  seal: string | null;
}

export function freshMemory(start: Cursor | null): Memory {
  const note: WatchNote = {
    verdict: 'pending',
    word: 'unknown',
    evidence: 'not looked at yet',
    facts: {},
    polls: 0,
    told: 0,
    changes: 0,
    troubles: 0,
    trouble: null,
  };
  return { cursor: start, key: null, note, cause: null, telling: [], hasRun: false, end: null, seal: null };
}

export function fold(before: Memory, answer: Answer, part: WatchPart): Memory {
  const polled = { ...before, telling: [], note: { ...before.note, polls: before.note.polls + 1 } };
  switch (answer.kind) {
    case 'look':
      return foldLook(polled, answer, part);
    case 'trouble':
      return foldTrouble(polled, answer, part);
    case 'fault':
      return foldFault(polled, answer);
  }
}

function foldLook(before: Memory, look: Look, part: WatchPart): Memory {
  const { troubles, alarm: _, ...earlier } = before.note;
  const recovered = troubles > 0 ? [{ type: 'recovered' as const, after: troubles, cause: before.cause }] : [];
  const key = shortKey(look.key);
  const isNews = key !== before.key;
  const seen = {
    verdict: look.verdict,
    word: line(look.word),
    evidence: line(look.evidence),
    facts: smallFacts(look.facts),
  };
  const first = before.key === null ? { first: true } : {};
  // How things are at first is no change: it wakes nobody, unless somebody should look.
  const isFirst = before.key === null;
  const wake: Wake[] = [...(isFirst ? [] : ['news' as const]), ...(look.needsAttention ? ['attention' as const] : [])];
  const woken = wake.length > 0 ? { wake } : {};
  const news = isNews ? [{ type: 'news' as const, ...seen, key, ...first, ...woken }] : [];
  const changes = (before.note.changes ?? 0) + (isNews && !isFirst ? 1 : 0);
  const note = { ...earlier, ...(isNews ? seen : {}), changes, troubles: 0, trouble: null };
  const told = tell({ ...before, note, cursor: look.cursor, key, cause: null }, [...recovered, ...news]);
  return { ...told, end: endOf(look, part, seen.evidence) };
}

function endOf(look: Look, part: WatchPart, evidence: string): WatchEnd | null {
  // Nothing more can come: it was watched to its end, as asked.
  if (part.repeat && look.isSettled)
    return { reason: look.verdict === 'failed' ? 'watch_failed' : 'met', detail: evidence };
  if (part.repeat || look.verdict === 'pending') return null;
  return { reason: look.verdict === 'met' ? 'met' : 'watch_failed', detail: evidence };
}

/** A cause is told once; that it lasts, or is known to last, is told once more, to whoever wants to be woken by it. */
function foldTrouble(before: Memory, trouble: Trouble, { tolerate }: WatchPart): Memory {
  const troubles = before.note.troubles + 1;
  const alarm = alarmOf(before.note, trouble, troubles);
  const message = line(
    `${isLong(trouble) ? `not asked again for ${formatDuration(trouble.retryAfterMs ?? 0)}: ` : ''}${trouble.message}`,
  );
  const event = { type: 'trouble' as const, cause: trouble.cause, message, in_a_row: troubles };
  const events = alarm ? [{ ...event, wake: ['attention' as const] }] : trouble.cause !== before.cause ? [event] : [];
  const note = { ...before.note, troubles, trouble: message, ...(alarm ? { alarm } : {}) };
  const told = tell({ ...before, note, cause: trouble.cause }, events);
  if (tolerate === null || troubles <= tolerate) return told;
  const times = troubles === 1 ? 'an attempt' : `${troubles} attempts in a row`;
  return { ...told, end: { reason: 'watch_error', detail: `${times} failed (--tolerate ${tolerate}): ${message}` } };
}

/** A rate limit that ends late, as its server said. */
function isLong({ cause, retryAfterMs }: Trouble): boolean {
  return cause === 'rate_limit' && retryAfterMs !== null && retryAfterMs >= watchLongLimitMs;
}

/** What somebody is to be told of now. A long limit that lasts is the same cause; that something else lasts after it is none. */
function alarmOf({ alarm }: WatchNote, trouble: Trouble, troubles: number): WatchNote['alarm'] {
  if (alarm === undefined && isLong(trouble)) return 'long';
  if (alarm === 'long') return troubles >= watchTroubles && trouble.cause !== 'rate_limit' ? 'lasting' : undefined;
  return alarm === undefined && troubles === watchTroubles ? 'lasting' : undefined;
}

function foldFault(before: Memory, fault: Fault): Memory {
  const evidence = line(fault.message);
  const note: WatchNote = { ...before.note, verdict: 'error', word: fault.cause, evidence, facts: {} };
  return { ...before, note, end: { reason: 'watch_error', detail: evidence } };
}

type Untold = Omit<Telling, 'n'> & Pick<Telling, 'type'>;

function tell(memory: Memory, events: Untold[]): Memory {
  const { told } = memory.note;
  const telling = events.map((event, at): Telling => ({ ...event, n: told + at + 1 }));
  return { ...memory, telling, note: { ...memory.note, told: told + events.length } };
}

/** A key is compared and stored, never read. */
function shortKey(key: string): string {
  return key.length <= excerptBytes ? key : hashOf(key);
}

/** When the next attempt comes, ms after the begin of this one. */
export function pauseAfter(
  memory: Memory,
  answer: Answer,
  part: WatchPart,
  retry: { firstMs: number; mostMs: number },
): number {
  if (answer.kind === 'look') return Math.min(part.every_ms, Math.max(1000, answer.againMs ?? part.every_ms));
  if (answer.kind === 'fault') return 0;
  const first = Math.min(part.every_ms, retry.firstMs);
  const most = Math.max(part.every_ms, retry.mostMs);
  const doubled = Math.min(most, first * 2 ** Math.min(30, memory.note.troubles - 1));
  return Math.max(doubled, answer.retryAfterMs ?? 0);
}
