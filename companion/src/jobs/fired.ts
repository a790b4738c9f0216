// What one job told since an instant: its end, and the events before it that wake somebody who asked for them; and whether its worker was
// replaced. The instant of an event is when it was written down, so an end that a reader settles late counts when it became known.
// The journal lies where the job may write: an end counts only when the record says so, and no event is from the future.
import type { JobEvent, Wake } from '../core/events.ts';
import { instantOf } from '../core/recorded-time.ts';
import { isNumbered } from '../core/wakes.ts';
import { factsOf } from '../platform/folders.ts';
import { JournalScan } from '../store/journal-scan.ts';
import { isEnded, type View } from './view.ts';

export interface Fired {
  id: string;
  /** Names it among all that was ever told. */
  key: string;
  atMs: number;
  wake: Exclude<Wake, 'checkpoint'>;
  /** The newest last; of an end without one that can be read: none. */
  events: JobEvent[];
  /** Of the same job and kind, all of them: `events` holds only the newest few. */
  count: number;
}

export interface WorkerChange {
  id: string;
  key: string;
  atMs: number;
  type: 'worker_replaced' | 'worker_failed';
  count: number;
}

export interface Told {
  fired: Fired[];
  changes: WorkerChange[];
  /** Of the newest event, whatever it is. */
  newestMs: number | null;
  /** Of the newest file that was handed back, told before or not: a wait that begins behind it is not woken by it again. */
  handbackSeq: number | null;
}

/** Of one kind of one job so many are named. */
const kept = 5;
const wanted = ['attention', 'handback', 'news'] as const;

export function toldSince(view: View, since: number, known: ReadonlySet<string>, nowMs: number): Told {
  const writtenMs = Math.min(factsOf(view.paths.events)?.modifiedMs ?? nowMs, nowMs);
  const fired = new Map<string, Fired>();
  const changes = new Map<string, WorkerChange>();
  let end: { atMs: number; event: JobEvent } | undefined;
  let newestMs: number | null = null;
  let handbackSeq: number | null = null;
  new JournalScan(view.paths.events).read((event) => {
    if (!isNumbered(event)) return;
    const atMs = instantIn(event, writtenMs, nowMs);
    newestMs = atMs;
    const key = `${view.id}:${event.seq}`;
    if (event.type === 'ended') end = { atMs, event };
    if (event.type === 'handback') handbackSeq = Math.max(handbackSeq ?? 0, event.seq);
    if (atMs <= since || known.has(key)) return;
    const wake = wakeOf(event);
    if (wake) add(fired, wake, { id: view.id, key, atMs, wake, events: [event], count: 1 });
    if (event.type === 'worker_replaced' || event.type === 'worker_failed') {
      const { type } = event;
      changes.set(type, { id: view.id, key, atMs, type, count: (changes.get(type)?.count ?? 0) + 1 });
    }
  });
  const ended = isEnded(view.state) && view.damage === null ? endOf(view, end, nowMs) : null;
  const isNew = ended !== null && ended.atMs > since && !known.has(ended.key);
  const told = [...fired.values(), ...(isNew ? [ended] : [])];
  return { fired: told, changes: [...changes.values()], newestMs, handbackSeq };
}

function endOf(view: View, end: { atMs: number; event: JobEvent } | undefined, nowMs: number): Fired {
  const atMs = end?.atMs ?? Math.min(instantOf(view.state.ended_at) ?? nowMs, nowMs);
  const key = `${view.id}:${end?.event.seq ?? view.state.seq}`;
  return { id: view.id, key, atMs, wake: 'terminal', events: end ? [end.event] : [], count: 1 };
}

/** Told once per job and kind, with the newest few. */
function add(fired: Map<string, Fired>, wake: string, one: Fired): void {
  const before = fired.get(wake);
  const events = [...(before?.events ?? []), ...one.events].slice(-kept);
  fired.set(wake, { ...one, events, count: (before?.count ?? 0) + 1 });
}

/** One event is one wake, named by its most urgent word. */
function wakeOf({ type, wake }: JobEvent): (typeof wanted)[number] | undefined {
  if (type === 'ended' || !Array.isArray(wake)) return undefined;
  return wanted.find((word) => wake.includes(word));
}

function instantIn(event: JobEvent, writtenMs: number, nowMs: number): number {
  const atMs = instantOf(event.at);
  return atMs === null || atMs > nowMs ? writtenMs : atMs;
}
