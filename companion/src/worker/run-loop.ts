// The life of an unattended loop: one step after the other (loop/steps.ts), each on disk and told before it is done, until its end, its limit or
// a request to stop. What it started is ended with it when it is broken off; when only its worker is killed, its jobs run on and the next
// worker goes on with them.

import { FaultError, messageOf } from '../core/errors.ts';
import type { JobState } from '../core/job.ts';
import { drainMs, killSettleMs, toolGraceMs } from '../core/limits.ts';
import type { LoopPart } from '../core/loop.ts';
import { conclude } from '../jobs/conclude.ts';
import { treeOf } from '../jobs/tree.ts';
import { loopPlace } from '../loop/place.ts';
import { noteOf, type Position, readPosition, writePosition } from '../loop/position.ts';
import { loopReport } from '../loop/report.ts';
import { advance, type Hands, type LoopEnd, LoopRefusal } from '../loop/steps.ts';
import { isoNow } from '../platform/clock.ts';
import { type TerminateReport, terminate } from '../platform/process-tree.ts';
import { readCancel } from '../store/records.ts';
import type { Claim } from './claim.ts';
import { makeCli } from './loop-cli.ts';
import { makeHands } from './loop-hands.ts';
import type { WorkerLog } from './main.ts';
import { Progress } from './progress.ts';
import { listenForStops, type Stop } from './watch-stops.ts';

export async function runLoop(claim: Claim, log: WorkerLog): Promise<void> {
  const part = claim.spec.loop as LoopPart;
  const progress = new Progress(claim);
  begin(claim, progress);
  // What an earlier worker was in the middle of is ended, and done again: every action may be.
  if (claim.generation > 1) await sweep(claim, toolGraceMs);
  const stop = new AbortController();
  let stopped: Stop | undefined;
  const release = listenForStops(claim, (reason) => {
    stopped ??= reason;
    stop.abort();
  });
  const place = loopPlace(part.folder, { folder: claim.root, option: claim.spec.state_option });
  const hands = makeHands(claim, part, place, stop.signal);
  const looping = new Looping(claim, part, hands, progress);
  try {
    const end = await looping
      .untilEnd(() => stopped !== undefined)
      .catch((error: unknown) => {
        if (stopped !== undefined) return undefined;
        if (error instanceof LoopRefusal) return refused(error.code, error.message);
        if (error instanceof FaultError) return refused('state_damaged', error.message);
        log(`${messageOf(error)}\n`);
        throw error;
      });
    release();
    await finish(claim, part, progress, looping.position, end, stopped);
  } finally {
    release();
  }
}

function refused(code: 'nogo' | LoopRefusal['code'], message: string): LoopEnd {
  return { end: 'failed', error: { code, message }, detail: message };
}

function begin({ generation, isReplacementTold, self }: Claim, progress: Progress): void {
  if (generation === 1 || isReplacementTold) progress.step('claimed', 'claimed', { worker: self.pid });
  else progress.step('claimed', 'worker_replaced', { worker: self.pid, generation, baseline_reset: false });
  if (progress.state.started_at === null) progress.step('started', 'started', {}, { started_at: isoNow() });
}

class Looping {
  position: Position;
  private readonly claim: Claim;
  private readonly part: LoopPart;
  private readonly hands: Hands;
  private readonly progress: Progress;

  constructor(claim: Claim, part: LoopPart, hands: Hands, progress: Progress) {
    this.claim = claim;
    this.part = part;
    this.hands = hands;
    this.progress = progress;
    this.position = readPosition(claim.paths);
  }

  /** Undefined when it was stopped from outside. */
  async untilEnd(isStopped: () => boolean): Promise<LoopEnd | undefined> {
    this.tell();
    while (!isStopped()) {
      const next = await advance(this.position, this.part, this.hands);
      if ('over' in next) return next.over;
      this.position = next.at;
      writePosition(this.claim.paths, next.at);
      this.tell();
    }
    return undefined;
  }

  /** Once for each step and each job that it waits for. */
  private tell(): void {
    const note = noteOf(this.position);
    if (JSON.stringify(this.progress.state.loop ?? null) === JSON.stringify(note)) return;
    // An event's own `job` is the loop.
    const { job, ...step } = note;
    this.progress.note('step', { ...step, waits_for: job }, { loop: note });
  }
}

async function finish(
  claim: Claim,
  part: LoopPart,
  progress: Progress,
  position: Position,
  end: LoopEnd | undefined,
  stopped: Stop | undefined,
): Promise<void> {
  if (!end && stopped !== 'state_vanished') await endChildren(claim, part, position);
  const tree = await sweep(claim, drainMs);
  if (stopped === 'state_vanished') return;
  const standing: Partial<JobState> = { loop: noteOf(position) };
  if (!end && stopped === 'canceled') {
    progress.note('cancel_requested', { request: readCancel(claim.paths) ?? null });
    progress.step('stop_asked', 'stopping', { reason: stopped }, standing);
  } else progress.change(standing);
  const place = loopPlace(part.folder, { folder: claim.root, option: claim.spec.state_option });
  const text = loopReport(place, position, end);
  conclude(claim, {
    reason: end ? (end.end === 'stopped' ? 'canceled' : 'judged') : (stopped ?? 'canceled'),
    exit: undefined,
    tree,
    reconciled: false,
    warnings: progress.state.warnings,
    own: { error: end?.error ?? null, loop: noteOf(position), text },
  });
}

/** Broken off: the agent and the gate that it waits for go first. */
async function endChildren(claim: Claim, part: LoopPart, { job, gate, judge, step }: Position): Promise<void> {
  const { cli } = makeCli(claim, part.folder);
  const live = step === 'gate' ? (gate ?? judge) : ['execute', 'remediate'].includes(step) ? job : null;
  if (live !== null) await cli({ words: ['cancel', live] });
}

async function sweep({ spec, paths, self }: Claim, graceMs: number): Promise<TerminateReport> {
  const tree = treeOf(spec, paths, { worker: self, shim: null, child: null });
  return terminate(tree, { graceMs, settleMs: killSettleMs });
}
