// What really lies at a path below a folder: its kind, and a hash of its bytes as git would name them (a blob, no filters), or
// what tells two versions apart without reading (size, time of change, inode). Links are never followed, on the way neither:
// what lies behind a linked folder is not there. Names are bytes (core/byte-names.ts).
import { createHash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import path from 'node:path';
import { decodeName, encodeName } from '../core/byte-names.ts';
import { monotonicMs } from './clock.ts';

export interface RawFacts {
  kind: 'file' | 'link' | 'folder' | 'other';
  /** As git writes it: 100644, 100755, 120000, 040000; 000000 for pipes, sockets and devices. */
  mode: string;
  size: number;
  /** `size:mtime in ns:inode`. */
  stat: string;
  /** Time of the last change of the inode, ms since 1970. */
  changedMs: number;
}

export type HashName = 'sha1' | 'sha256';

/** Looks below one folder; remembers which folders on the way are real ones. */
export interface Looker {
  look(name: string): RawFacts | null;
  /** The name that git gives to these bytes; null when they cannot be read, or not in time. */
  hash(name: string, facts: RawFacts, algorithm: HashName): string | null;
}

/** Nothing is read beyond `until` (monotonic clock, ms). */
export function makeLooker(root: string, until = Number.POSITIVE_INFINITY): Looker {
  const real = new Map<string, boolean>();
  const isRealFolder = (folder: string): boolean => {
    if (folder === '.' || folder === '') return true;
    const known = real.get(folder);
    if (known !== undefined) return known;
    const found = isRealFolder(path.posix.dirname(folder)) && statOf(place(root, folder))?.isDirectory() === true;
    real.set(folder, found);
    return found;
  };
  return {
    look(name) {
      if (!isRealFolder(path.posix.dirname(name))) return null;
      const stat = statOf(place(root, name));
      return stat ? factsFrom(stat) : null;
    },
    hash: (name, facts, algorithm) => hashBlob(place(root, name), facts, algorithm, until),
  };
}

function place(root: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(root), Buffer.from('/'), encodeName(name)]);
}

function statOf(target: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(target, { bigint: true, throwIfNoEntry: false });
  } catch {
    // Too long, a file on the way, a folder that we may not enter: nothing of ours.
    return undefined;
  }
}

function factsFrom(stat: BigIntStats): RawFacts {
  const kind = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : 'other';
  const isProgram = (stat.mode & 0o100n) !== 0n;
  const modes = { file: isProgram ? '100755' : '100644', link: '120000', folder: '040000', other: '000000' };
  return {
    kind,
    mode: modes[kind],
    size: Number(stat.size),
    stat: `${stat.size}:${stat.mtimeNs}:${stat.ino}`,
    changedMs: Number(stat.ctimeMs),
  };
}

const chunkBytes = 1024 * 1024;

function hashBlob(target: Buffer, facts: RawFacts, algorithm: HashName, until: number): string | null {
  try {
    if (facts.kind === 'link') {
      const bytes = readlinkSync(target, { encoding: 'buffer' });
      return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    }
    return facts.kind === 'file' ? hashFile(target, facts.size, algorithm, until) : null;
  } catch {
    return null;
  }
}

function hashFile(target: Buffer, size: number, algorithm: HashName, until: number): string | null {
  if (monotonicMs() > until) return null;
  const hash = createHash(algorithm).update(`blob ${size}\0`);
  const fd = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const chunk = Buffer.alloc(Math.min(chunkBytes, size));
    // Not beyond the size that was seen: somebody may be appending faster than we read.
    for (let left = size; left > 0; ) {
      if (left < size && monotonicMs() > until) return null;
      const got = readSync(fd, chunk, 0, Math.min(chunk.length, left), null);
      if (got === 0) break;
      hash.update(chunk.subarray(0, got));
      left -= got;
    }
  } finally {
    closeSync(fd);
  }
  return hash.digest('hex');
}

export interface WalkLimits {
  /** Absolute folders that are left out; so are folders of these names. */
  exclude: string[];
  skip: readonly string[];
  entries: number;
  ms: number;
}

/** Everything below a folder but folders themselves, by name; `isWhole` is false when a limit or another device cut it short. */
export function walkFolder(root: string, limits: WalkLimits): { found: Map<string, RawFacts>; isWhole: boolean } {
  const found = new Map<string, RawFacts>();
  const until = monotonicMs() + limits.ms;
  const device = statOf(Buffer.from(root))?.dev;
  const left = new Set(limits.exclude.map((folder) => path.relative(root, folder)));
  const folders = [''];
  let isWhole = true;
  let seen = 0;
  for (const folder of folders) {
    for (const name of namesIn(place(root, folder || '.'))) {
      seen += 1;
      if (seen > limits.entries || monotonicMs() > until) return { found, isWhole: false };
      const full = folder === '' ? name : `${folder}/${name}`;
      const stat = statOf(place(root, full));
      if (!stat || left.has(full)) continue;
      if (!stat.isDirectory()) found.set(full, factsFrom(stat));
      else if (stat.dev !== device) isWhole = false;
      else if (!limits.skip.includes(name)) folders.push(full);
    }
  }
  return { found, isWhole };
}

function namesIn(folder: Buffer): string[] {
  try {
    return readdirSync(folder, { encoding: 'buffer' }).map(decodeName).sort();
  } catch {
    return [];
  }
}
