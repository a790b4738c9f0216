// How a staff job ended, beyond its exit code: the verdict on its stream, what it changed in the worktree, what it cost, and its
// structured findings. For whoever publishes the end.
import type { Reading } from '../backends/backend.ts';
import { judgeStaff, type StaffReason } from '../backends/verdict.ts';
import { showName } from '../core/byte-names.ts';
import { type Findings, parseFindings } from '../core/findings.ts';
import type { JobError, OutputNote, Spec, StaffPart, TokenUsage, Warning } from '../core/job.ts';
import { isReader } from '../core/modes.ts';
import type { EndReason } from '../core/outcome.ts';
import type { JobPaths } from '../store/layout.ts';
import { backendOf, closeReading, replay } from './replay.ts';
import { usageOf } from './usage.ts';
import type { WorkspaceChanges } from './workspace/types.ts';
import { changesSince } from './workspace-record.ts';
import { neighbourWarnings } from './writers.ts';

export interface StaffEnd {
  reading: Reading;
  /** The complete final answer; null when there is none. */
  answer: string | null;
  /** Null is success. */
  error: JobError | null;
  warnings: Warning[];
  usage: TokenUsage | null;
  usage_total: TokenUsage | null;
  /** Null when the start was not seen (a job that never started). */
  changes: WorkspaceChanges | null;
  /** With `review --schema`: the findings, or why there are none. */
  findings?: Findings | null;
  findings_error?: string | null;
}

export interface StaffExit {
  reason: EndReason;
  code: number | null;
  signal: string | null;
}

export function endStaff(
  job: { paths: JobPaths; spec: Spec; staff: StaffPart },
  seen: Reading | undefined,
  exit: StaffExit,
  stdout: OutputNote | undefined,
): StaffEnd {
  const { paths, spec, staff } = job;
  const backend = backendOf(spec);
  const reading = seen ?? replay(spec, paths);
  const byItself = exit.reason === 'exited';
  const ending = closeReading(spec, paths, reading, { code: exit.code, signal: exit.signal, byItself });
  const verdict = judgeStaff(reading, ending, {
    resume: staff.resume,
    reason: staffReason(exit.reason),
    keepsConversation: backend?.keepsConversation ?? false,
  });
  const { answer } = verdict;
  const changes = changesSince(spec, paths) ?? null;
  const warnings = [...verdict.warnings, ...neighbourWarnings(paths.root, paths), ...changeWarnings(staff, changes)];
  const resumed = staff.resume === null ? null : { earlier: staff.earlier?.usage_total ?? null };
  const usage = usageOf(reading.usage, backend?.runsOn ?? { tokens: false, cost: false }, resumed);
  const error = verdict.error ?? cutAnswer(spec, stdout);
  const end = { reading, answer, error, warnings, changes, ...usage };
  return staff.schema ? { ...end, ...findingsOf(answer, warnings) } : end;
}

/** The words of judgeStaff for why it ended. */
function staffReason(reason: EndReason): StaffReason {
  return reason === 'exited' || reason === 'lingered' || reason === 'hard_timeout' ? reason : 'other';
}

/** An answer that is stdout as it is must be there as a whole. */
function cutAnswer(spec: Spec, stdout: OutputNote | undefined): JobError | null {
  if (backendOf(spec)?.answerFrom !== 'stdout' || !stdout || stdout.omitted === 0) return null;
  const message = `the answer has ${stdout.bytes} bytes, of which ${stdout.omitted} in the middle could not be kept`;
  return { code: 'output_unstorable', message };
}

/** Who was only to read has changed something, or somebody else did meanwhile: either way the caller must hear of it. */
function changeWarnings(staff: StaffPart, changes: WorkspaceChanges | null): Warning[] {
  if (!isReader(staff.mode, staff.profile) || !changes || changes.unchanged) return [];
  const what = [
    ...changes.files.slice(0, 5).map((file) => showName(file.path)),
    ...(changes.file_count > 5 ? [`and ${changes.file_count - 5} more`] : []),
    ...(changes.commit_count > 0 ? [`${changes.commit_count} commit(s)`] : []),
    ...changes.refs_changed.slice(0, 3).map(showName),
  ];
  const message = `the ${staff.mode} job was to change nothing (profile ${staff.profile}), but the worktree changed while it ran: ${what.join(', ') || 'the index'}`;
  return [{ code: 'reader_changed', message }];
}

function findingsOf(
  answer: string | null,
  warnings: Warning[],
): { findings: Findings | null; findings_error: string | null } {
  if (answer === null) return { findings: null, findings_error: 'there is no final answer' };
  const parsed = parseFindings(answer);
  if (parsed.kind === 'ok') return { findings: parsed.value, findings_error: null };
  warnings.push({ code: 'findings_unreadable', message: `the structured findings cannot be read: ${parsed.reason}` });
  return { findings: null, findings_error: parsed.reason };
}
