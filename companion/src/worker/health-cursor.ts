// What the judgement of a run leaves for the next worker: which checkpoint is the newest that was begun, and which causes were told. The
// measured values are not handed over: nobody looked meanwhile, so the next worker measures anew.
import { freshMemory, type HealthMemory } from '../core/health.ts';
import { readJson } from '../platform/files.ts';
import { readEvents } from '../store/journal.ts';
import type { JobPaths } from '../store/layout.ts';

export function rememberedOf({ n, since, told }: HealthMemory): Record<string, unknown> {
  return { kind: 'checkpoint', n, since, told };
}

/**
 * The file lies where an agent may write: what is not of the right form counts as nothing, and the events know the number as well. A worker
 * that died between the file and the event has told less than the file says: then the event counts, so that no cause stays untold.
 * `atMost`: more intervals than that have not passed.
 */
export function readMemory(paths: JobPaths, atMost: number): HealthMemory {
  const read = readJson(paths.cursor);
  const value = read.kind === 'ok' ? read.value : {};
  const event = newestTold(paths);
  const n = Math.min(atMost, Math.max(countOf(value.n), event.n));
  const told = countOf(value.n) === event.n ? wordsOf(value.told) : event.causes;
  return { ...freshMemory, n, since: Math.min(n, countOf(value.since)), told: told.slice(0, mostCauses) };
}

const mostCauses = 8;

function newestTold(paths: JobPaths): { n: number; causes: string[] } {
  const event = readEvents(paths, 0, 100_000).events.findLast(({ type, n }) => type === 'checkpoint' && countOf(n) > 0);
  const fingerprint = event?.fingerprint;
  return { n: countOf(event?.n), causes: typeof fingerprint === 'string' ? fingerprint.split('+') : [] };
}

function wordsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}
