// The life of a watch: look, remember, tell what is new, sleep until the next look - until the verdict, the bound, or a request to stop.
// Whatever is to be told stands in cursor.json before it is told, so that a worker may be killed at any moment. While it sleeps it costs
// nothing but a sign of life every five seconds.

import type { JobState } from '../core/job.ts';
import {
  drainMs,
  killSettleMs,
  toolGraceMs,
  watchPauseMs,
  watchRetry,
  watchSaveMs,
  watchTroubles,
} from '../core/limits.ts';
import type { WatchPart } from '../core/waiting.ts';
import { conclude } from '../jobs/conclude.ts';
import { treeOf } from '../jobs/tree.ts';
import { attempt } from '../jobs/watch-attempt.ts';
import { makeTools, type ToolPlace } from '../jobs/watch-tools.ts';
import { sealVerdict, storedVerdict, type WatchEnd } from '../jobs/watch-verdict.ts';
import { toEndText } from '../jobs/watch-words.ts';
import { isoNow, monotonicMs } from '../platform/clock.ts';
import { childEnvironment } from '../platform/env.ts';
import { type PidBaseline, takeBaseline } from '../platform/pid-baseline.ts';
import { type TerminateReport, terminate } from '../platform/process-tree.ts';
import { readCancel } from '../store/records.ts';
import { loadWatch } from '../watches/registry.ts';
import type { Watch } from '../watches/watch.ts';
import type { Claim } from './claim.ts';
import type { WorkerLog } from './main.ts';
import { makeNap } from './nap.ts';
import { Progress } from './progress.ts';
import { readMemory, writeMemory } from './watch-cursor.ts';
import { fold, type Memory, pauseAfter } from './watch-memory.ts';
import { listenForStops, type Stop } from './watch-stops.ts';

interface End {
  reason: WatchEnd['reason'] | Stop;
  detail: string | undefined;
}

const nothing: TerminateReport = { step: 'none', ended: [], survivors: [] };

export async function runWatch(claim: Claim, log: WorkerLog): Promise<void> {
  const part = claim.spec.watch as WatchPart;
  const watching = new Watching(claim, part, log);
  await watching.begin();
  // A worker that was killed in the middle of an attempt has left its programs; if cursor.json is lost, nothing says so.
  if (claim.generation > 1) await watching.sweep(toolGraceMs);
  const kind = await loadWatch(part.condition);
  const end = kind
    ? await watching.untilEnd(kind)
    : { reason: 'watch_error' as const, detail: `this release knows no condition ${part.condition}` };
  await watching.finish(end);
}

class Watching {
  private readonly claim: Claim;
  private readonly part: WatchPart;
  private readonly log: WorkerLog;
  private readonly progress: Progress;
  private memory: Memory;
  /** What existed before the first program of this attempt. */
  private baseline: PidBaseline | null = null;
  private saved = '';
  private savedAt = 0;

  constructor(claim: Claim, part: WatchPart, log: WorkerLog) {
    this.claim = claim;
    this.part = part;
    this.log = log;
    this.progress = new Progress(claim);
    this.memory = readMemory(claim.paths, part.start ?? null);
  }

  /** Who looks after it now, and what an earlier worker knew and did not live to tell. */
  async begin(): Promise<void> {
    const { generation, self, paths, spec } = this.claim;
    const stored = generation > 1 ? await storedVerdict(paths, spec.id) : undefined;
    if (stored) this.memory = { ...this.memory, ...stored };
    if (generation === 1 || this.claim.isReplacementTold)
      this.progress.step('claimed', 'claimed', { worker: self.pid });
    else this.progress.step('claimed', 'worker_replaced', { worker: self.pid, generation, baseline_reset: false });
    if (this.progress.state.started_at === null) this.progress.step('started', 'started', {}, { started_at: isoNow() });
    if (this.memory.telling.length > 0) this.tell();
    else if (generation > 1) this.progress.change(this.standing());
  }

  async untilEnd(kind: Watch): Promise<End> {
    const stop = new AbortController();
    let stopped: Stop | undefined;
    const release = listenForStops(this.claim, (reason) => {
      stopped ??= reason;
      stop.abort();
    });
    try {
      while (stopped === undefined && this.memory.end === null) await this.round(kind, stop.signal);
      // The first reason wins: a verdict that was written down stays one.
      if (this.memory.end) return this.memory.end;
      const { note } = this.memory;
      const detail = note.trouble ? `the last attempts failed: ${note.trouble}` : note.evidence;
      const reason = stopped ?? 'hard_timeout';
      if (reason !== 'hard_timeout' || !this.part.repeat || this.memory.key === null) return { reason, detail };
      this.memory = { ...this.memory, note: { ...note, watched_to_end: true } };
      return { reason, detail: toEndText(note, detail) };
    } finally {
      release();
    }
  }

  /** One look and the sleep after it. */
  private async round(kind: Watch, signal: AbortSignal): Promise<void> {
    const { part } = this;
    const nap = makeNap(signal);
    // Asked to be woken first, looked second: what changes in between is not missed.
    const stopEarly = this.early(kind, signal, nap.wake);
    try {
      const begun = monotonicMs();
      const answer = await attempt(kind, part.input, this.memory.cursor, {
        place: this.place(),
        attemptMs: part.attempt_ms,
        signal,
        onThrown: (error) => this.log(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`),
      });
      await this.sweepAttempt();
      if (answer === null) return;
      this.memory = fold(this.memory, answer, part);
      await this.seal();
      this.keep();
      if (this.memory.end) return;
      const done = monotonicMs();
      const pause = pauseAfter(this.memory, answer, part, watchRetry);
      const due =
        answer.kind === 'look' ? Math.max(begun + pause, done + Math.min(part.every_ms, watchPauseMs)) : done + pause;
      // Looks that something wakes take at most a twentieth of the time.
      await nap.until(due, Math.max(watchPauseMs, 20 * (done - begun)));
    } finally {
      stopEarly();
    }
  }

  private early(kind: Watch, signal: AbortSignal, wake: () => void): () => void {
    if (!kind.early) return () => undefined;
    try {
      return kind.early(
        this.part.input,
        wake,
        makeTools(this.place(), () => this.part.attempt_ms, signal),
      );
    } catch (error) {
      this.log(`cannot be woken early: ${String(error)}\n`);
      return () => undefined;
    }
  }

  private place(): ToolPlace {
    const { root, spec } = this.claim;
    const own = { id: spec.id, cwd: spec.cwd, mark: spec.mark };
    return {
      root,
      everyMs: this.part.every_ms,
      cwd: spec.cwd,
      environment: childEnvironment({ ...own, add: {}, remove: [] }),
      onRun: () => {
        this.baseline ??= takeBaseline();
        if (this.memory.hasRun) return;
        this.memory = { ...this.memory, hasRun: true };
        this.save();
      },
    };
  }

  /** So that whoever finds the verdict knows that it is ours. */
  private async seal(): Promise<void> {
    const { end, note } = this.memory;
    if (end) this.memory = { ...this.memory, seal: await sealVerdict(this.claim.spec.id, end, note) };
  }

  /** On disk before it is told; a look that changed nothing is counted now and then. */
  private keep(): void {
    const { telling, end, cursor, note } = this.memory;
    const isDue = monotonicMs() - this.savedAt >= watchSaveMs;
    const what = JSON.stringify([cursor, note.troubles, note.told, end]);
    if (what !== this.saved || isDue) this.save();
    this.saved = what;
    if (telling.length > 0) this.tell();
  }

  private save(): void {
    this.progress.unlessFull(() => writeMemory(this.claim.paths, this.memory));
    this.savedAt = monotonicMs();
  }

  private tell(): void {
    for (const { type, ...fields } of this.memory.telling) this.progress.note(type, fields, this.standing());
    this.memory = { ...this.memory, telling: [] };
  }

  /** What stands in the state. */
  private standing(): Partial<JobState> {
    const { note } = this.memory;
    if (note.troubles >= watchTroubles || note.alarm)
      return { watch: note, health: 'attention', attention_kind: 'task_attention' };
    return { watch: note, health: 'unknown', attention_kind: null };
  }

  /** What left the group of its program; the rest has ended with that. Only newer processes are looked at. */
  private async sweepAttempt(): Promise<void> {
    const { baseline } = this;
    this.baseline = null;
    if (baseline) await this.sweep(toolGraceMs, baseline);
  }

  /** What the attempts left behind; of those of an earlier worker only cursor.json could tell, and that may be lost. */
  async sweep(graceMs: number, baseline: PidBaseline | null = null): Promise<TerminateReport> {
    const { paths, spec, self, generation } = this.claim;
    if (generation === 1 && !this.memory.hasRun) return nothing;
    return terminate(treeOf(spec, paths, { worker: self, shim: null, child: null, baseline }), {
      graceMs,
      settleMs: killSettleMs,
    });
  }

  async finish({ reason, detail }: End): Promise<void> {
    const tree = await this.sweep(drainMs);
    if (reason === 'state_vanished') return;
    const { progress, claim } = this;
    if (reason === 'canceled') {
      progress.note('cancel_requested', { request: readCancel(claim.paths) ?? null });
      progress.step('stop_asked', 'stopping', { reason }, this.standing());
    } else progress.change(this.standing());
    conclude(claim, {
      reason,
      exit: undefined,
      tree,
      reconciled: false,
      watch: this.memory.note,
      warnings: progress.state.warnings,
      ...(detail === undefined ? {} : { detail }),
    });
  }
}
