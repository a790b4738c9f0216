// The lines of `watch --foreground` (and the one of --once): one JSON object each, `status` for a change and exactly one `terminal`.
import type { JobEvent } from '../core/events.ts';
import { exitCodeOf } from '../core/exit-codes.ts';
import type { JobState, WatchNote, WatchVerdict } from '../core/job.ts';
import { isoNow } from '../platform/clock.ts';
import { line, smallFacts } from './watch-words.ts';

export const watchProtocol = 'job-companion.watch/v1';

export interface LineParts {
  type: 'status' | 'terminal';
  at?: string;
  kind: string;
  /** Null without a job. */
  id: string | null;
  verdict: WatchVerdict | 'expired' | 'canceled';
  word: string;
  evidence: string;
  facts: Record<string, unknown>;
  more?: Record<string, unknown>;
}

/** The facts stand beside our own words, which win. */
export function lineOf(parts: LineParts): Record<string, unknown> {
  const { type, at = isoNow(), kind, id, verdict, word, evidence, facts, more = {} } = parts;
  const own = { protocol: watchProtocol, type, at, kind, id, state: line(word), verdict, evidence: line(evidence) };
  return { ...own, ...smallFacts(facts), ...more, ...own };
}

/** The line of one event; undefined when it changes nothing that a line tells. `isRepeat`: a verdict is no end. */
export function lineOfEvent(event: JobEvent, kind: string, isRepeat: boolean): Record<string, unknown> | undefined {
  const { at, job: id, seq } = event;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const base = { type: 'status' as const, at, kind, id, more: { seq } };
  switch (event.type) {
    case 'news': {
      const verdict = event.verdict === 'met' || event.verdict === 'failed' ? event.verdict : 'pending';
      // The terminal line says it.
      if (verdict !== 'pending' && !isRepeat) return undefined;
      const facts = isObject(event.facts) ? event.facts : {};
      return lineOf({ ...base, verdict, word: text(event.word), evidence: text(event.evidence), facts });
    }
    case 'trouble': {
      const facts = { cause: event.cause, in_a_row: event.in_a_row };
      return lineOf({ ...base, verdict: 'error', word: 'trouble', evidence: text(event.message), facts });
    }
    case 'recovered': {
      const evidence = `looking works again after ${text(String(event.after))} failed attempt(s)`;
      return lineOf({ ...base, verdict: 'pending', word: 'recovered', evidence, facts: { cause: event.cause } });
    }
    default:
      return undefined;
  }
}

/** The one line of the end. */
export function terminalLine(state: JobState, kind: string): Record<string, unknown> {
  const note: WatchNote | null = state.watch ?? null;
  const [verdict, word] = endWords(state, note);
  const isSeen = verdict === 'met' || verdict === 'failed';
  const evidence = isSeen ? (note?.evidence ?? '') : (state.error?.message ?? note?.evidence ?? state.state);
  const toEnd = note?.watched_to_end === true ? { watched_to_end: true } : {};
  const seen = { changes: note?.changes ?? 0, ...toEnd };
  const more = { outcome: state.state, exit: exitCodeOf(state.state), error: state.error, ...seen, seq: state.seq };
  return lineOf({ type: 'terminal', kind, id: state.id, verdict, word, evidence, facts: note?.facts ?? {}, more });
}

function endWords(state: JobState, note: WatchNote | null): [LineParts['verdict'], string] {
  if (state.state === 'done') return ['met', note?.word ?? 'met'];
  if (state.state === 'canceled') return ['canceled', 'canceled'];
  if (state.state === 'timed_out') return ['expired', 'expired'];
  if (state.error?.code === 'watch_failed') return ['failed', note?.word ?? 'failed'];
  return ['error', 'error'];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
