// What programs said of their version, in the user's cache folder (`versions.json`). Known by the path and by the real path, size, time
// and inode of the file behind it (many shims of a version manager are links to one file), so that an updated program is asked
// again; for a day, because a wrapper does not change with what it wraps.
// It only saves time: one that is damaged, foreign or cannot be written is no cache, and never an error.
import { statSync } from 'node:fs';
import path from 'node:path';
import { nowMs } from './clock.ts';
import { createFolders } from './edit-file.ts';
import { cacheFolder } from './env.ts';
import { readJson, writeJson } from './files.ts';
import { factsOf, realPath } from './folders.ts';

interface Entry {
  program: string;
  /** Real path, size, time of change and inode of the file. */
  print: string;
  /** Null: it said none. */
  version: string | null;
  /** ms. */
  at: number;
}

const keptMs = 24 * 60 * 60 * 1000;
const keptEntries = 64;

/** What this program said; undefined when it has to be asked. */
export function recallVersion(program: string): string | null | undefined {
  const print = printOf(program);
  const age = (entry: Entry): number => nowMs() - entry.at;
  return readEntries().find(
    (entry) => entry.program === program && entry.print === print && age(entry) >= 0 && age(entry) < keptMs,
  )?.version;
}

export function keepVersion(program: string, version: string | null): void {
  const [file, print] = [cacheFile(), printOf(program)];
  if (file === undefined || print === undefined) return;
  const others = readEntries().filter((entry) => entry.program !== program);
  const versions = [...others, { program, print, version, at: nowMs() }].slice(-keptEntries);
  try {
    createFolders(path.dirname(file));
    writeJson(file, { schema: 1, versions }, { sync: false });
  } catch {
    // Then it is asked again the next time.
  }
}

function readEntries(): Entry[] {
  const file = cacheFile();
  if (file === undefined) return [];
  try {
    const facts = factsOf(file);
    if (facts?.kind !== 'file' || facts.uid !== process.getuid?.() || (facts.mode & 0o022) !== 0) return [];
    const read = readJson(file);
    if (read.kind !== 'ok' || read.value.schema !== 1 || !Array.isArray(read.value.versions)) return [];
    return read.value.versions.filter(isEntry);
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is Entry {
  const entry = (value ?? {}) as Partial<Entry>;
  const isVersion = entry.version === null || (typeof entry.version === 'string' && /^\d+\.\d/.test(entry.version));
  return (
    typeof entry.program === 'string' && typeof entry.print === 'string' && typeof entry.at === 'number' && isVersion
  );
}

function printOf(program: string): string | undefined {
  try {
    const { size, mtimeMs, ino } = statSync(program);
    return `${realPath(program)} ${size} ${mtimeMs} ${ino}`;
  } catch {
    return undefined;
  }
}

function cacheFile(): string | undefined {
  const folder = cacheFolder();
  return folder === undefined ? undefined : path.join(folder, 'versions.json');
}
