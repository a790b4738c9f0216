// What the judgement of a run leaves for the next worker: which checkpoint is the newest that was begun, and which causes were told. The
// measured values are not handed over: nobody looked meanwhile, so the next worker measures anew.
import { freshMemory, type HealthMemory } from '../core/health.ts';
import { readJson } from '../platform/files.ts';
import { readEvents } from '../store/journal.ts';
import type { JobPaths } from '../store/layout.ts';

export function rememberedOf({ n, since, told }: HealthMemory): Record<string, unknown> {
  return { kind: 'checkpoint', n, since, told };
}

/** The file lies where an agent may write: what is not of the right form counts as nothing, and the events know the number as well. */
export function readMemory(paths: JobPaths): HealthMemory {
  const read = readJson(paths.cursor);
  const value = read.kind === 'ok' ? read.value : {};
  const told = Array.isArray(value.told) ? value.told.filter((one) => typeof one === 'string') : [];
  const n = Math.max(countOf(value.n), newestTold(paths));
  return { ...freshMemory, n, since: Math.min(n, countOf(value.since)), told: told.slice(0, 8) };
}

function newestTold(paths: JobPaths): number {
  const numbers = readEvents(paths, 0, 100_000).events.flatMap((event) =>
    event.type === 'checkpoint' ? countOf(event.n) : [],
  );
  return Math.max(0, ...numbers);
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}
