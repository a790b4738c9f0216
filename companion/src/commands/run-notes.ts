// What the caller hears on stderr of an ended run, beside how it ended: what it left behind, its own log, and the word of the launcher's
// status command. The record lies where an agent may write: what lost its form is left out.
import { plainText } from '../core/excerpt.ts';
import type { ResultNote } from '../core/job.ts';
import { describeResult } from '../jobs/artifacts.ts';
import { taskWords } from '../jobs/run-report.ts';
import type { View } from '../jobs/view.ts';
import { readJson } from '../platform/files.ts';

export function runNotes({ spec, state, paths }: View): string[] {
  const run = spec?.run;
  if (!run) return [];
  const read = readJson(paths.resultRecord);
  const told = read.kind === 'ok' && Array.isArray(read.value.result_paths) ? read.value.result_paths : [];
  const results = told.filter(isResultNote);
  return [
    ...results.map((note) => `${note.required ? 'success file' : 'result path'}: ${describeResult(note)}`),
    ...(run.log ? [`log: ${plainText(run.log)}`] : []),
    ...(run.identity ? [`task ${plainText(run.identity)}: ${taskWords(state)}`] : []),
  ];
}

function isResultNote(value: unknown): value is ResultNote {
  if (typeof value !== 'object' || value === null) return false;
  const { path, kind, size, link_to, trouble } = value as Record<string, unknown>;
  const isText = (one: unknown): boolean => one === null || typeof one === 'string';
  const isSize = size === null || typeof size === 'number';
  return typeof path === 'string' && isSize && [kind, link_to, trouble].every(isText);
}
