// What the loop reads of git: where HEAD is, what is not committed, which lines were added since the last boundary. Through the one safe way to
// run git; outside a repository every answer is "no git".
import path from 'node:path';
import { loopLimits } from '../core/limits-loop.ts';
import { readText } from '../platform/files.ts';
import { type Git, openGit } from '../platform/git-tool.ts';
import type { LoopPlace } from './place.ts';

/** Of an untracked file. */
const untrackedBytes = 1024 * 1024;

const slow = { timeoutMs: loopLimits.lookMs };

export type LoopGit = { git: Git } | { reason: string };

/** `.loop/` is ours and never counts; nor does the state folder, where it lies in the worktree. */
function ownPaths(place: LoopPlace): string[] {
  const state = path.relative(place.worktree, place.root.folder);
  const isInside = state !== '' && !state.startsWith('..') && !path.isAbsolute(state);
  return ['.loop', ...(isInside ? [state] : [])];
}

export function openLoopGit(place: LoopPlace): LoopGit {
  return place.isGit ? openGit(place.worktree) : { reason: 'no git here' };
}

/** HEAD's commit; null before the first one. */
export function headOf(git: Git): string | null {
  const answer = git.run(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  return answer.ok ? answer.bytes.toString('latin1').trim() : null;
}

export function isOurs(place: LoopPlace, file: string): boolean {
  return ownPaths(place).some((own) => file === own || file.startsWith(`${own}/`));
}

/** Paths with a change that is not committed, or that git was told to overlook; `.loop/` left out; or why that cannot be told. */
export function uncommitted(place: LoopPlace, git: Git): { files: string[] } | { reason: string } {
  const answer = git.run(['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames'], slow);
  if (!answer.ok) return { reason: answer.reason };
  // Lower-case tags are assume-unchanged: a change there would be seen by nobody.
  const listed = git.run(['ls-files', '-v', '-z'], slow);
  if (!listed.ok) return { reason: listed.reason };
  const changed = rowsOf(answer.bytes)
    .filter((row) => row.length > 3)
    .map((row) => row.slice(3));
  const overlooked = rowsOf(listed.bytes)
    .filter((row) => /^[a-z] /.test(row))
    .map((row) => row.slice(2));
  return { files: [...new Set([...changed, ...overlooked])].filter((file) => !isOurs(place, file)) };
}

function rowsOf(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\0')
    .filter((row) => row !== '');
}

export interface AddedLine {
  file: string;
  line: number;
  text: string;
}

/**
 * Lines that were added since `boundary` (null: since the beginning), committed or not; of untracked files all lines are new. Where that commit is not
 * known here (a shallow clone), only what is not committed, and `isPartial`.
 */
export function addedLines(
  place: LoopPlace,
  git: Git,
  boundary: string | null,
): { lines: AddedLine[]; isPartial: boolean } | { reason: string } {
  const empty = git.run(['hash-object', '-t', 'tree', '--stdin'], { input: '' });
  const isPartial = boundary !== null && !isKnown(git, boundary);
  const from = isPartial ? 'HEAD' : (boundary ?? (empty.ok ? empty.bytes.toString('latin1').trim() : ''));
  const found = diffSince(git, from);
  if ('reason' in found) return found;
  const listed = git.run(['ls-files', '--others', '--exclude-standard', '-z'], slow);
  if (!listed.ok) return { reason: listed.reason };
  const untracked = rowsOf(listed.bytes).filter((file) => !isOurs(place, file));
  const lines = [...found.lines, ...untracked.flatMap((file) => wholeFile(place, file))];
  return { lines: lines.filter(({ file }) => !isOurs(place, file)), isPartial };
}

/** As text, whatever attributes say, so that nothing hides from it; without that where it would be too much (large binaries). */
function diffSince(git: Git, from: string): { lines: AddedLine[] } | { reason: string } {
  const form = [
    '--no-color',
    '--unified=0',
    '--inter-hunk-context=0',
    '--src-prefix=a/',
    '--dst-prefix=b/',
    '--no-renames',
  ];
  const ask = (more: string[]) => git.run(['diff', ...form, ...more, '--diff-filter=AMT', from, '--'], slow);
  const answer = ask(['--text']);
  const usable = answer.ok || answer.cut !== 'output' ? answer : ask([]);
  if (!usable.ok) return { reason: usable.reason };
  const lines = parseDiff(usable.bytes.toString('utf8'));
  const binary = new Set(lines.filter(({ text }) => text.includes('\0')).map(({ file }) => file));
  return { lines: lines.filter(({ file }) => !binary.has(file)) };
}

/** Of a file that git does not know yet every line is new; of what is large, binary or no file, none is looked at. */
function wholeFile({ worktree }: LoopPlace, file: string): AddedLine[] {
  let text: string | undefined;
  try {
    text = readText(path.join(worktree, file), untrackedBytes + 1);
  } catch {
    return [];
  }
  if (text === undefined || text.length > untrackedBytes || text.includes('\0')) return [];
  return text.split('\n').map((row, index) => ({ file, line: index + 1, text: row }));
}

function parseDiff(text: string): AddedLine[] {
  const lines: AddedLine[] = [];
  let file = '';
  let next = 0;
  let left = 0;
  for (const row of text.split('\n')) {
    if (left > 0 && row.startsWith('+')) {
      lines.push({ file, line: next, text: row.slice(1) });
      next += 1;
      left -= 1;
    } else if (row.startsWith('+++ ')) file = unquoted(row.slice(4));
    else {
      const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(row);
      if (!hunk) continue;
      next = Number(hunk[1]);
      left = Number(hunk[2] ?? 1);
    }
  }
  return lines;
}

/** `b/path`, quoted like a C string where it has odd bytes. */
function unquoted(word: string): string {
  const plain = word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : word.replace(/\t$/, '');
  return plain.replace(/^b\//, '');
}

/** A file as a commit has it; undefined where it has none. */
export function committed(git: Git, file: string, commit = 'HEAD'): Buffer | undefined {
  const answer = git.run(['cat-file', 'blob', `${commit}:${file}`]);
  return answer.ok ? answer.bytes : undefined;
}

/** The commits since (and with) the boundary in which a file has changed, newest first, at most 100. */
export function changesOf(git: Git, file: string, boundary: string | null): string[] {
  const known = boundary !== null && isKnown(git, boundary);
  const range = known ? [`${boundary}..HEAD`] : ['HEAD'];
  const answer = git.run(['log', '--format=%H', '--max-count=100', ...range, '--', file], slow);
  const found = answer.ok
    ? answer.bytes
        .toString('latin1')
        .split('\n')
        .filter((line) => line !== '')
    : [];
  return known ? [...found, boundary] : found;
}

/** Is this commit here? Not in a shallow clone, nor after the history was rewritten. */
function isKnown(git: Git, commit: string): boolean {
  return git.run(['cat-file', '-e', `${commit}^{commit}`]).ok;
}
