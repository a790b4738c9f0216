// What git says of the way from one commit to another: which files differ, which commits are new, whether HEAD went forward.
import type { Git } from '../../platform/git-tool.ts';
import { nameOf } from './status.ts';
import type { GitPart, WorkspaceChanges } from './types.ts';

/** A path that differs between two commits: `mode name` in each, null where it is not there. */
export interface TreeChange {
  before: string | null;
  after: string | null;
  /** Where git says that it was renamed from. */
  from?: string;
}

const emptyTree = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

/** By path; undefined when git cannot tell. A missing commit is one without files. */
export function readTreeChanges(
  git: Git,
  hash: GitPart['hash'],
  heads: { before: string | null; after: string | null },
): Map<string, TreeChange> | undefined {
  const ask = (...renames: string[]) =>
    git.run([
      ...['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-ext-diff', '--no-textconv', ...renames],
      ...[heads.before ?? emptyTree[hash], heads.after ?? emptyTree[hash], '--'],
    ]);
  const found = ask('-M', '-l1000');
  // Finding renames reads contents, which a partial clone may lack.
  const answer = found.ok ? found : ask('--no-renames');
  return answer.ok ? parseRaw(answer.bytes) : undefined;
}

// :100644 100644 name name M NUL path NUL, with a second path for R and C
function parseRaw(bytes: Buffer): Map<string, TreeChange> {
  const changes = new Map<string, TreeChange>();
  const items = bytes.toString('latin1').split('\0');
  for (let at = 0; at < items.length; at += 1) {
    const [, modes] = /^:(.*)$/.exec(items[at] ?? '') ?? [];
    if (modes === undefined) continue;
    const [oldMode = '', newMode = '', oldName = '', newName = '', letter = ''] = modes.split(' ');
    const before = /^0*$/.test(oldMode) ? null : `${oldMode} ${oldName}`;
    const after = /^0*$/.test(newMode) ? null : `${newMode} ${newName}`;
    at += 1;
    const name = nameOf(items[at] ?? '');
    if (!/^[RC]/.test(letter)) {
      changes.set(name, { before, after });
      continue;
    }
    at += 1;
    const target = nameOf(items[at] ?? '');
    if (letter.startsWith('R')) changes.set(name, { before, after: null });
    changes.set(target, { before: null, after, ...(letter.startsWith('R') ? { from: name } : {}) });
  }
  return changes;
}

export function readMove(git: Git, before: string | null, after: string | null): WorkspaceChanges['head']['moved'] {
  if (before === after) return null;
  if (before === null) return 'forward';
  if (after === null) return 'elsewhere';
  return git.run(['merge-base', '--is-ancestor', before, after]).ok ? 'forward' : 'elsewhere';
}

const commitLimit = 20;

/** Commits that HEAD or one of these tips leads to now and nothing led to before; undefined when git cannot tell. */
export function readNewCommits(
  git: Git,
  before: GitPart,
  after: GitPart,
  tips: string[],
): Pick<WorkspaceChanges, 'commits' | 'commit_count'> | undefined {
  const refs = [...Object.values(before.refs ?? {}), ...Object.values(before.elsewhere)];
  const known = new Set([before.head, ...refs].filter((name) => name !== null));
  const fresh = [after.head, ...tips].filter((name) => name !== null && !known.has(name));
  if (fresh.length === 0) return { commits: [], commit_count: 0 };
  const input = `${[...new Set(fresh), ...[...known].map((name) => `^${name}`)].join('\n')}\n`;
  const count = git.run(['rev-list', '--count', '--ignore-missing', '--stdin'], { input });
  const listed = git.run(
    [
      ...['rev-list', `--max-count=${commitLimit}`, '--topo-order', '--ignore-missing'],
      ...['--encoding=UTF-8', '--format=%s', '--stdin'],
    ],
    { input },
  );
  if (!count.ok || !listed.ok) return undefined;
  // Pairs of lines: `commit NAME`, and its subject.
  const lines = listed.bytes.toString('latin1').split('\n');
  const commits = lines.flatMap((line, at) =>
    at % 2 === 0 && line.startsWith('commit ') ? [{ sha: line.slice(7), subject: nameOf(lines[at + 1] ?? '') }] : [],
  );
  return { commits, commit_count: Number(count.bytes.toString('latin1')) };
}
