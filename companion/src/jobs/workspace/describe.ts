// Changes of a workspace in words: one line for a terminal, a short list in Markdown for a report. What a repository or an agent
// named stands in code spans, without control characters.
import { oneLine, showName } from '../../core/byte-names.ts';
import { excerpt } from '../../core/excerpt.ts';
import { notInGit } from './snapshot.ts';
import type { FileChange, WorkspaceChanges } from './types.ts';

const shown = { files: 30, commits: 10, dirty: 10, refs: 10, bytes: 200 };

/** One line: `2 files changed (a.ts, b.ts), 1 commit`, or `no files changed`. */
export function summarizeChanges(changes: WorkspaceChanges): string {
  const named = namesOf(
    changes.files.map(({ path }) => path),
    changes.file_count,
  );
  const files = changes.file_count === 0 ? noFiles(changes) : `${fileCount(changes)}${named}`;
  const { reason, dirty_committed, dirty_committed_count } = changes;
  const isPartial = reason !== null && reason !== notInGit;
  return [
    files,
    ...otherChanges(changes, namesOf(dirty_committed, dirty_committed_count)),
    ...(isPartial ? [`not everything could be looked at (${oneLine(reason)})`] : []),
  ].join(', ');
}

/** A few lines of Markdown without a heading. */
export function describeChanges(changes: WorkspaceChanges): string {
  const { files, file_count, commits, commit_count, dirty_before, dirty_before_count } = changes;
  const { dirty_committed, dirty_committed_count } = changes;
  const moved = changes.refs_changed.filter((ref) => ref !== `refs/heads/${changes.branch.after}`);
  const refs = moved.slice(0, shown.refs).map(code);
  return [
    `${sentence([file_count === 0 ? noFiles(changes) : fileCount(changes), ...otherChanges(changes)].join(', '))}.`,
    ...section('', files.slice(0, shown.files).map(fileLine), file_count),
    ...section('New commits:', commits.slice(0, shown.commits).map(commitLine), commit_count),
    ...(refs.length > 0
      ? ['', `Branches and stash that moved: ${refs.join(', ')}${moved.length > refs.length ? ', ...' : ''}`]
      : []),
    ...section(
      'Uncommitted before, now committed as it was:',
      dirty_committed.slice(0, shown.dirty).map((path) => `- ${code(path)}`),
      dirty_committed_count,
    ),
    ...section(
      'Dirty before, and left as it was:',
      dirty_before.slice(0, shown.dirty).map((path) => `- ${code(path)}`),
      dirty_before_count,
    ),
    ...(changes.reason === null ? [] : ['', `Not everything could be looked at: ${oneLine(changes.reason)}.`]),
    ...(changes.exact || changes.reason?.includes('damaged')
      ? []
      : ['', 'A limit was reached: there may be more changes than these.']),
  ].join('\n');
}

/** ` (a, b, c, ...)` */
function namesOf(paths: string[], total: number): string {
  const named = paths.slice(0, 3).map((path) => excerpt(showName(path), shown.bytes));
  return ` (${named.join(', ')}${total > named.length ? ', ...' : ''})`;
}

function noFiles({ exact, unchanged, reason }: WorkspaceChanges): string {
  if (exact) return 'no files changed';
  return unchanged || reason === null ? 'no changed files were seen' : 'it is unknown whether files changed';
}

function fileCount({ file_count }: WorkspaceChanges): string {
  return `${file_count} file${file_count === 1 ? '' : 's'} changed`;
}

function otherChanges(changes: WorkspaceChanges, swallowed = ''): string[] {
  const { commit_count, head, branch, index_changed, file_count, refs_changed, beyond } = changes;
  const { dirty_committed_count: kept } = changes;
  const were = kept === 1 ? 'file that was uncommitted before is' : 'files that were uncommitted before are';
  const branchMoved = branch.before !== branch.after;
  return [
    ...(commit_count > 0 ? [`${commit_count} new commit${commit_count === 1 ? '' : 's'}`] : []),
    ...(branchMoved ? [`now on ${branch.after === null ? 'no branch' : `branch ${code(branch.after)}`}`] : []),
    ...(head.moved === 'elsewhere' ? ['HEAD was moved to another line of history'] : []),
    ...(head.moved === 'forward' && commit_count === 0 ? ['HEAD was moved forward'] : []),
    ...(index_changed && file_count === 0 && commit_count === 0 ? ['what is staged changed'] : []),
    ...(refs_changed.length > 0 && head.moved === null && commit_count === 0 ? ['branches or the stash changed'] : []),
    ...(kept > 0 ? [`${kept} ${were} now committed${swallowed}`] : []),
    ...(beyond.length > 0 ? [`something changed among ${beyond.join(' and ')}`] : []),
  ];
}

function section(title: string, lines: string[], total: number): string[] {
  if (lines.length === 0) return [];
  const rest = total - lines.length;
  return ['', ...(title === '' ? [] : [title, '']), ...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])];
}

function fileLine({ path, change, from, was_dirty, committed }: FileChange): string {
  const notes = [...(was_dirty ? ['was dirty before'] : []), ...(committed ? ['committed'] : [])];
  const origin = from === undefined ? '' : `${code(from)} -> `;
  return `- ${change}: ${origin}${code(path)}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

function commitLine({ sha, subject }: { sha: string; subject: string }): string {
  return `- ${sha.slice(0, 12)} ${code(oneLine(subject))}`;
}

/** A code span that its text cannot end. */
function code(text: string): string {
  const inner = excerpt(showName(text), shown.bytes);
  const longest = Math.max(0, ...(inner.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `\`${inner}\`` : `${fence} ${inner} ${fence}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
