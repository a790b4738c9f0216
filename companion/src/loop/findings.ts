// What a review job found, as its record has it.
import { readJson } from '../platform/files.ts';
import { jobPaths } from '../store/layout.ts';
import type { LoopPlace } from './place.ts';

/** `approve`, `changes_requested`, `inconclusive`; undefined without findings that can be read. */
export function readFindings(place: LoopPlace, id: string): string | undefined {
  const read = readJson(jobPaths(place.root.folder, id).resultRecord);
  if (read.kind !== 'ok') return undefined;
  const findings = read.value.findings as { verdict?: unknown } | null | undefined;
  return typeof findings?.verdict === 'string' ? findings.verdict : undefined;
}
