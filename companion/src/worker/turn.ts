// The turn of a job in its queue (`--max-live`): its worker waits here before anything of the job is started. It sleeps on the signs of life of
// the job before it, or, as the first, of those at work; whoever takes a turn wakes those behind it, and a slow look stands behind both. The
// turn is taken under the queue's lock and stands on disk before anything else happens: a worker that comes later goes on from there.
import { errnoOf, FaultError } from '../core/errors.ts';
import type { QueueNote, Turn } from '../core/job.ts';
import { leaseMs, queueHeard, queueLookMs, queueLookPerJobMs, queueNamed } from '../core/limits.ts';
import { specAtTurn } from '../jobs/bound.ts';
import { makeNap } from '../jobs/nap.ts';
import { lookAtQueue, makeQueueMemory, type Standing, workerOf } from '../jobs/queue.ts';
import { wakeBehind } from '../jobs/queue-wake.ts';
import { isoNow, isoOf, monotonicMs, nowMs } from '../platform/clock.ts';
import { watchFifo } from '../platform/fifo.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { bootId } from '../platform/identity.ts';
import { withLock } from '../platform/lock.ts';
import { jobPaths, rootPaths } from '../store/layout.ts';
import { readCancel } from '../store/records.ts';
import { readTurn, writeTurn } from '../store/turn.ts';
import { type Claim, renewLease } from './claim.ts';
import { Progress } from './progress.ts';

/** False when the job ended while it was queued. */
export async function waitForTurn(claim: Claim): Promise<boolean> {
  const turn = readTurn(claim.paths, claim.spec.id) ?? lostTurn(claim) ?? (await new Queued(claim).untilTurn());
  if (!turn) return false;
  claim.turn = turn;
  claim.spec = specAtTurn(claim.spec, turn);
  return true;
}

/** It was started, so it had its turn; somebody took that away. */
function lostTurn({ paths }: Claim): Turn | undefined {
  const started = factsOf(paths.started);
  if (!started) return undefined;
  const age = Math.max(0, nowMs() - started.modifiedMs);
  return { at: isoOf(started.modifiedMs), boot_id: bootId(), mono_ms: monotonicMs() - age, files: {} };
}

type Why = 'fifo' | 'told';

/** After a sign: looks in quick succession, because a process is seen dead a moment later. */
const quickMs = [20, 50, 100, 250, 500, 1000];

class Queued {
  private readonly claim: Claim;
  private readonly progress: Progress;
  private readonly memory = makeQueueMemory();
  private readonly stop = new AbortController();
  private readonly nap = makeNap<Why>(this.stop.signal);
  /** Whose signs of life are listened to. */
  private readonly heard = new Map<string, (() => void) | undefined>();
  private readonly since = monotonicMs();
  private note: QueueNote | null = null;
  private why: 'canceled' | 'state_vanished' | undefined;

  constructor(claim: Claim) {
    this.claim = claim;
    this.progress = new Progress(claim);
  }

  async untilTurn(): Promise<Turn | undefined> {
    const release = this.listen();
    const { progress, claim } = this;
    this.note = progress.state.queue ?? null;
    if (claim.generation > 1) {
      progress.note('worker_replaced', { worker: claim.self.pid, generation: claim.generation, baseline_reset: false });
      claim.isReplacementTold = true;
    }
    try {
      const stopped = new Promise<void>((resolve) => this.stop.signal.addEventListener('abort', () => resolve()));
      let turn: Turn | undefined;
      // What is done for others may take long; the request to go is answered at once.
      for (let quiet = quickMs.length; !turn && !this.stop.signal.aborted; ) {
        const round = this.round(quiet).then((told) => ({ told }));
        const done = await Promise.race([round, stopped]);
        if (!done) break;
        turn = done.told.turn;
        quiet = done.told.isRung ? 0 : quiet + 1;
      }
      if (turn) return turn;
      await this.end();
      return undefined;
    } finally {
      release();
      for (const close of this.heard.values()) close?.();
      this.stop.abort();
    }
  }

  /** One look, what follows from it, and the sleep until the next. */
  private async round(quiet: number): Promise<{ turn?: Turn | undefined; isRung: boolean }> {
    const { root, spec } = this.claim;
    let standing = await lookAtQueue(root, spec, this.memory);
    // Listened to first, looked at second: what changes in between is not missed.
    while (await this.hear(watchedOf(standing))) standing = await lookAtQueue(root, spec, this.memory);
    if (await this.care(standing)) standing = await lookAtQueue(root, spec, this.memory);
    if (this.stop.signal.aborted) return { isRung: false };
    if (standing.mayGo) {
      const turn = await this.take();
      if (turn) return { turn, isRung: true };
    } else this.tell(standing);
    const live = standing.ahead.length + standing.atWork.length;
    const before = standing.ahead.at(-1);
    const isAlone = before !== undefined && workerOf(jobPaths(root, before)) === 'dead';
    const slow = isAlone || standing.mayGo ? 1000 : Math.max(queueLookMs, live * queueLookPerJobMs);
    const why = await this.nap.sleep(quickMs[quiet] ?? slow);
    return { isRung: why.includes('fifo') };
  }

  /** Loaded when there is something to do: many wait, and most need it never. */
  private async care(standing: Standing): Promise<boolean> {
    const { root } = this.claim;
    const before = standing.ahead.at(-1);
    const isNeeded =
      before === undefined
        ? standing.atWork.some(({ condition }) => condition !== 'supervised')
        : workerOf(jobPaths(root, before)) === 'dead';
    return isNeeded && (await import('../jobs/queue-care.ts')).careForQueue(root, standing, this.memory);
  }

  /** Only one at a time looks and decides. */
  private async take(): Promise<Turn | undefined> {
    const { root, spec, paths } = this.claim;
    try {
      return await withLock(rootPaths(root).queueLock, async () => {
        const { mayGo, atWork } = await lookAtQueue(root, spec, this.memory);
        if (!mayGo || !exists(paths.folder) || this.stop.signal.aborted || readCancel(paths)) return undefined;
        const files = await this.files();
        const turn: Turn = { at: isoNow(), boot_id: bootId(), mono_ms: monotonicMs(), files };
        writeTurn(paths, spec.id, turn);
        const fields = { waited_ms: monotonicMs() - this.since, live: atWork.length + 1, max_live: spec.max_live };
        this.progress.note('turn', fields, { queue: null });
        wakeBehind(root, spec, this.memory);
        return turn;
      });
    } catch (error) {
      // Somebody else is at it, or the disk is full: not now.
      const isBusy = error instanceof FaultError && error.code === 'busy';
      if (isBusy || ['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '')) return undefined;
      throw error;
    }
  }

  /** What must be new or changed is so against what is there when it begins, not when it was queued. */
  private async files(): Promise<Record<string, unknown>> {
    const { run } = this.claim.spec;
    if (!run?.success_files && !run?.result_paths) return {};
    const { freshPaths } = await import('../jobs/artifact-paths.ts');
    try {
      return { ...freshPaths(run) };
    } catch {
      // What stands there now could not be asked for: it stays as the launcher found it.
      return {};
    }
  }

  /** True when there was somebody new to listen to. */
  private async hear(ids: readonly string[]): Promise<boolean> {
    for (const [id, close] of this.heard) {
      if (ids.includes(id)) continue;
      close?.();
      this.heard.delete(id);
    }
    let isNew = false;
    // Asked again as long as there is none: a worker that was just started has not made its own yet.
    for (const id of ids) {
      if (this.heard.get(id)) continue;
      const onEnd = (): void => {
        this.heard.get(id)?.();
        this.heard.delete(id);
        this.nap.ring('fifo');
      };
      const close = await watchFifo(jobPaths(this.claim.root, id).leaseFifo, onEnd);
      this.heard.set(id, close);
      isNew = isNew || close !== undefined;
    }
    return isNew;
  }

  /** The event once; the place whenever it changed. */
  private tell(standing: Standing): void {
    const note = noteOf(standing);
    if (JSON.stringify(note) === JSON.stringify(this.note)) return;
    const isFirst = this.note === null;
    this.note = note;
    const fields = { ...note, max_live: this.claim.spec.max_live };
    if (isFirst) this.progress.note('queued', fields, { state: 'queued', queue: note });
    else this.progress.change({ queue: note });
  }

  /** The sign of life; a request to go, and a folder that is gone. */
  private listen(): () => void {
    const { paths } = this.claim;
    const look = (): void => {
      if (!exists(paths.folder)) this.why ??= 'state_vanished';
      else if (readCancel(paths)) this.why ??= 'canceled';
      if (this.why) this.stop.abort();
    };
    const lease = setInterval(() => {
      renewLease(paths);
      look();
    }, leaseMs);
    const onNudge = (): void => {
      look();
      this.nap.ring('told');
    };
    process.on('SIGURG', onNudge);
    look();
    return () => {
      clearInterval(lease);
      process.off('SIGURG', onNudge);
    };
  }

  private async end(): Promise<void> {
    if (this.why !== 'canceled') return;
    const { progress, claim } = this;
    progress.note('cancel_requested', { request: readCancel(claim.paths) ?? null }, { queue: null });
    const tree = { step: 'none' as const, ended: [], survivors: [] };
    const { concludeAsked } = await import('../jobs/conclude-asked.ts');
    await concludeAsked(claim, { reason: 'canceled', exit: undefined, tree, reconciled: false }, null);
    wakeBehind(claim.root, claim.spec, this.memory);
  }
}

/** The one before it; as the first all that are at work. */
function watchedOf({ ahead, atWork }: Standing): string[] {
  const before = ahead.at(-1);
  return before ? [before] : atWork.slice(0, queueHeard).map(({ id }) => id);
}

function noteOf({ ahead, atWork, place }: Standing): QueueNote {
  const before = ahead.at(-1);
  const behind = before ? [before] : atWork.slice(0, queueNamed).map(({ id }) => id);
  return { place, live: atWork.length, behind };
}
