// The parts of a report that only a run has: what it left behind, the end of its own log, what was decided beforehand, and the word of a
// launcher's status command.
import { errnoOf } from '../core/errors.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { JobState, ResultNote, Spec } from '../core/job.ts';
import { excerptBytes } from '../core/limits.ts';
import { lookBehind, realPath } from '../platform/folders.ts';
import { readLogTail } from '../store/output-log.ts';
import { describeResult } from './artifacts.ts';

export function runFacts(end: {
  spec: Spec;
  state: JobState;
  results: readonly ResultNote[];
}): [string, string | null][] {
  const { spec, state, results } = end;
  return [
    ...results.map((note): [string, string] => [note.required ? 'Success file' : 'Result path', describeResult(note)]),
    ['Task', spec.run?.identity ? `${oneLine(spec.run.identity)}: ${taskWords(state)}` : null],
  ];
}

/** `running, exit code unknown` */
export function taskWords({ task_status = 'unknown', task_exit_code = 'unknown' }: JobState): string {
  return `${oneLine(String(task_status))}, exit code ${oneLine(String(task_exit_code))}`;
}

/** The tail of the log that the command keeps itself. `isWhole`: it says what its stdout would say. */
export function ownLogSection(spec: Spec, log: string): { text: string; isWhole: boolean } {
  const name = oneLine(log);
  const read = readOwnLog(spec, log);
  if (read.tail === '') return { text: `The log ${name} tells nothing: ${read.note}.`, isWhole: false };
  const note = read.note === null ? '' : ` (${read.note})`;
  return { text: `## Last lines of ${name}${note}\n\n${read.tail}`, isWhole: read.note === null };
}

export function logSection(title: string, file: string): string {
  const text = plainTail(file);
  return text === '' ? '' : `## ${title}\n\n${text}`;
}

/** A note says why the tail is not what was hoped for. */
function readOwnLog(spec: Spec, log: string): { tail: string; note: string | null } {
  try {
    const found = lookBehind(log);
    if (!found) return { tail: '', note: 'it is missing' };
    if (found.kind !== 'file') return { tail: '', note: 'it is no regular file' };
    const tail = plainTail(realPath(log));
    if (tail === '') return { tail, note: 'it is empty' };
    const isOld = found.modifiedMs < Date.parse(spec.created_at);
    return { tail, note: isOld ? 'not written since the launch' : null };
  } catch (error) {
    return { tail: '', note: `it cannot be read (${errnoOf(error) ?? 'error'})` };
  }
}

function plainTail(file: string): string {
  return plainText(readLogTail(file).toString('utf8')).trimEnd();
}

function oneLine(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), excerptBytes);
}
