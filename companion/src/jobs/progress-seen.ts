// What a running job has printed and done, bounded: the end of a command's output, an agent's latest calls and text.
import { plainText, tail } from '../core/excerpt.ts';
import { tailBytes, textTailBytes } from '../core/limits.ts';
import { isoOf, nowMs } from '../platform/clock.ts';
import { readJson, readRange } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';
import type { View } from './view.ts';

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
