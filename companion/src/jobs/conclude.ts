// The end of a job, published in one order: payload, event, state, then the active marker goes. The worker calls this, and so does
// a reader that settles a job nobody supervises any more (under the job's lock). An outcome is published once; whoever comes
// later leaves a `late_evidence` event.

import type { Reading } from '../backends/backend.ts';
import { formatDuration } from '../core/duration.ts';
import { errnoOf, messageOf } from '../core/errors.ts';
import type { ExitRecord, JobState, OutputNote, Spec, Warning } from '../core/job.ts';
import { type EndReason, judgeEnd } from '../core/outcome.ts';
import { signalOfExit } from '../core/signals.ts';
import { isoNow, isoOf } from '../platform/clock.ts';
import { removeFile, writeFile, writeJson } from '../platform/files.ts';
import { factsOf, listNames } from '../platform/folders.ts';
import type { TerminateReport } from '../platform/process-tree.ts';
import { signalNumbers } from '../platform/signals.ts';
import { openJournal, readEvents } from '../store/journal.ts';
import type { JobPaths } from '../store/layout.ts';
import { logSize } from '../store/output-log.ts';
import { readCancel, readState, readStoredState, writeState } from '../store/records.ts';
import { backendOf } from './replay.ts';
import { makeDeliverable } from './report.ts';
import { endStaff, type StaffEnd } from './staff-end.ts';
import { isTidy, terminalRecord } from './terminal-record.ts';
import { earlyState, isEnded } from './view.ts';
import type { WorkspaceSnapshot } from './workspace/types.ts';

export interface JobEnding {
  reason: EndReason;
  exit: ExitRecord | undefined;
  /** What had to be ended: the tree after a reason of ours, left-over processes after a normal end. */
  tree: TerminateReport;
  /** True when a reader settles it. */
  reconciled: boolean;
  reading?: Reading | undefined;
  /** The worktree before the start, as the worker remembers it. */
  before?: WorkspaceSnapshot | undefined;
  omitted?: { stdout: OutputNote; stderr: OutputNote } | undefined;
  warnings?: Warning[];
  detail?: string;
}

export function conclude(job: { paths: JobPaths; spec: Spec }, ending: JobEnding): JobState {
  const { paths, spec } = job;
  const read = readState(paths);
  const before = read.kind === 'ok' ? read.value : earlyState(spec.id, spec);
  const journal = openJournal(paths, spec);
  if (isEnded(before)) {
    journal.append('late_evidence', { reason: ending.reason, exit_code: ending.exit?.exit_code ?? null });
    return before;
  }
  const { state, staff } = makeState(job, before, ending);
  try {
    withReserve(paths, () => publish(job, state, staff, ending, journal));
  } catch (error) {
    if (!isFull(error)) throw error;
    // The payload does not fit: the outcome and the exit code still have to be told.
    state.state = 'failed';
    state.error = {
      code: 'output_unstorable',
      message: `the result cannot be stored: no space left in ${paths.folder}`,
    };
    withReserve(paths, () => finish(paths, state));
  }
  return state;
}

function publish(
  job: { paths: JobPaths; spec: Spec },
  state: JobState,
  staff: StaffEnd | undefined,
  ending: JobEnding,
  journal: ReturnType<typeof openJournal>,
): void {
  const { paths, spec } = job;
  const cancel = readCancel(paths);
  writeFile(
    paths.result,
    madeSafely(state, staff, () =>
      makeDeliverable({
        spec,
        paths,
        state,
        staff,
        tree: ending.tree,
        cancel,
        isPlain: backendOf(spec)?.answerFrom === 'stdout',
      }),
    ),
  );
  // Not forced to the disk: everything in it stands in the state too, and a waiter waits for this.
  writeJson(paths.resultRecord, terminalRecord(spec, paths, state, ending.tree, staff), { sync: false });
  // A worker that died between this event and the state has told the end already.
  if (readEvents(paths, journal.seq - 1, 1).events[0]?.type !== 'ended') {
    const { exit_code, error, reconciled } = state;
    journal.append('ended', { state: state.state, exit_code, error, reconciled });
  }
  state.seq = journal.seq;
  finish(paths, state);
  if (isTidy(spec, state)) for (const file of [paths.output, paths.snapshot]) removeFile(file);
}

/** A report that cannot be made must not keep the end from being published. */
function madeSafely(
  state: JobState,
  staff: StaffEnd | undefined,
  make: () => string | Uint8Array,
): string | Uint8Array {
  try {
    return make();
  } catch (error) {
    if (state.state === 'done' && staff && staff.answer !== null) return staff.answer;
    const reason = state.error ? `${state.error.code}: ${state.error.message}` : state.state;
    return `# ${state.id}: ${state.state}\n\n${reason}\n\nThe report could not be made: ${messageOf(error)}\n`;
  }
}

function finish(paths: JobPaths, state: JobState): void {
  writeState(paths, state);
  removeFile(paths.marker);
  // What only a running job needs; a FIFO that stays makes copies of the worktree stumble.
  const passing = [paths.reserve, paths.leaseFifo, paths.aliveFifo, paths.limitFifo];
  const torn = listNames(paths.folder).filter((name) => /^\..*\.tmp$/.test(name));
  for (const file of [...passing, ...torn.map((name) => `${paths.folder}/${name}`)]) removeFile(file);
}

function makeState(
  job: { paths: JobPaths; spec: Spec },
  before: JobState,
  ending: JobEnding,
): { state: JobState; staff: StaffEnd | undefined } {
  const { paths, spec } = job;
  const { exit } = ending;
  const signal = exit ? (signalOfExit(exit.exit_code, signalNumbers) ?? null) : null;
  const warnings = [...(ending.warnings ?? before.warnings)];
  const staff = spec.staff
    ? endStaff(
        { paths, spec, staff: spec.staff },
        { reading: ending.reading, before: ending.before },
        { reason: ending.reason, code: exit?.exit_code ?? null, signal },
        ending.omitted?.stdout ?? before.output?.stdout,
      )
    : undefined;
  for (const warning of staff?.warnings ?? [])
    if (!warnings.some((known) => known.message === warning.message)) warnings.push(warning);
  const verdict = judgeEnd({
    reason: ending.reason,
    exit,
    signal,
    successExit: spec.run?.success_exit ?? 0,
    staffError: staff?.error ?? null,
    isStaff: spec.staff !== null,
    survivors: ending.tree.survivors.map((one) => one.pid),
    deadlineText: formatDuration(spec.deadline_ms),
    detail: ending.detail,
  });
  const started = before.started_at ?? startedAt(paths);
  const ended = timeOf(paths.exit) ?? isoNow();
  const conversationId = staff?.reading.conversationId ?? null;
  const state: JobState = {
    ...before,
    rev: before.rev + 1,
    state: verdict.outcome,
    health: before.health === 'attention' ? 'unknown' : before.health,
    attention_kind: null,
    started_at: started,
    ended_at: ended,
    duration_ms: Math.max(0, Date.parse(ended) - Date.parse(started ?? before.created_at)),
    exit_code: exit?.exit_code ?? null,
    signal,
    signal_certain:
      signal === null ? null : Boolean(exit?.signaled) || (ending.reason !== 'exited' && ending.tree.step !== 'none'),
    error: verdict.error,
    warnings: [...warnings, ...leftoverWarnings(ending)],
    conversation:
      conversationId && spec.staff ? { backend: spec.staff.backend, id: conversationId } : before.conversation,
    reconciled: ending.reconciled,
    output: ending.omitted ?? before.output ?? plainNotes(paths),
    usage: staff ? staff.usage : before.usage,
    ...(staff?.usage_total ? { usage_total: staff.usage_total } : {}),
  };
  return { state, staff };
}

/** The end that a worker had stored before it could publish it: the payload is whole, only the state is missing. */
export function finishStored(job: { paths: JobPaths; spec: Spec }): boolean {
  const stored = readStoredState(job.paths, job.spec.id);
  if (!stored) return false;
  withReserve(job.paths, () => finish(job.paths, stored));
  return true;
}

function leftoverWarnings(ending: JobEnding): Warning[] {
  if (ending.reason !== 'exited' || ending.tree.ended.length === 0) return [];
  const named = ending.tree.ended
    .slice(0, 5)
    .map((one) => `${one.pid} (${one.name})`)
    .join(', ');
  const message = `${ending.tree.ended.length} left-over process(es) were ended after the command: ${named}`;
  return [{ code: 'leftovers_ended', message }];
}

function plainNotes(paths: JobPaths): { stdout: OutputNote; stderr: OutputNote } {
  const note = (file: string): OutputNote => ({ bytes: logSize(file), omitted: 0, exact: true });
  return { stdout: note(paths.output), stderr: note(paths.error) };
}

/** When the child really started, whoever was there to see it. */
export function startedAt(paths: JobPaths): string | null {
  return timeOf(paths.childMark);
}

function timeOf(file: string): string | null {
  const facts = factsOf(file);
  return facts ? isoOf(facts.modifiedMs) : null;
}

/** A full disk: the space that was set aside for this moment is given back, once. */
function withReserve(paths: JobPaths, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isFull(error) || !removeFile(paths.reserve)) throw error;
    write();
  }
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
}
