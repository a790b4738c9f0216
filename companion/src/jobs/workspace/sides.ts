// One path at two moments: what lay there before and what lies there now, from what each snapshot knows of it. A path that a
// snapshot does not list was (or is) as HEAD has it; only the work tree itself knows its raw bytes then.
import type { HashName, Looker } from '../../platform/raw-content.ts';
import { measureRaw, nothing } from './entries.ts';
import type { TreeChange } from './history.ts';
import { entriesOf, isCutOff } from './rest.ts';
import type { Entry, GitSnapshot, Raw } from './types.ts';

/** What lies somewhere; null: nothing. `content` is null when it is not known. */
export type Side = { mode: string; content: string | null } | null;

export interface Change {
  path: string;
  was: Side;
  is: Side;
  from?: string;
  was_dirty: boolean;
  committed: boolean;
}

export interface Moments {
  before: GitSnapshot;
  after: GitSnapshot;
  /** What differs between the two HEADs. */
  tree: Map<string, TreeChange>;
  /** Looks at the work tree as it is now. */
  looker: Looker;
  /** `mode name` in the earlier HEAD of what git was told to overlook meanwhile. */
  overlooked: Map<string, string>;
}

export interface PathChanges {
  changes: Change[];
  /** Dirty before, with the same content now: still uncommitted, or committed meanwhile. */
  untouched: string[];
  swallowed: string[];
}

/** Every path of which anything is known, with what changed, and the dirty ones that did not. */
export function comparePaths(moments: Moments): PathChanges {
  const known = entriesOf(moments.before);
  const now = entriesOf(moments.after);
  const names = new Set([...known.keys(), ...now.keys(), ...moments.tree.keys()]);
  const isHidden = makeHidden(moments, names);
  const changes: Change[] = [];
  const untouched: string[] = [];
  const swallowed: string[] = [];
  const isInMoved = makeInMoved(known, now);
  for (const name of [...names].sort()) {
    const [b, a, t] = [known.get(name), now.get(name), moments.tree.get(name)];
    const sides = b ? sinceDirty(name, b, a, moments) : a ? sinceClean(name, a, moments, isHidden) : inTree(t);
    const was_dirty = b !== undefined && b.xy !== '..';
    if (sides && (sides.was || sides.is)) {
      const from = a?.from ?? t?.from;
      changes.push({ path: name, ...sides, was_dirty, committed: t !== undefined, ...(from ? { from } : {}) });
    } else if (was_dirty) (a === undefined && (t || isInMoved(name)) ? swallowed : untouched).push(name);
  }
  return { changes, untouched, swallowed };
}

/** Is a path in a repository inside whose HEAD moved? */
function makeInMoved(known: Map<string, Entry>, now: Map<string, Entry>): (name: string) => boolean {
  const moved = [...now.values()]
    .filter(({ path, mode, content, head }) => {
      const before = known.get(path);
      return mode === '160000' && content !== (before ? before.content : head?.split(' ')[1]);
    })
    .map(({ path }) => `${path}/`);
  return (name) => moved.some((folder) => name.startsWith(folder));
}

type Sides = { was: Side; is: Side } | undefined;

/** Its raw bytes were looked at before: they are looked at again. */
function sinceDirty(name: string, b: Entry, a: Entry | undefined, moments: Moments): Sides {
  const now = a ?? measureNow(name, b, moments);
  return isSame(b, now) ? undefined : { was: sideOf(b), is: sideOf(now) };
}

function measureNow(name: string, b: Entry, { looker, tree }: Moments): Raw {
  const facts = looker.look(name);
  if (!facts) return nothing;
  if (facts.kind !== 'folder') {
    const algorithm: HashName = b.content?.length === 64 ? 'sha256' : 'sha1';
    // Where it was not hashed, it is not hashed now.
    if (b.content === null && b.mode !== null) return { mode: facts.mode, content: null, stat: facts.stat };
    return measureRaw(looker, name, facts, algorithm);
  }
  // A submodule that is clean now stands where HEAD says.
  const commit = (tree.get(name)?.after ?? b.head)?.split(' ')[1];
  return b.mode === '160000' && commit !== undefined ? { mode: '160000', content: commit, stat: null } : nothing;
}

function isSame(b: Raw, now: Raw): boolean {
  if (b.mode !== now.mode) return false;
  if (b.mode === null) return true;
  return b.content !== null && now.content !== null ? b.content === now.content : b.stat === now.stat;
}

/** It was as HEAD had it, or was not there. Git compares better than raw bytes do, where it has an opinion. */
function sinceClean(
  name: string,
  a: Entry,
  { tree, overlooked, before }: Moments,
  isHidden: (a: Entry) => boolean,
): Sides {
  const t = tree.get(name);
  const base = a.xy === '..' ? (overlooked.get(name) ?? null) : t ? t.before : a.head;
  const was = sideOfTree(base);
  if (base === null) return a.mode === null || isHidden(a) ? undefined : { was, is: sideOf(a) };
  if (isCutOff(before) && isHidden(a)) return undefined;
  // In the work tree it is as in the index, whatever line ends and filters make of its bytes.
  const isStaged = a.xy[1] === '.' && a.xy !== '..' && a.index !== null && !a.index.startsWith('u');
  const is = isStaged ? sideOfTree(a.index) : sideOf({ ...a, mode: (a.mode && a.tree_mode) ?? a.mode });
  if (was && is && was.mode === is.mode && was.content === is.content) return undefined;
  return { was, is };
}

function inTree(t: TreeChange | undefined): Sides {
  return t && { was: sideOfTree(t.before), is: sideOfTree(t.after) };
}

/**
 * Was it there before without being told? So it is when ignore rules changed (what they hid comes to light), or when the earlier
 * snapshot was cut short. Then the time of its last change decides.
 */
function makeHidden({ before, looker }: Moments, names: Set<string>): (a: Entry) => boolean {
  const mayHide = isCutOff(before) || [...names].some((name) => /(?:^|\/)\.gitignore$/.test(name));
  const margin = 2_000;
  return (a) =>
    mayHide && (looker.look(a.path)?.changedMs ?? Number.POSITIVE_INFINITY) < Date.parse(before.at) - margin;
}

function sideOf({ mode, content, stat }: Raw): Side {
  return mode === null ? null : { mode, content: content ?? stat };
}

function sideOfTree(base: string | null): Side {
  const [mode, content = null] = base?.split(' ') ?? [];
  return mode === undefined ? null : { mode, content };
}
