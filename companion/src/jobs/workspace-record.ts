// The worktree before and after a staff job: captured by the worker before the start (workspace.json), compared by whoever
// publishes the end. What an agent says it changed is its word; this is what is there.
import type { Spec, WorkspaceContext } from '../core/job.ts';
import { captureBudgetMs } from '../core/limits.ts';
import { monotonicMs } from '../platform/clock.ts';
import { readJson, writeJson } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import type { JobPaths } from '../store/layout.ts';
import { compareWorkspace } from './workspace/compare.ts';
import { contextOf } from './workspace/context.ts';
import { isSnapshot } from './workspace/shape.ts';
import { captureWorkspace } from './workspace/snapshot.ts';
import type { WorkspaceChanges, WorkspaceSnapshot } from './workspace/types.ts';

/** Look at the worktree and keep what was seen. The caller has made sure that nothing was started yet. */
export function recordBefore(spec: Spec, paths: JobPaths): WorkspaceSnapshot {
  // Near its limit a job must not spend what is left on looking.
  const budgetMs = Math.max(100, Math.min(captureBudgetMs, (spec.deadline_mono_ms - monotonicMs()) / 2));
  const snapshot = captureWorkspace(spec.cwd, { exclude: [paths.root], budgetMs });
  writeJson(paths.workspace, snapshot, { sync: false });
  return snapshot;
}

/** Undefined when there is none, or its file lost its form: it lies where an agent may write. */
export function readBefore(paths: JobPaths): WorkspaceSnapshot | undefined {
  const read = readJson(paths.workspace);
  return read.kind === 'ok' && isSnapshot(read.value) ? read.value : undefined;
}

/**
 * What changed since the start; undefined when nothing was started, or by a release that did not look. `seen`: the first look as the
 * worker remembers it; without it the file counts, and when that is gone or damaged the changes say so.
 */
export function changesSince(spec: Spec, paths: JobPaths, seen?: WorkspaceSnapshot): WorkspaceChanges | undefined {
  if (spec.staff?.brief === undefined || !exists(paths.started)) return undefined;
  const before = seen ?? readBefore(paths) ?? ({} as WorkspaceSnapshot);
  return compareWorkspace(before, captureWorkspace(spec.cwd, { exclude: [paths.root] }));
}

/** Where an earlier job started from, for the brief of the one that does it again. */
export function historicalOf(paths: JobPaths): WorkspaceContext | null {
  const before = readBefore(paths);
  return before ? contextOf(before) : null;
}
