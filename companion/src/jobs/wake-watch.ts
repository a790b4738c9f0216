// What wakes a `wait` before the end, looked for in one job: an event that its worker wrote, or attention that only a reader can see. Reads
// and subscribes; consumes nothing, so any number of waiters see the same.
import type { JobEvent } from '../core/events.ts';
import { isNumbered, WakeChoice, type Wanted } from '../core/wakes.ts';
import { isoNow } from '../platform/clock.ts';
import { onEachChange } from '../platform/watch-path.ts';
import { JournalScan } from '../store/journal-scan.ts';
import type { JobPaths } from '../store/layout.ts';
import { findStopped, monitorAttention } from './health-seen.ts';
import { conditionOf, type View } from './view.ts';

/** Where a caller has got to in one job; `isGiven` when it said so itself. */
export interface WaitCursor {
  seq: number;
  isGiven: boolean;
}

export interface WakeSeen {
  wake: Wanted;
  /** Of an attention that a reader sees there is no event: `seq` is null. */
  event: JobEvent | { seq: null; at: string; type: 'monitor_attention'; cause: string; reason: string };
  nextSeq: number;
  pending: number;
  /** Older plain checkpoints that were passed over. */
  skipped: number;
}

export class WakeWatch {
  /** The cursor, when it lies beyond all that was ever told: then it counts from the newest event on. */
  beyond: { given: number; newest: number } | null = null;
  private readonly paths: JobPaths;
  private readonly wanted: readonly Wanted[];
  private readonly scan: JournalScan;
  private readonly cursor: WaitCursor;
  private choice: WakeChoice;
  private newest = 0;
  private hasScanned = false;
  /** The cause that held when the wait began and that its caller has heard of. */
  private known: string | undefined;
  private hasLooked = false;
  private stop: (() => void) | undefined;

  constructor(paths: JobPaths, wanted: readonly Wanted[], cursor: WaitCursor) {
    this.paths = paths;
    this.wanted = wanted;
    this.cursor = cursor;
    this.scan = new JournalScan(paths.events);
    this.choice = new WakeChoice(wanted, cursor.seq);
  }

  /** Attention that only a look at the processes shows comes without any sign. */
  get isForHealth(): boolean {
    return this.wanted.includes('attention');
  }

  /** Call `ring` at each change of the journal. False when the system cannot tell of one. */
  subscribe(ring: () => void): boolean {
    this.stop ??= onEachChange(this.paths.events, ring, () => {
      this.stop = undefined;
    });
    return this.stop !== undefined;
  }

  close(): void {
    this.stop?.();
    this.stop = undefined;
  }

  /** A cheap look whether the next whole one would say something else: was the worker or the shim stopped, or continued? */
  isHealthChanged(view: View): boolean {
    if (!this.isForHealth) return false;
    const known = this.known === 'worker_stopped' || this.known === 'shim_stopped' ? this.known : undefined;
    return findStopped(view)?.cause !== known;
  }

  /** What its worker wrote. */
  lookAtEvents(): WakeSeen | undefined {
    this.scan.read((event) => {
      if (isNumbered(event)) this.newest = Math.max(this.newest, event.seq);
      this.choice.add(event);
    });
    if (!this.hasScanned && this.cursor.seq > this.newest) this.startAt(this.newest);
    this.hasScanned = true;
    const chosen = this.choice.chosen();
    return chosen && { ...chosen, nextSeq: chosen.event.seq };
  }

  /** What only a reader sees. One that a caller has heard of wakes it again only after it was over, or for another cause. */
  lookAtHealth(view: View): WakeSeen | undefined {
    if (!this.isForHealth) return undefined;
    const seen = monitorAttention(view, conditionOf(view));
    const isNew = seen !== undefined && seen.cause !== this.known && (this.hasLooked || !this.cursor.isGiven);
    this.known = seen?.cause;
    this.hasLooked = true;
    if (!seen || !isNew) return undefined;
    const event = { seq: null, at: isoNow(), type: 'monitor_attention' as const, ...seen };
    return { wake: 'attention', event, nextSeq: this.beyond?.newest ?? this.cursor.seq, pending: 0, skipped: 0 };
  }

  /** A cursor of another job would let the wait sleep through everything. */
  private startAt(newest: number): void {
    this.beyond = { given: this.cursor.seq, newest };
    this.choice = new WakeChoice(this.wanted, newest);
  }
}
