// What is known of a workspace at one moment (jobs/<id>/workspace.json) and what changed between two moments. Types only.
// Names are text that keeps every byte (core/byte-names.ts); in `WorkspaceChanges` they are made readable.

/** What lies at a path now. `mode` is null when nothing does; `content` is null when it was not (or cannot be) hashed. */
export interface Raw {
  /** 100644, 100755, 120000 (link), 160000 (a repository), 000000 (pipe, socket, device). */
  mode: string | null;
  /** Blob name of the bytes, of the link's target; HEAD of a nested repository. */
  content: string | null;
  /** `size:mtime:inode`, for what has no `content`. */
  stat: string | null;
}

/** One path that is not as HEAD has it. */
export interface Entry extends Raw {
  path: string;
  /** As git writes it: `.M`, `A.`, `UU`, `??`. `D?`: staged as deleted, and there. `..`: git was told to overlook it. */
  xy: string;
  /** `mode name` in HEAD and in the index; null: not there. Of a conflict the index is `u` and its three stages; after `git add -N` it is `expected`. */
  head: string | null;
  index: string | null;
  /** The mode that git sees in the work tree (it may be told to ignore the real one). */
  tree_mode: string | null;
  /** Where git says that it was renamed from. */
  from?: string;
}

export interface GitPart {
  root: string;
  hash: 'sha1' | 'sha256';
  /** Null before the first commit. */
  head: string | null;
  /** Null when HEAD is detached. */
  branch: string | null;
  subject: string | null;
  /** refs/heads and refs/stash but for `elsewhere`, at most 500; null when git could not tell. */
  refs: Record<string, string> | null;
  /** What did not fit: how many, and a digest of their names and commits. */
  refs_rest: { count: number; digest: string } | null;
  /** Branches that another work tree has checked out, at most 500. */
  elsewhere: Record<string, string>;
}

/** An uncommitted path without its content; mode and stat are empty where nothing lies there. */
export type BriefEntry = [path: string, xy: string, mode: string, stat: string];

/** A file outside git: its path, mode and `size:mtime:inode`. */
export type PlainFile = [path: string, mode: string, stat: string];

export interface WorkspaceSnapshot {
  schema: 1;
  cwd: string;
  /** ISO. */
  at: string;
  git: GitPart | null;
  /** Why there is no git part, or not all of it, in words for a person. */
  reason: string | null;
  /** Absolute folders that were left out. */
  exclude: string[];
  /** Sorted by path, at most 5,000: what is dirty, and what is there although git was told to overlook it. Empty outside git. */
  entries: Entry[];
  /** What did not fit into `entries`: how many, at most 50,000 of them, and a digest of those that did not fit there either. */
  rest: { count: number; files: BriefEntry[]; digest: string | null } | null;
  /** Outside git: all files that were looked at, sorted by path. Null in git. */
  files: PlainFile[] | null;
  /** False when a limit was reached: then something may be missed. */
  exact: boolean;
}

/** A snapshot of a git work tree. */
export type GitSnapshot = WorkspaceSnapshot & { git: GitPart };

export interface FileChange {
  path: string;
  change: 'added' | 'modified' | 'deleted' | 'renamed';
  from?: string;
  /** It was not as HEAD had it before the run either. */
  was_dirty: boolean;
  /** It stands in what HEAD moved over. */
  committed: boolean;
}

export interface WorkspaceChanges {
  /** At most 200; `file_count` counts all. */
  files: FileChange[];
  file_count: number;
  /** What was dirty before and was left as it was, at most 50; the count is of all. */
  dirty_before: string[];
  dirty_before_count: number;
  /** What was dirty before and is committed now, with the content that it had; at most 50. */
  dirty_committed: string[];
  dirty_committed_count: number;
  /** How many paths are dirty now, by whomever. */
  dirty_after: number;
  /** New ones, the newest first, at most 20; `commit_count` counts all. */
  commits: { sha: string; subject: string }[];
  commit_count: number;
  head: { before: string | null; after: string | null; moved: 'forward' | 'elsewhere' | null };
  branch: { before: string | null; after: string | null };
  /** Names of branches (and the stash) that are new, gone or elsewhere, at most 50. */
  refs_changed: string[];
  /** What is staged is not what was staged. */
  index_changed: boolean;
  /** Where something changed of which no name is known (`branches beyond the first 500`). */
  beyond: string[];
  exact: boolean;
  /** Nothing of all this: no file, commit, ref or staged change. */
  unchanged: boolean;
  /** Why git could not be asked. Files are told even then, by their sizes, times and inodes. */
  reason: string | null;
}
