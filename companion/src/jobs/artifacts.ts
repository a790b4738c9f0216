// What a run left behind, looked at once at its end, by whoever publishes it: its success files and result paths as they are now, compared
// with what they were at launch. Links are followed, and said. Never throws and never waits long: a path that cannot be looked at is told as
// such.

import { plainText } from '../core/excerpt.ts';
import type { FileBaseline, ResultNote, RunPart } from '../core/job.ts';
import { pathLookMs } from '../core/limits.ts';
import { formatSize } from '../core/size.ts';
import { isoOf } from '../platform/clock.ts';
import { lookBehindSoon } from '../platform/file-facts.ts';
import type { Behind } from '../platform/folders.ts';

/** Success files first; a path that is both is told once. */
export async function noteResults(run: RunPart): Promise<ResultNote[]> {
  const required = run.success_files ?? [];
  const told = new Set(required.map(({ path }) => path));
  const others = (run.result_baselines ?? []).filter(({ path }) => !told.has(path));
  return Promise.all([...required.map((one) => noteOf(one, true)), ...others.map((one) => noteOf(one, false))]);
}

/** The success files that say no, each with its reason. What nobody looked at says no as well. */
export function missingFiles(run: RunPart, notes: readonly ResultNote[]): string[] {
  return (run.success_files ?? []).flatMap(({ path }) => {
    const note = notes.find((one) => one.path === path);
    if (!note) return [`${path} (not looked at)`];
    return note.kind === 'file' && note.changed ? [] : [`${path} (${reasonOf(note)})`];
  });
}

/** One line of plain text, for people. */
export function describeResult(note: ResultNote): string {
  const way = note.link_to === null ? note.path : `${note.path} -> ${note.link_to}`;
  const size = note.size === null ? [] : [formatSize(note.size)];
  return plainText(`${way}: ${[...size, wordOf(note)].join(', ')}`).replaceAll('\n', ' ');
}

async function noteOf({ path, before }: FileBaseline, required: boolean): Promise<ResultNote> {
  const look = await lookBehindSoon(path, pathLookMs);
  const [now, trouble] = 'found' in look ? [look.found, null] : [undefined, look.trouble];
  return {
    path,
    required,
    exists: now !== undefined,
    existed: before !== null,
    changed: now !== undefined && isChanged(now, before),
    kind: now?.kind ?? null,
    size: now?.kind === 'file' ? now.size : null,
    mtime: now ? isoOf(now.modifiedMs) : null,
    link_to: now?.linkTo ?? null,
    trouble,
  };
}

/** Any difference counts; of a folder this is its own list of names. */
function isChanged(now: Behind, before: FileBaseline['before']): boolean {
  return (
    before === null ||
    now.inode !== before.inode ||
    now.modifiedMs !== before.modified_ms ||
    (now.kind === 'file' && now.size !== before.size)
  );
}

function reasonOf(note: ResultNote): string {
  return note.kind === null || note.kind === 'file' ? wordOf(note) : `a ${wordsOf[note.kind]}, not a file`;
}

const wordsOf = { folder: 'folder', other: 'special file', file: 'file' };

function wordOf({ exists, existed, changed, trouble, kind }: ResultNote): string {
  if (trouble !== null) return `cannot be looked at (${trouble})`;
  if (!exists) return existed ? 'gone' : 'missing';
  const word = existed ? (changed ? 'changed' : 'unchanged since the launch') : 'new';
  return kind === 'file' ? word : `${wordsOf[kind ?? 'other']}, ${word}`;
}
