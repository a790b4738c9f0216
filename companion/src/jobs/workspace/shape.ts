// Records lie where an agent may write: before one is used, it has the form that we gave it.
import type { Entry, WorkspaceChanges, WorkspaceSnapshot } from './types.ts';

type Shape = (value: unknown) => boolean;

const text: Shape = (value) => typeof value === 'string';
const flag: Shape = (value) => typeof value === 'boolean';
const count: Shape = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const textOrNull: Shape = (value) => value === null || text(value);
const commit: Shape = (value) =>
  value === null || (text(value) && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value as string));
const optional =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined || shape(value);
const nullOr =
  (shape: Shape): Shape =>
  (value) =>
    value === null || shape(value);
const oneOf =
  (...words: unknown[]): Shape =>
  (value) =>
    words.includes(value);
const list =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(shape);
const record =
  (shapes: Record<string, Shape>): Shape =>
  (value) =>
    isRecord(value) && Object.entries(shapes).every(([name, shape]) => shape(value[name]));
const allOf =
  (shape: Shape): Shape =>
  (value) =>
    isRecord(value) && Object.values(value).every(shape);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Inside the workspace: no way out of it. */
const nameInside: Shape = (value) =>
  text(value) && !`/${value}/`.includes('/../') && !(value as string).startsWith('/');

const entry = record({
  path: nameInside,
  xy: text,
  head: textOrNull,
  index: textOrNull,
  tree_mode: textOrNull,
  from: optional(nameInside),
  mode: textOrNull,
  content: textOrNull,
  stat: textOrNull,
} satisfies Record<keyof Entry, Shape>);

const names = allOf((value) => value !== null && commit(value));
const row =
  (length: number): Shape =>
  (value) =>
    Array.isArray(value) && value.length === length && nameInside(value[0]) && value.every(text);

const snapshot = record({
  schema: oneOf(1),
  cwd: text,
  at: (value) => text(value) && Number.isFinite(Date.parse(value as string)),
  git: nullOr(
    record({
      root: text,
      hash: oneOf('sha1', 'sha256'),
      head: commit,
      branch: textOrNull,
      subject: textOrNull,
      refs: nullOr(names),
      refs_rest: nullOr(record({ count, digest: text })),
      elsewhere: names,
    }),
  ),
  reason: textOrNull,
  exclude: list(text),
  entries: list(entry),
  rest: nullOr(record({ count, files: list(row(4)), digest: textOrNull })),
  files: nullOr(list(row(3))),
  exact: flag,
} satisfies Record<keyof WorkspaceSnapshot, Shape>);

const changes = record({
  files: list(
    record({
      path: text,
      change: oneOf('added', 'modified', 'deleted', 'renamed'),
      from: optional(text),
      was_dirty: flag,
      committed: flag,
    }),
  ),
  file_count: count,
  dirty_before: list(text),
  dirty_before_count: count,
  dirty_committed: list(text),
  dirty_committed_count: count,
  dirty_after: count,
  commits: list(record({ sha: text, subject: text })),
  commit_count: count,
  head: record({ before: textOrNull, after: textOrNull, moved: oneOf('forward', 'elsewhere', null) }),
  branch: record({ before: textOrNull, after: textOrNull }),
  refs_changed: list(text),
  index_changed: flag,
  beyond: list(text),
  exact: flag,
  unchanged: flag,
  reason: textOrNull,
} satisfies Record<keyof WorkspaceChanges, Shape>);

export function isSnapshot(value: unknown): value is WorkspaceSnapshot {
  return snapshot(value);
}

export function isChanges(value: unknown): value is WorkspaceChanges {
  return changes(value);
}
