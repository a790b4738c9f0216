// The turn of a job in its queue (`--max-live`): its worker waits here before anything of the job is started. It sleeps on the signs of life of
// the job before it, or, as the first, of those at work; whoever takes a turn wakes those behind it, and a slow look stands behind both. The
// turn is taken under the queue's lock and stands on disk before anything else happens: a worker that comes later goes on from there.
import { errnoOf, FaultError, messageOf } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import type { Turn } from '../core/job.ts';
import { excerptBytes, leaseMs, lockWaitMs, queueLookMs, queueLookPerJobMs } from '../core/limits.ts';
import { specAtTurn } from '../jobs/bound.ts';
import { makeNap } from '../jobs/nap.ts';
import { hindranceOf, lookAtQueue, makeQueueMemory, type Standing, workerOf } from '../jobs/queue.ts';
import { wakeBehind } from '../jobs/queue-wake.ts';
import { isoNow, isoOf, monotonicMs, nowMs } from '../platform/clock.ts';
import { removeFile } from '../platform/files.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { bootId } from '../platform/identity.ts';
import { holderOf, withLock } from '../platform/lock.ts';
import { jobPaths, rootPaths } from '../store/layout.ts';
import { readCancel } from '../store/records.ts';
import { readTurn, writeTurn } from '../store/turn.ts';
import { type Claim, renewLease } from './claim.ts';
import { Holdup } from './holdup.ts';
import { noteTrouble } from './note-trouble.ts';
import { Progress } from './progress.ts';
import { QueueSigns } from './queue-signs.ts';
import { isOver, QueueVoice } from './queue-voice.ts';

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
  private readonly voice: QueueVoice;
  private readonly signs: QueueSigns;
  private readonly memory = makeQueueMemory();
  private readonly stop = new AbortController();
  private readonly nap = makeNap<Why>(this.stop.signal);
  private readonly since = monotonicMs();
  private readonly holdup = new Holdup();
  /** A turn was written, and does not count. */
  private isRefused = false;
  private why: 'canceled' | 'state_vanished' | undefined;

  constructor(claim: Claim) {
    this.claim = claim;
    this.progress = new Progress(claim);
    this.voice = new QueueVoice(claim, this.progress);
    this.signs = new QueueSigns(claim.root, () => this.nap.ring('fifo'));
  }

  async untilTurn(): Promise<Turn | undefined> {
    const release = this.listen();
    const { progress, claim } = this;
    if (claim.generation > 1) {
      progress.note('worker_replaced', { worker: claim.self.pid, generation: claim.generation, baseline_reset: false });
      claim.isReplacementTold = true;
    }
    try {
      const stopped = new Promise<void>((resolve) => this.stop.signal.addEventListener('abort', () => resolve()));
      let turn: Turn | undefined;
      // What is done for others may take long; the request to go is answered at once.
      for (let quiet = quickMs.length; !turn && !this.stop.signal.aborted; ) {
        const round = this.round(quiet)
          .catch((error: unknown) => this.waitOut(error))
          .then((told) => ({ told }));
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
      this.signs.close();
      this.stop.abort();
    }
  }

  /** One look, what follows from it, and the sleep until the next. */
  private async round(quiet: number): Promise<{ turn?: Turn | undefined; isRung: boolean }> {
    const { root, spec } = this.claim;
    if (this.isRefused) this.takeBack();
    if (isOver(this.claim.paths)) {
      this.stop.abort();
      return { isRung: false };
    }
    let standing = await lookAtQueue(root, spec, this.memory);
    // Listened to first, looked at second: what changes in between is not missed.
    while (await this.signs.hear(standing)) standing = await lookAtQueue(root, spec, this.memory);
    if (await this.care(standing)) standing = await lookAtQueue(root, spec, this.memory);
    if (this.stop.signal.aborted) return { isRung: false };
    if (standing.mayGo) {
      const turn = await this.take();
      if (turn) return { turn, isRung: true };
    } else await this.voice.tell(standing, hindranceOf(root, standing, this.memory));
    const live = standing.ahead.length + standing.atWork.length;
    const before = standing.ahead.at(-1);
    const isAlone = before !== undefined && workerOf(jobPaths(root, before)) === 'dead';
    const slow = isAlone || standing.mayGo ? 1000 : Math.max(queueLookMs, live * queueLookPerJobMs);
    const why = await this.nap.sleep(quickMs[quiet] ?? slow);
    return { isRung: why.includes('fifo') };
  }

  /** A disk, a key, a permission that is gone may come back; the last of a queue has nobody to bring a new worker. */
  private async waitOut(error: unknown): Promise<{ turn?: Turn | undefined; isRung: boolean }> {
    const isBusy = error instanceof FaultError && error.code === 'busy';
    if (!isBusy) {
      noteTrouble(this.claim.paths, error);
      const own = this.isRefused ? undefined : readTurn(this.claim.paths, this.claim.spec.id);
      if (own) return { turn: own, isRung: true };
      const cause = plainText(messageOf(error)).slice(0, excerptBytes);
      // What cannot be written now is told by a later look.
      await this.voice.tellHeld(`it cannot take its turn yet, and tries again: ${cause}`).catch(() => undefined);
    }
    await this.nap.sleep(queueLookMs);
    return { isRung: false };
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

  /** Only one at a time looks and decides. Whoever holds the lock and does nothing is passed: it finds that before it begins anything. */
  private async take(): Promise<Turn | undefined> {
    const { root, paths } = this.claim;
    const { queueLock } = rootPaths(root);
    const act = (isHeld: () => boolean) => withLock(paths.lock, () => this.takeAlone(isHeld));
    try {
      const turn = await withLock(queueLock, act, lockWaitMs, (holder) => this.holdup.mayPass(holder));
      this.holdup.forget();
      return turn;
    } catch (error) {
      const isBusy = error instanceof FaultError && error.code === 'busy';
      // Somebody else is at it, or the disk is full: not now.
      if (isBusy) await this.voice.tellHeld(this.holdup.note(holderOf(queueLock)));
      else if (!['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '')) throw error;
      return undefined;
    }
  }

  /** Under both locks: nobody else takes a turn, and nobody ends this job meanwhile. */
  private async takeAlone(isHeld: () => boolean): Promise<Turn | undefined> {
    const { root, spec, paths } = this.claim;
    const { mayGo, atWork } = await lookAtQueue(root, spec, this.memory);
    if (!mayGo || this.stop.signal.aborted || isOver(this.claim.paths) || readCancel(paths)) return undefined;
    const files = await this.files();
    const turn: Turn = { at: isoNow(), boot_id: bootId(), mono_ms: monotonicMs(), files };
    this.isRefused = true;
    writeTurn(paths, spec.id, turn);
    // Whoever passed us counts this turn, or was there before it.
    if (!isHeld()) {
      this.takeBack();
      return undefined;
    }
    this.isRefused = false;
    const fields = { waited_ms: monotonicMs() - this.since, live: atWork.length + 1, max_live: spec.max_live };
    this.progress.note('turn', fields, { queue: null });
    wakeBehind(root, spec, this.memory);
    return turn;
  }

  private takeBack(): void {
    removeFile(this.claim.paths.turn);
    this.isRefused = false;
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
    const { claim } = this;
    const { endQueued } = await import('../jobs/end-queued.ts');
    for (let isDone = false; !isDone && exists(claim.paths.folder); )
      isDone = await endQueued(claim.root, claim.spec.id);
    wakeBehind(claim.root, claim.spec, this.memory);
  }
}
