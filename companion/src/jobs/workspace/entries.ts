// Everything that is not as HEAD has it, with what really lies there: of the repository and of repositories inside it (submodules
// and others), each asked by itself, because git would run the filters of a submodule. Bounded; what is beyond is said.
import path from 'node:path';
import { monotonicMs } from '../../platform/clock.ts';
import { factsOf, realPath } from '../../platform/folders.ts';
import { findWorktree } from '../../platform/git-folder.ts';
import { type HashName, type Looker, makeLooker, type RawFacts } from '../../platform/raw-content.ts';
import { openRepository, type Repository } from './repository.ts';
import { makeRest } from './rest.ts';
import { nameOf, type StatusLine } from './status.ts';
import type { BriefEntry, Entry, Raw, WorkspaceSnapshot } from './types.ts';

export const limits = {
  entries: 5_000,
  /** Characters of all names together: the record must stay readable (16 MiB). */
  nameText: 2 * 1024 * 1024,
  /** Further ones, with as many characters of JSON. */
  brief: 50_000,
  briefText: 6 * 1024 * 1024,
  hashedBytes: 512 * 1024 * 1024,
  nested: 20,
  /** Paths that git was told to overlook and that were looked for. */
  overlooked: 20_000,
};

interface Found {
  line: StatusLine;
  hash: HashName;
  /** HEAD of the repository that lies there. */
  nestedHead: string | null;
}

export type Collected = Pick<WorkspaceSnapshot, 'entries' | 'rest' | 'exact'>;

/** Neither git nor hashing goes on beyond `until` (monotonic clock); `isLate` when it was reached. */
export function collectEntries(
  outer: Repository,
  isExcluded: (name: string) => boolean,
  until: number,
): Collected & { isLate: boolean } {
  const { folder: root } = outer.git;
  const looker = makeLooker(root, until);
  const found = new Map<string, Found>();
  const wholeness = { exact: true, nested: 0 };
  addRepository(outer, '', { root, looker, found, wholeness, until });
  const sorted = [...found].filter(([name]) => !isExcluded(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  const room = roomFor(
    sorted.map(([name]) => name.length),
    { items: limits.entries, text: limits.nameText },
  );
  const measure = makeMeasure(looker, wholeness);
  const entries = sorted.slice(0, room).map(([name, one]) => entryOf(name, one, measure(name, one)));
  const isLate = monotonicMs() > until;
  const brief = sorted.slice(room).map(([name, one]) => briefOf(name, one, looker));
  const briefRoom = roomFor(
    brief.map((one) => JSON.stringify(one).length + 1),
    { items: limits.brief, text: limits.briefText },
  );
  const beyond = brief.slice(briefRoom).map(([name, , , stat]): [string, string] => [name, stat]);
  const rest = makeRest(brief.slice(0, briefRoom), beyond);
  return { entries, rest, exact: wholeness.exact && rest === null && !isLate, isLate };
}

/** How many items, of these lengths, fit. */
function roomFor(lengths: number[], room: { items: number; text: number }): number {
  let text = 0;
  const end = lengths.findIndex((length) => {
    text += length;
    return text > room.text;
  });
  return Math.min(room.items, end < 0 ? lengths.length : end);
}

function briefOf(name: string, { line }: Found, looker: Looker): BriefEntry {
  const facts = looker.look(name);
  if (!facts || (facts.kind === 'folder' && !line.isNested)) return [name, line.xy, '', ''];
  return facts.kind === 'folder' ? [name, line.xy, '160000', ''] : [name, line.xy, facts.mode, facts.stat];
}

interface Place {
  root: string;
  looker: Looker;
  found: Map<string, Found>;
  wholeness: { exact: boolean; nested: number };
  until: number;
}

function addRepository(repository: Repository, prefix: string, place: Place): void {
  const { hash, status, overlooked } = repository;
  const inner = new Set(submodulesOf(repository));
  for (const line of status.lines) {
    place.found.set(prefix + line.path, { line, hash, nestedHead: null });
    if (line.isNested) inner.add(line.path);
  }
  for (const name of presentOnes(overlooked, prefix, place)) {
    const line = { path: name, xy: '..', head: null, index: null, tree_mode: null, isNested: false };
    if (!place.found.has(prefix + name)) place.found.set(prefix + name, { line, hash, nestedHead: null });
  }
  for (const name of inner) addNested(prefix + name, place);
}

function addNested(name: string, place: Place): void {
  const folder = path.join(place.root, name);
  if (place.looker.look(name)?.kind !== 'folder' || findWorktree(folder) !== folder) return;
  place.wholeness.nested += 1;
  const repository = place.wholeness.nested > limits.nested ? undefined : openRepository(folder, place.until);
  if (!repository || 'reason' in repository) {
    place.wholeness.exact = false;
    return;
  }
  const known = place.found.get(name);
  if (known) known.nestedHead = repository.status.head ?? 'unborn';
  addRepository(repository, `${name}/`, place);
}

/** Where submodules are said to lie. A way out of the work tree is none. */
function submodulesOf({ git }: Repository): string[] {
  if (factsOf(path.join(git.folder, '.gitmodules'))?.kind !== 'file') return [];
  const answer = git.run(['config', '-z', '-f', '.gitmodules', '--get-regexp', '^submodule\\..*\\.path$']);
  const items = answer.ok ? answer.bytes.toString('latin1').split('\0') : [];
  return items
    .map((item) => nameOf(item.slice(item.indexOf('\n') + 1)))
    .filter((name) => name !== '' && path.posix.normalize(name) === name && !/^\.\.?(?:\/|$)|^\//.test(name));
}

/** Of a sparse checkout nearly all are absent, and were before: their folders are looked at once. */
function presentOnes(names: string[] | undefined, prefix: string, { looker, wholeness }: Place): string[] {
  if (!names || names.length > limits.overlooked) wholeness.exact = false;
  return (names ?? []).slice(0, limits.overlooked).filter((name) => looker.look(prefix + name) !== null);
}

/** Hashes until the bytes are used up (the looker minds the time). */
function makeMeasure(looker: Looker, wholeness: { exact: boolean }): (name: string, found: Found) => Raw {
  let bytes = 0;
  return (name, { line, hash, nestedHead }) => {
    const facts = looker.look(name);
    if (!facts) return nothing;
    if (facts.kind === 'folder') {
      return line.isNested ? { mode: '160000', content: nestedHead, stat: null } : nothing;
    }
    if (bytes + facts.size > limits.hashedBytes) {
      wholeness.exact = false;
      return { mode: facts.mode, content: null, stat: facts.stat };
    }
    bytes += facts.size;
    return measureRaw(looker, name, facts, hash);
  };
}

export const nothing: Raw = { mode: null, content: null, stat: null };

export function measureRaw(looker: Looker, name: string, facts: RawFacts, hash: HashName): Raw {
  return { mode: facts.mode, content: looker.hash(name, facts, hash), stat: facts.stat };
}

function entryOf(name: string, { line }: Found, raw: Raw): Entry {
  const { xy, head, index, tree_mode, from } = line;
  const prefix = name.slice(0, name.length - line.path.length);
  return { path: name, xy, head, index, tree_mode, ...raw, ...(from === undefined ? {} : { from: prefix + from }) };
}

/** Is a name, relative to `root`, one of these folders or below one? */
export function excluder(root: string, folders: string[]): (name: string) => boolean {
  const inside = folders
    .map((folder) => path.relative(root, resolved(folder)))
    .filter((name) => name !== '' && name !== '..' && !name.startsWith('../'));
  return (name) => inside.some((folder) => name === folder || name.startsWith(`${folder}/`));
}

/** A folder that is not there yet is taken as it is written. */
function resolved(folder: string): string {
  try {
    return realPath(folder);
  } catch {
    return folder;
  }
}
