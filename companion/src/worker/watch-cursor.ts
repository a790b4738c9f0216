// cursor.json: the memory of a watch, written before anything of it is told. A worker that is killed between the two leaves a file that
// names what to tell and its number; the next worker compares that with the journal, so news are neither repeated nor lost. The file lies
// where an agent may write: what has another form than ours counts as nothing, and the journal says what was told.

import type { JobEvent, Wake } from '../core/events.ts';
import { wakes } from '../core/events.ts';
import { plainValue } from '../core/excerpt.ts';
import { evidenceChars } from '../core/limits.ts';
import type { WatchNote, WatchVerdict } from '../core/waiting.ts';
import { line, smallFacts } from '../jobs/watch-words.ts';
import { readJson, writeJson } from '../platform/files.ts';
import { readEvents } from '../store/journal.ts';
import type { JobPaths } from '../store/layout.ts';
import type { Cursor } from '../watches/watch.ts';
import { freshMemory, type Memory, type Telling } from './watch-memory.ts';

export function writeMemory(paths: JobPaths, memory: Memory): void {
  writeJson(paths.cursor, { schema: 1, ...memory }, { sync: false });
}

/** What the earlier worker knew; `telling` is what of it is not in the journal yet. */
export function readMemory(paths: JobPaths, start: Cursor | null): Memory {
  const read = readJson(paths.cursor);
  const memory = read.kind === 'ok' ? memoryOf(read.value, start) : freshMemory(start);
  const told = toldEvents(paths);
  const newest = told.at(-1)?.n ?? 0;
  const telling = memory.telling.filter((event) => event.n > newest);
  if (newest <= memory.note.told) return { ...memory, telling };
  // The file is older than the journal (the machine lost power), or gone: what was told last counts.
  const news = told.findLast((event) => event.type === 'news');
  const key = typeof news?.key === 'string' ? news.key : memory.key;
  const changes = told.filter((event) => event.type === 'news' && event.first !== true).length;
  return { ...memory, key, telling: [], note: { ...memory.note, ...noteOf(news ?? {}), told: newest, changes } };
}

/** The newest of what was told; everything after it is of another kind. */
function toldEvents(paths: JobPaths): (JobEvent & { n: number })[] {
  const { events } = readEvents(paths, 0, Number.MAX_SAFE_INTEGER);
  return events.filter((event): event is JobEvent & { n: number } => isCount(event.n));
}

function memoryOf(value: Record<string, unknown>, start: Cursor | null): Memory {
  const fresh = freshMemory(start);
  const note = isObject(value.note) ? value.note : {};
  return {
    cursor: isObject(value.cursor) && hasShapeOf(value.cursor, start ?? {}) ? value.cursor : start,
    key: typeof value.key === 'string' ? value.key : null,
    note: {
      ...fresh.note,
      ...noteOf(note),
      polls: isCount(note.polls) ? note.polls : 0,
      told: isCount(note.told) ? note.told : 0,
      changes: isCount(note.changes) ? note.changes : 0,
      troubles: isCount(note.troubles) ? note.troubles : 0,
      trouble: typeof note.trouble === 'string' ? line(note.trouble) : null,
      ...(note.alarm === 'long' || note.alarm === 'lasting' ? { alarm: note.alarm } : {}),
    },
    cause: typeof value.cause === 'string' ? line(value.cause) : null,
    telling: Array.isArray(value.telling) ? value.telling.slice(0, 2).flatMap(tellingOf) : [],
    hasRun: value.hasRun === true,
    // That needs a MAC: jobs/watch-verdict.ts.
    end: null,
    seal: null,
  };
}

/** A kind's cursor goes on as it began. */
function hasShapeOf(cursor: Cursor, start: Cursor): boolean {
  const shape = (value: unknown): string => (Array.isArray(value) ? 'list' : typeof value);
  return Object.entries(start).every(([name, value]) => shape(cursor[name]) === shape(value));
}

const verdicts: readonly WatchVerdict[] = ['pending', 'met', 'failed', 'error'];

function noteOf(value: Record<string, unknown>): Partial<WatchNote> {
  const { verdict, word, evidence, facts } = value;
  if (!verdicts.includes(verdict as WatchVerdict) || typeof word !== 'string' || typeof evidence !== 'string')
    return {};
  return {
    verdict: verdict as WatchVerdict,
    word: line(word),
    evidence: line(evidence),
    facts: isObject(facts) ? smallFacts(facts) : {},
  };
}

function tellingOf(value: unknown): Telling[] {
  if (!isObject(value) || !isCount(value.n)) return [];
  const { n, type, wake, key, first } = value;
  const known = Array.isArray(wake) ? wake.filter((one): one is Wake => wakes.includes(one)) : [];
  const woken = known.length > 0 ? { wake: known } : {};
  if (type === 'news') {
    const note = noteOf(value);
    if (typeof key !== 'string' || note.verdict === undefined) return [];
    return [{ n, type, ...note, key, ...(first === true ? { first } : {}), ...woken }];
  }
  if (type !== 'trouble' && type !== 'recovered') return [];
  const { cause, message, in_a_row, after } = value;
  const rest = plainValue({ cause, message, in_a_row, after }, 4 * evidenceChars) as Record<string, unknown>;
  return [{ n, type, ...rest, ...woken }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 2 ** 40;
}
