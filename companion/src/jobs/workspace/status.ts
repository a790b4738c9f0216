// Reads what `git status --porcelain=v2 -z --branch` wrote. Pure. A rename becomes two paths, because both changed; what is told
// twice of one path (staged as deleted, and there untracked) becomes one.
import { decodeName } from '../../core/byte-names.ts';

export interface StatusLine {
  path: string;
  xy: string;
  head: string | null;
  index: string | null;
  tree_mode: string | null;
  from?: string;
  /** A repository of its own lies there. */
  isNested: boolean;
}

export interface Status {
  /** Null before the first commit. */
  head: string | null;
  branch: string | null;
  lines: StatusLine[];
}

export function parseStatus(bytes: Buffer): Status {
  const items = bytes.toString('latin1').split('\0');
  const found = new Map<string, StatusLine>();
  const status: Status = { head: null, branch: null, lines: [] };
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] ?? '';
    if (item.startsWith('# ')) readHeader(item, status);
    else if (item.startsWith('1 ')) add(found, ordinary(item));
    else if (item.startsWith('2 ')) {
      at += 1;
      for (const line of renamed(item, items[at] ?? '')) add(found, line);
    } else if (item.startsWith('u ')) add(found, unmerged(item));
    else if (item.startsWith('? ')) add(found, untracked(item));
  }
  status.lines = [...found.values()];
  return status;
}

/** Text of the bytes that `latin1` text stands for. */
export function nameOf(latin1: string): string {
  return /^[\x20-\x7e]*$/.test(latin1) ? latin1 : decodeName(Buffer.from(latin1, 'latin1'));
}

function readHeader(item: string, status: Status): void {
  const [, key, ...rest] = item.split(' ');
  const value = rest.join(' ');
  if (key === 'branch.oid') status.head = /^[0-9a-f]+$/.test(value) ? value : null;
  if (key === 'branch.head') status.branch = value === '(detached)' ? null : nameOf(value);
}

// 1 XY sub mH mI mW hH hI path
function ordinary(item: string): StatusLine {
  const [[, xy = '', sub = '', mH = '', mI = '', mW = '', hH = '', hI = ''], name] = split(item, 8);
  return {
    path: nameOf(name),
    xy,
    head: entry(mH, hH),
    // `git add -N`: the name is in the index, nothing else of it.
    index: xy === '.A' ? 'expected' : entry(mI, hI),
    tree_mode: present(mW),
    isNested: sub.startsWith('S'),
  };
}

// 2 XY sub mH mI mW hH hI Xscore path, and the path it came from
function renamed(item: string, origin: string): StatusLine[] {
  const [[, xy = '', sub = '', mH = '', mI = '', mW = '', hH = '', hI = ''], name] = split(item, 9);
  const from = nameOf(origin);
  const isStaged = xy[0] === 'R' || xy[0] === 'C';
  const isCopy = xy.includes('C');
  const there: StatusLine = {
    path: nameOf(name),
    xy,
    head: null,
    index: isStaged ? entry(mI, hI) : 'expected',
    tree_mode: present(mW),
    isNested: sub.startsWith('S'),
    ...(isCopy ? {} : { from }),
  };
  if (isCopy) return [there];
  const gone: StatusLine = {
    path: from,
    xy: isStaged ? 'D.' : '.D',
    head: entry(mH, hH),
    index: isStaged ? null : entry(mI, hI),
    tree_mode: null,
    isNested: false,
  };
  return [there, gone];
}

// u XY sub m1 m2 m3 mW h1 h2 h3 path; the second stage is ours, that is HEAD's
function unmerged(item: string): StatusLine {
  const [[, xy = '', sub = '', m1, m2 = '', m3, mW = '', h1, h2 = '', h3], name] = split(item, 10);
  return {
    path: nameOf(name),
    xy,
    head: entry(m2, h2),
    index: `u ${m1} ${h1} ${m2} ${h2} ${m3} ${h3}`,
    tree_mode: present(mW),
    isNested: sub.startsWith('S'),
  };
}

/** Only a repository of its own is told as a folder (`--untracked-files=all`). */
function untracked(item: string): StatusLine {
  const name = item.slice(2);
  const isNested = name.endsWith('/');
  return {
    path: nameOf(isNested ? name.slice(0, -1) : name),
    xy: '??',
    head: null,
    index: null,
    tree_mode: null,
    isNested,
  };
}

function add(found: Map<string, StatusLine>, line: StatusLine): void {
  const known = found.get(line.path);
  if (!known) found.set(line.path, line);
  else if (line.xy === '??') Object.assign(known, { xy: `${known.xy[0]}?`, isNested: line.isNested });
  else Object.assign(known, line, { xy: known.xy === '??' ? `${line.xy[0]}?` : line.xy });
}

function split(item: string, fields: number): [string[], string] {
  const parts = item.split(' ');
  return [parts.slice(0, fields), parts.slice(fields).join(' ')];
}

function entry(mode: string, name: string): string | null {
  return present(mode) === null ? null : `${mode} ${name}`;
}

function present(mode: string): string | null {
  return /^0*$/.test(mode) ? null : mode;
}
