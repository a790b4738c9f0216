// How a staff job ended, beyond its exit code: the verdict on its stream, what it changed in the worktree, what it cost, and its
// structured findings. For whoever publishes the end.
import type { Reading } from '../backends/backend.ts';
import { judgeStaff, type StaffReason } from '../backends/verdict.ts';
import { showName } from '../core/byte-names.ts';
import { messageOf } from '../core/errors.ts';
import { excerpt } from '../core/excerpt.ts';
import { type Findings, parseFindings } from '../core/findings.ts';
import { answerName, findQuestion, isUnfinished } from '../core/handback.ts';
import type { JobError, OutputNote, Spec, StaffPart, TokenUsage, Warning } from '../core/job.ts';
import { isReader } from '../core/modes.ts';
import type { EndReason } from '../core/outcome.ts';
import { factsOf } from '../platform/folders.ts';
import type { JobPaths } from '../store/layout.ts';
import { backendOf, closeReading, replay } from './replay.ts';
import { usageOf } from './usage.ts';
import type { WorkspaceChanges, WorkspaceSnapshot } from './workspace/types.ts';
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
  seen: { reading?: Reading | undefined; before?: WorkspaceSnapshot | undefined },
  exit: StaffExit,
  stdout: OutputNote | undefined,
): StaffEnd {
  const { paths, spec, staff } = job;
  const backend = backendOf(spec);
  const reading = seen.reading ?? replay(spec, paths);
  const byItself = exit.reason === 'exited';
  const ending = closeReading(spec, paths, reading, { code: exit.code, signal: exit.signal, byItself });
  const verdict = judgeStaff(reading, ending, {
    resume: staff.resume,
    reason: staffReason(exit.reason),
    keepsConversation: backend?.keepsConversation ?? false,
  });
  const { answer } = verdict;
  const warnings = [...verdict.warnings];
  // The end must be published whatever an agent left behind.
  const changes = safely(warnings, 'what changed', () => changesSince(spec, paths, seen.before)) ?? null;
  warnings.push(...neighbourWarnings(paths.root, paths), ...changeWarnings(staff, changes), ...finishWarnings(answer));
  warnings.push(...questionWarnings(spec, answer));
  const resumed = staff.resume === null ? null : { earlier: staff.earlier?.usage_total ?? null };
  const usage = usageOf(reading.usage, backend?.runsOn ?? { tokens: false, cost: false }, resumed);
  const error = verdict.error ?? cutAnswer(spec, stdout);
  const end = { reading, answer, error, warnings, changes, ...usage };
  if (!staff.schema) return end;
  const none = { findings: null, findings_error: 'the answer could not be read' };
  return { ...end, ...(safely(warnings, 'the findings', () => findingsOf(answer, warnings)) ?? none) };
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

function safely<T>(warnings: Warning[], what: string, look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    warnings.push({ code: 'not_told', message: `${what} could not be told: ${excerpt(messageOf(error), 400)}` });
    return undefined;
  }
}

/** The brief asks for these words when something is missing (contract 4: the caller must not have to guess). */
function finishWarnings(answer: string | null): Warning[] {
  if (answer === null || !isUnfinished(answer)) return [];
  const [first = ''] = answer.trimStart().split('\n', 1);
  return [{ code: 'not_finished', message: `the agent says that the task is not finished: ${excerpt(first, 300)}` }];
}

/** The last line asks the caller something: it is over for now, and goes on with the answer. */
function questionWarnings({ handback }: Spec, answer: string | null): Warning[] {
  const name = answer === null ? null : findQuestion(answer);
  if (name === null) return [];
  const file = handback ? `${handback.dir}/${name}` : name;
  const isThere = handback !== undefined && handback !== null && factsOf(file)?.kind === 'file';
  const answered = answerName(name);
  const into = isThere && answered !== null ? `${handback.dir}/${answered} or into the next task` : 'the next task';
  const where = isThere ? `; put the answer into ${into}` : ' (there is no such file)';
  return [{ code: 'parent_question', message: `the agent asks a question in ${file}${where}` }];
}

/** Who was only to read has changed something, or somebody else did meanwhile: either way the caller must hear of it. */
function changeWarnings(staff: StaffPart, changes: WorkspaceChanges | null): Warning[] {
  if (!isReader(staff.mode, staff.profile) || !changes || changes.unchanged) return [];
  const isToldNothing = changes.file_count + changes.commit_count + changes.refs_changed.length === 0;
  if (changes.reason !== null && isToldNothing)
    return [{ code: 'not_told', message: `it is not known whether the worktree changed: ${changes.reason}` }];
  const what = [
    ...changes.files.slice(0, 5).map((file) => showName(file.path)),
    ...(changes.file_count > 5 ? [`and ${changes.file_count - 5} more`] : []),
    ...(changes.commit_count > 0 ? [`${changes.commit_count} commit(s)`] : []),
    ...changes.refs_changed.slice(0, 3).map(showName),
    ...(changes.index_changed && isToldNothing ? ['what is staged'] : []),
    ...(isToldNothing ? changes.beyond : []),
  ];
  const message = `the ${staff.mode} job was to change nothing (profile ${staff.profile}), but the worktree changed while it ran: ${what.join(', ') || 'more than could be looked at'}`;
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
