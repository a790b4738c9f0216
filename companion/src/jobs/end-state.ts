// How a job ended, put together from its files and from what its worker saw: the last state, not written yet.
import type { Reading } from '../backends/backend.ts';
import { formatDuration } from '../core/duration.ts';
import type {
  ExitRecord,
  GateReport,
  HandbackNote,
  JobError,
  JobState,
  LoopNote,
  OutputNote,
  ResultNote,
  Spec,
  Warning,
  WatchNote,
} from '../core/job.ts';
import { type EndReason, judgeEnd } from '../core/outcome.ts';
import { signalOfExit } from '../core/signals.ts';
import { isoNow, isoOf } from '../platform/clock.ts';
import { factsOf } from '../platform/folders.ts';
import type { TerminateReport } from '../platform/process-tree.ts';
import { signalNumbers } from '../platform/signals.ts';
import type { JobPaths } from '../store/layout.ts';
import { logSize } from '../store/output-log.ts';
import { missingFiles } from './artifacts.ts';
import type { OwnLog } from './own-log.ts';
import { endStaff, type StaffEnd } from './staff-end.ts';
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
  /** Of a run: what it left behind, the end of its own log, and the word of a launcher that detaches itself (conclude-asked.ts). */
  results?: ResultNote[];
  ownLog?: OwnLog | null;
  task?: TaskAnswer | undefined;
  /** What was handed back in all. */
  handback?: HandbackNote;
  /** Of a watch: what was seen at its end; the stored state may be older (a full disk). */
  watch?: WatchNote;
  /** Of a gate or a loop that came to its own end. */
  own?: OwnEnd;
  detail?: string;
}

/** What a gate or a loop found, and its words for people. */
export interface OwnEnd {
  error: JobError | null;
  gate?: GateReport | null;
  loop?: LoopNote | null;
  /** The deliverable of a success; a part of the report of anything else. */
  text: string;
}

/** What the status command of a launcher said. */
export interface TaskAnswer {
  task_status: string;
  task_exit_code: number | 'unknown';
  warnings: Warning[];
}

export interface EndState {
  state: JobState;
  staff: StaffEnd | undefined;
  /** Of a run: what it left behind. */
  results: ResultNote[];
}

/** What the state says at the end, before it is written anywhere. */
export function makeEndState(job: { paths: JobPaths; spec: Spec }, before: JobState, ending: JobEnding): EndState {
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
  const results = ending.results ?? [];
  const verdict = judgeEnd({
    reason: ending.reason,
    exit,
    signal,
    successExit: spec.run?.success_exit ?? 0,
    staffError: staff?.error ?? null,
    ownError: ending.own?.error ?? null,
    kind: spec.kind,
    missingFiles: spec.run ? missingFiles(spec.run, results) : [],
    survivors: ending.tree.survivors.map((one) => one.pid),
    deadlineText: formatDuration(spec.deadline_ms),
    detail: ending.detail,
  });
  const started = before.started_at ?? startedAt(paths);
  const ended = timeOf(paths.exit) ?? dueOf(spec, ending) ?? isoNow();
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
    warnings: [...warnings, ...leftoverWarnings(ending), ...(ending.task?.warnings ?? [])],
    conversation:
      conversationId && spec.staff ? { backend: spec.staff.backend, id: conversationId } : before.conversation,
    reconciled: ending.reconciled,
    output: ending.omitted ?? before.output ?? (spec.run || spec.staff ? plainNotes(paths) : null),
    usage: staff ? staff.usage : before.usage,
    ...(ending.watch ? { watch: ending.watch } : {}),
    ...(ending.own?.gate === undefined ? {} : { gate: ending.own.gate }),
    ...(ending.own?.loop === undefined ? {} : { loop: ending.own.loop }),
    ...(ending.handback ? { handback: ending.handback } : {}),
    ...taskFields(spec, ending),
    ...(staff?.usage_total ? { usage_total: staff.usage_total } : {}),
  };
  return { state, staff, results };
}

/** The word of the launcher is told beside the end, and never changes it. */
function taskFields({ run }: Spec, { task }: JobEnding): Partial<JobState> {
  if (!run?.status_cmd) return {};
  return { task_status: task?.task_status ?? 'unknown', task_exit_code: task?.task_exit_code ?? 'unknown' };
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

/** A timer ended at its instant, whenever somebody came to write that down. */
function dueOf({ timer }: Spec, { reason }: JobEnding): string | undefined {
  return reason === 'due' ? timer?.due_at : undefined;
}

/** When the child really started, whoever was there to see it. */
export function startedAt(paths: JobPaths): string | null {
  return timeOf(paths.childMark);
}

function timeOf(file: string): string | null {
  const facts = factsOf(file);
  return facts ? isoOf(facts.modifiedMs) : null;
}
