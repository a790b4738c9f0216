// What the worker tells while the job runs: state.json (small, durable, every change of meaning), events, and snapshot.json
// (bounded, at most a few times a second).
import type { Reading, ToolCall } from '../backends/backend.ts';
import { errnoOf } from '../core/errors.ts';
import type { EventType } from '../core/events.ts';
import { excerpt, plainText, tail } from '../core/excerpt.ts';
import type { JobState, Lifecycle } from '../core/job.ts';
import { type LifecycleEvent, transition } from '../core/lifecycle.ts';
import { excerptBytes, textTailBytes, toolCalls } from '../core/limits.ts';
import { earlyState } from '../jobs/early-state.ts';
import { isoNow } from '../platform/clock.ts';
import { writeJson } from '../platform/files.ts';
import { type Journal, openJournal } from '../store/journal.ts';
import { readState, writeState } from '../store/records.ts';
import type { Claim } from './claim.ts';

const snapshotPauseMs = 300;

export class Progress {
  readonly journal: Journal;
  state: JobState;
  private readonly claim: Claim;
  private lifecycle: Lifecycle;
  private snapshotTimer: NodeJS.Timeout | undefined;
  private makeSnapshot: (() => Record<string, unknown>) | undefined;

  constructor(claim: Claim) {
    this.claim = claim;
    this.journal = openJournal(claim.paths, claim.spec);
    const read = readState(claim.paths);
    this.state = read.kind === 'ok' ? read.value : earlyState(claim.spec.id, claim.spec);
    this.lifecycle = ['queued', 'starting', 'running', 'stopping'].includes(this.state.state)
      ? (this.state.state as Lifecycle)
      : 'starting';
    // What an earlier worker did not live to tell.
    if (claim.generation > 1) this.tellWake();
  }

  /** A step of the lifecycle, with its event. */
  step(event: LifecycleEvent, type: EventType, fields: Record<string, unknown>, change: Partial<JobState> = {}): void {
    this.lifecycle = transition(this.lifecycle, event);
    this.note(type, fields, { ...change, ...(this.lifecycle === 'ended' ? {} : { state: this.lifecycle }) });
  }

  /** An event without a step. */
  note(type: EventType, fields: Record<string, unknown>, change: Partial<JobState> = {}): void {
    this.append(type, fields);
    this.state = { ...this.state, ...change, rev: this.state.rev + 1, seq: this.journal.seq };
    // The conversation id must outlive everything; the steps of a start need not.
    const sync = change.conversation !== undefined || type === 'stopping';
    this.unlessFull(() => writeState(this.claim.paths, this.state, { sync }));
  }

  /** The state alone; for what is told by an event that follows. */
  change(change: Partial<JobState>): void {
    this.state = { ...this.state, ...change, rev: this.state.rev + 1 };
    this.unlessFull(() => writeState(this.claim.paths, this.state, { sync: false }));
  }

  /** Write the snapshot soon; many calls become one write. */
  snapshot(make: () => Record<string, unknown>): void {
    this.makeSnapshot = make;
    this.snapshotTimer ??= setTimeout(() => this.flush(), snapshotPauseMs);
  }

  flush(): void {
    clearTimeout(this.snapshotTimer);
    this.snapshotTimer = undefined;
    const make = this.makeSnapshot;
    this.makeSnapshot = undefined;
    if (make) this.unlessFull(() => writeJson(this.claim.paths.snapshot, { at: isoNow(), ...make() }, { sync: false }));
  }

  /** An event of less weight: no state is written for it. */
  append(type: EventType, fields: Record<string, unknown>): void {
    this.unlessFull(() => this.journal.append(type, fields));
    this.state.seq = this.journal.seq;
    if (fields.wake !== undefined) this.tellWake();
  }

  private tellWake(): void {
    this.claim.onWake?.((told) => this.append('notified', told));
  }

  /** On a full disk the job goes on; what is known stays in memory and is told at the end, from the space set aside. */
  unlessFull(write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '')) throw error;
    }
  }
}

/** The bounded picture of an agent's stream. Control sequences are removed; what was cut is said. */
export function agentSnapshot(reading: Reading): Record<string, unknown> {
  const latest = tail(plainText(reading.answer || reading.text), textTailBytes);
  return {
    tools: reading.tools.slice(-toolCalls).map(toolSnapshot),
    tool_count: reading.toolCount,
    text: latest.text,
    text_truncated: latest.truncated,
    final: reading.final,
    conversation_id: reading.conversationId,
    model: reading.model,
  };
}

export function toolSnapshot(call: ToolCall): Record<string, unknown> {
  const bounded = (text: string): string => excerpt(plainText(text).replace(/\s+/g, ' ').trim(), excerptBytes);
  return {
    n: call.n,
    name: excerpt(plainText(call.name), 80),
    input: bounded(call.input),
    output: call.output === null ? null : bounded(call.output),
    status: call.status,
    started_at: call.started_at,
    ended_at: call.ended_at,
  };
}
