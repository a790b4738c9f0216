// What `observe` prints: one JSON document of at most 8 KiB in every state. Progress while running, metadata and pointers when
// finished, never report text. Reading consumes nothing. Of a wait that is over before the job it is the answer too, with what woke it.
import type { JobEvent } from '../core/events.ts';
import { excerpt, plainText, plainValue } from '../core/excerpt.ts';
import { textTailBytes } from '../core/limits.ts';
import type { GateReport } from '../core/loop.ts';
import { ageOf } from '../core/recorded-time.ts';
import { isoNow, nowMs } from '../platform/clock.ts';
import { exists } from '../platform/folders.ts';
import { readEvents } from '../store/journal.ts';
import type { StateRoot } from '../store/layout.ts';
import { collectedBy, lastCollectedSeq } from './collected.ts';
import { isContinuable } from './continuable.ts';
import { goingOn } from './going-on.ts';
import { healthOf } from './health-seen.ts';
import { nextCommands } from './next-commands.ts';
import { boundDocument, boundEvent, type EventPage } from './observation-size.ts';
import { checkpointOf, handbackSeen, livenessSeen, queueSeen, timerSeen, watchSeen } from './parts-seen.ts';
import { progressOf } from './progress-seen.ts';
import { staffFacts } from './staff-facts.ts';
import { type Condition, conditionOf, isEnded, type View } from './view.ts';
import type { WakeSeen } from './wake-watch.ts';

const recentEvents = 5;
const eventsAtMost = 50;

export interface Observing {
  root: StateRoot;
  /** Only events after it; null: the newest few. */
  afterSeq: number | null;
  /** What a wait says first: why it is over, and the command that waits on; `cursor` when it asked for events. */
  waited?: { wake: 'soft_timeout' | WakeSeen; next: string; cursor?: number | undefined };
}

export function observation(view: View, options: Observing): Record<string, unknown> {
  const { state, spec } = view;
  const condition = conditionOf(view);
  const { waited } = options;
  const facts: Record<string, unknown> = {
    id: view.id,
    kind: spec?.kind ?? null,
    verb: spec?.verb ?? null,
    owner: spec?.owner ?? null,
    label: spec?.label === null || spec?.label === undefined ? null : excerpt(plainText(spec.label), 120),
    ...(spec?.milestone ? { milestone: spec.milestone } : {}),
    ...(state.loop ? { loop: state.loop } : {}),
    ...(state.gate ? { gate: gateFacts(state.gate) } : {}),
    ...staffFacts(spec),
    state: state.state,
    ...healthOf(view, condition),
    checkpoint: checkpointOf(state),
    ...livenessFacts(view),
    watch: watchSeen(view),
    timer: timerSeen(view),
    ...queueFacts(view),
    ...handbackFacts(view),
    ...goingOnFacts(view),
    supervision: condition,
    rev: state.rev,
    now: isoNow(),
    created_at: state.created_at,
    started_at: state.started_at,
    ended_at: state.ended_at,
    duration_ms: state.duration_ms,
    age_ms: ageOf(state.created_at, nowMs()),
    deadline_ms: spec?.deadline_ms ?? null,
    exit_code: state.exit_code,
    signal: state.signal,
    // Of a detached task: its launcher's word.
    ...(state.task_status === undefined
      ? {}
      : { task_status: state.task_status, task_exit_code: state.task_exit_code ?? 'unknown' }),
    error: state.error === null ? null : { ...state.error, message: excerpt(plainText(state.error.message), 400) },
    warnings: state.warnings
      .slice(0, 5)
      .map((one) => ({ code: one.code, message: excerpt(plainText(one.message), 200) })),
    conversation: state.conversation,
    collected: collectedBy(view),
    last_collected_seq: lastCollectedSeq(view),
  };
  const page = readPage(view, options);
  // Without a cursor of the reader's own nobody can say what was seen of the older ones.
  const known = options.afterSeq === null ? null : (page.events.at(-1)?.seq ?? page.after);
  const next = nextFor(view, condition, options.root, known);
  if (waited && next.wait !== undefined) next.wait = waited.next;
  const progress = isEnded(state) ? null : progressOf(view);
  // Whoever wrote into the folder: only plain and bounded text leaves here. Paths and commands are ours and stay whole. A timer's message
  // and what else is longer was bounded where it was read.
  const document: Record<string, unknown> = {
    ...(waited ? headOf(waited) : {}),
    ...(plainValue(facts, longest) as Record<string, unknown>),
    files: filesOf(view),
    next,
    ...(progress === null ? {} : { progress: plainValue(progress, textTailBytes + 3) }),
  };
  if (waited && waited.wake !== 'soft_timeout') return boundDocument(document, null);
  const bounded = boundDocument(document, page);
  // Events that found no room are not known yet.
  const told = Number(bounded.next_seq);
  if (known !== null && told < known && bounded.next && !waited)
    bounded.next = nextFor(view, condition, options.root, told);
  return bounded;
}

function readPage({ paths, state }: View, { afterSeq }: Observing): EventPage {
  const after = afterSeq ?? Math.max(0, state.seq - recentEvents);
  const { events, more } = readEvents(paths, after, eventsAtMost);
  return { events: events.map((event) => plainValue(event, 400) as JobEvent), isMore: more, after };
}

/** No single text of a document is longer. */
const longest = 1024;

/** Why a wait is over, first of all. */
function headOf({ wake, cursor }: NonNullable<Observing['waited']>): Record<string, unknown> {
  if (wake === 'soft_timeout') return { wake, ...(cursor === undefined ? {} : { next_seq: cursor }) };
  const event = boundEvent(plainValue(wake.event, 400) as JobEvent);
  return { wake: wake.wake, event, next_seq: wake.nextSeq, pending_events: wake.pending, skipped: wake.skipped };
}

/** Only of a job with a queue: where it stands, or since when its limit counts. */
function queueFacts(view: View): Record<string, unknown> {
  const queue = queueSeen(view);
  return { ...(queue ? { queue } : {}), ...(view.turn ? { turn_at: view.turn.at } : {}) };
}

/** Of an agent that runs; why stands as the reason beside its health. */
function livenessFacts({ spec, state }: View): Record<string, unknown> {
  if (!spec?.staff) return {};
  const { reason: _, ...seen } = livenessSeen(state) ?? { reason: null };
  return { liveness: isEnded(state) || !('word' in seen) ? null : seen };
}

/** Only of a job that has a hand-back folder. */
function handbackFacts(view: View): Record<string, unknown> {
  const handback = handbackSeen(view);
  return handback === null ? {} : { handback };
}

/** What must be known before a job that asks something is started again. */
function goingOnFacts(view: View): Record<string, unknown> {
  const on = goingOn(view, []);
  return on === null ? {} : { going_on: on.words };
}

/** Where things are; null for what an ended job does not keep (a clean success takes its stream away). */
function filesOf({ paths, state }: View): Record<string, string | null> {
  const files = {
    result: paths.result,
    output: paths.output,
    error: paths.error,
    events: paths.events,
    worker_log: paths.workerLog,
  };
  if (!isEnded(state)) return files;
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [name, exists(file) ? file : null]));
}

/** `after`: the reader knows all events up to it. */
function nextFor(view: View, condition: Condition, root: StateRoot, after: number | null): Record<string, string> {
  if (condition === 'damaged') return { doctor: nextCommands.doctor(view.id, root.option) };
  if (!isEnded(view.state))
    return {
      wait: nextCommands.waitOn(view.id, view.spec, root.option, after),
      cancel: nextCommands.cancel(view.id, root.option),
    };
  const next: Record<string, string> = { result: nextCommands.result(view.id, root.option) };
  if (view.state.state === 'done') return { ...next, ...goingOn(view, root.option)?.next };
  if (isContinuable(view.paths, view.state)) next.continue = nextCommands.continue(view.id, root.option);
  next.restart = nextCommands.restart(view.id, root.option);
  return next;
}

/** Its whole answer is in `result --json`. */
function gateFacts({ verdict, reason, detail, failed_checks, unanswered }: GateReport): Record<string, unknown> {
  return {
    verdict,
    reason,
    detail: excerpt(plainText(detail), 240),
    failed_checks,
    unanswered: unanswered.slice(0, 20),
  };
}
