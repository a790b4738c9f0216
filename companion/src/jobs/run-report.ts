// The parts of a report that only a run has: what it left behind, the end of its own log, what was decided beforehand, and the word of a
// launcher's status command.
import { excerpt, plainText } from '../core/excerpt.ts';
import type { JobState, ResultNote, Spec } from '../core/job.ts';
import { excerptBytes } from '../core/limits.ts';
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

export function logSection(title: string, file: string): string {
  const text = plainTail(file);
  return text === '' ? '' : `## ${title}\n\n${text}`;
}

export function plainTail(file: string): string {
  return plainText(readLogTail(file).toString('utf8')).trimEnd();
}

export function oneLine(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), excerptBytes);
}
