// What `observe` prints: one JSON document of at most 8 KiB in every state. Progress while running, metadata and pointers when
// finished, never report text. Reading consumes nothing.
import type { JobEvent } from '../core/events.ts';
import { excerpt, plainText, plainValue, tail } from '../core/excerpt.ts';
import type { AttentionKind, Health, Spec } from '../core/job.ts';
import { leaseStaleMs, observeBytes, progressingMs, tailBytes, textTailBytes } from '../core/limits.ts';
import { isoOf, nowMs } from '../platform/clock.ts';
import { readJson, readRange } from '../platform/files.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { readEvents } from '../store/journal.ts';
import type { StateRoot } from '../store/layout.ts';
import { isContinuable } from './continuable.ts';
import { nextCommands } from './next-commands.ts';
import { timerFacts } from './timer-facts.ts';
import { type Condition, conditionOf, isEnded, type View } from './view.ts';

const recentEvents = 5;
const eventsAtMost = 50;

export function observation(
  view: View,
  options: { afterSeq: number | null; root: StateRoot },
): Record<string, unknown> {
  const { state, spec, paths } = view;
  const condition = conditionOf(view);
  const after = options.afterSeq ?? Math.max(0, state.seq - recentEvents);
  const journal = readEvents(paths, after, eventsAtMost);
  const document: Record<string, unknown> = {
    id: view.id,
    kind: spec?.kind ?? null,
    verb: spec?.verb ?? null,
    owner: spec?.owner ?? null,
    label: spec?.label === null || spec?.label === undefined ? null : excerpt(plainText(spec.label), 120),
    ...staffFacts(spec),
    ...(spec?.timer ? { timer: timerFacts(spec.timer) } : {}),
    state: state.state,
    ...healthOf(view, condition),
    supervision: condition,
    rev: state.rev,
    created_at: state.created_at,
    started_at: state.started_at,
    ended_at: state.ended_at,
    duration_ms: state.duration_ms,
    age_ms: Math.max(0, nowMs() - Date.parse(state.created_at)),
    deadline_ms: spec?.deadline_ms ?? null,
    exit_code: state.exit_code,
    signal: state.signal,
    error: state.error === null ? null : { ...state.error, message: excerpt(plainText(state.error.message), 400) },
    warnings: state.warnings
      .slice(0, 5)
      .map((one) => ({ code: one.code, message: excerpt(plainText(one.message), 200) })),
    conversation: state.conversation,
    files: filesOf(view),
    next: nextFor(view, condition, options.root),
  };
  if (!isEnded(state)) document.progress = progressOf(view);
  // Whoever wrote into the folder: only plain and bounded text leaves here. Paths and commands are ours and stay whole.
  const { files, next, progress, ...facts } = document;
  const plain = plainValue(facts, 400) as Record<string, unknown>;
  const events = journal.events.map((event) => plainValue(event, 400) as JobEvent);
  return bound(
    { ...plain, files, next, ...(progress === undefined ? {} : { progress: plainValue(progress, textTailBytes + 3) }) },
    events,
    journal.more,
    after,
  );
}

/** Which agent, with which rights and model. Null for a job without one. */
export function staffFacts(spec: Spec | null): {
  backend: string | null;
  profile: string | null;
  model: string | null;
} {
  const { staff } = spec ?? {};
  if (!staff) return { backend: null, profile: null, model: null };
  const short = (text: unknown): string => excerpt(plainText(String(text)), 120);
  return {
    backend: short(staff.custom?.name ?? staff.backend),
    profile: short(staff.profile),
    model: staff.model ? short(staff.model) : null,
  };
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

/** The judgement beside the state, as this reader sees it now. */
export function healthOf(
  view: View,
  condition: Condition,
): { health: Health; attention_kind: AttentionKind; reason?: string } {
  const attention = (reason: string) => ({
    health: 'attention' as const,
    attention_kind: 'monitor_attention' as const,
    reason,
  });
  switch (condition) {
    case 'unclaimed':
      return attention(
        `the worker died before it started the command (${view.launch?.generation ?? 1} tried); the next wait starts a new one; see ${view.paths.workerLog}`,
      );
    case 'orphaned':
      return attention(
        'the worker is gone; the command runs on under its shim, and the next wait attaches a new worker',
      );
    case 'armed':
      if (view.spec?.notify && view.seen.worker === 'dead')
        return attention('its worker is gone; whoever looks first when it is due has the notifier told');
      break;
    case 'over':
    case 'lost':
    case 'host_restarted':
    case 'never_started':
      return attention('it is over, and its end could not be stored from here');
    case 'supervised':
    case 'unseen':
      if (view.leaseAgeMs !== null && view.leaseAgeMs > leaseStaleMs)
        return attention(`no sign of life of the worker for ${Math.round(view.leaseAgeMs / 1000)} s`);
      if (isMoving(view)) return { health: 'progressing', attention_kind: null };
      break;
    default:
  }
  return { health: view.state.health, attention_kind: view.state.attention_kind };
}

/** Of a command's output nothing can be concluded; an agent tells what it does. */
function isMoving({ spec, state, paths }: View): boolean {
  if (!spec?.staff || state.state !== 'running') return false;
  const output = factsOf(paths.output);
  return output !== undefined && output.size > 0 && nowMs() - output.modifiedMs < progressingMs;
}

function nextFor(view: View, condition: Condition, root: StateRoot): Record<string, string> {
  if (condition === 'damaged') return { doctor: nextCommands.doctor(view.id, root.option) };
  if (!isEnded(view.state))
    return { wait: nextCommands.wait(view.id, root.option), cancel: nextCommands.cancel(view.id, root.option) };
  const next: Record<string, string> = { result: nextCommands.result(view.id, root.option) };
  if (view.state.state === 'done') return next;
  if (isContinuable(view.paths, view.state)) next.continue = nextCommands.continue(view.id, root.option);
  next.restart = nextCommands.restart(view.id, root.option);
  return next;
}

export function progressOf(view: View): Record<string, unknown> {
  const { paths, spec } = view;
  const [output, error] = [factsOf(paths.output), factsOf(paths.error)];
  const newest = Math.max(
    output && output.size > 0 ? output.modifiedMs : 0,
    error && error.size > 0 ? error.modifiedMs : 0,
  );
  const facts = {
    stdout_bytes: output?.size ?? 0,
    stderr_bytes: error?.size ?? 0,
    last_output_at: newest > 0 ? isoOf(newest) : null,
    last_output_age_ms: newest > 0 ? Math.max(0, Math.round(nowMs() - newest)) : null,
  };
  // A program of the user's own writes no stream: its stdout is the answer.
  if (spec?.staff && !spec.staff.custom) {
    const snapshot = readJson(paths.snapshot);
    return snapshot.kind === 'ok'
      ? { ...facts, ...snapshot.value }
      : { ...facts, tools: [], text: '', text_truncated: false };
  }
  const bytes = readRange(paths.output, -tailBytes, tailBytes)?.bytes ?? Buffer.alloc(0);
  const latest = tail(plainText(bytes.toString('utf8')), textTailBytes);
  return { ...facts, text: latest.text, text_truncated: latest.truncated || (output?.size ?? 0) > tailBytes };
}

/** At most 8 KiB: events are left out from the newest on (the cursor says where to go on), then the text shrinks. */
function bound(
  document: Record<string, unknown>,
  events: JobEvent[],
  isMore: boolean,
  after: number,
): Record<string, unknown> {
  let kept = events;
  const make = (): Record<string, unknown> => ({
    ...document,
    events: kept,
    next_seq: kept.at(-1)?.seq ?? after,
    more: isMore || kept.length < events.length,
  });
  const size = (): number => Buffer.byteLength(JSON.stringify(make())) + 1;
  while (size() > observeBytes && kept.length > 1) kept = kept.slice(0, -1);
  if (size() > observeBytes && kept[0]) {
    const { seq, at, job, owner, type } = kept[0];
    kept = [{ seq, at, job, owner, type, truncated: true }];
  }
  const progress = document.progress as { text?: string; tools?: unknown[] } | undefined;
  for (let limit = textTailBytes; progress && size() > observeBytes && limit > 64; limit = Math.floor(limit / 2)) {
    document.progress = { ...progress, text: tail(progress.text ?? '', limit).text, text_truncated: true };
  }
  if (progress && size() > observeBytes) document.progress = { tools_truncated: true, text_truncated: true };
  for (const name of ['files', 'warnings', 'label', 'next', 'error', 'owner', 'model'])
    if (size() > observeBytes) delete document[name];
  return make();
}
