// A workspace at one moment: where HEAD, branches and the index stand and the content of every path that is not as HEAD has it;
// outside git the size, time and inode of every file. Looks only, changes nothing, runs nothing of the repository's.
import path from 'node:path';
import { captureBudgetMs } from '../../core/limits.ts';
import { isoNow, monotonicMs } from '../../platform/clock.ts';
import { realPath } from '../../platform/folders.ts';
import { findWorktree } from '../../platform/git-folder.ts';
import { walkFolder } from '../../platform/raw-content.ts';
import { collectEntries, excluder } from './entries.ts';
import { describeRepository, openRepository } from './repository.ts';
import type { PlainFile, WorkspaceSnapshot } from './types.ts';

/** 20,000 entries take about 0.3 s. */
const walkLimits = { entries: 20_000, ms: 3_000 };

export interface CaptureOptions {
  /** Absolute folders that do not count (the state folder). */
  exclude: string[];
  /** As if it were outside git. */
  plain?: boolean;
  /** For git and hashing together (default `captureBudgetMs`). When it is used up, `reason` says so and the rest is told. */
  budgetMs?: number;
}

export const notInGit = 'not in a git work tree';

/**
 * Look at the workspace of `cwd`: the whole work tree that holds it, or the folder itself outside git (or when git cannot be
 * asked: `reason` says why). Never throws for what it finds.
 */
export function captureWorkspace(cwd: string, options: CaptureOptions): WorkspaceSnapshot {
  const at = isoNow();
  const { exclude, budgetMs = captureBudgetMs } = options;
  const began = monotonicMs();
  const until = began + budgetMs;
  const folder = whole(cwd);
  const base = { schema: 1, cwd, at, exclude } as const;
  const root = folder === undefined ? undefined : findWorktree(folder);
  if (folder === undefined || root === undefined || options.plain) {
    return { ...base, ...walk(folder ?? cwd, exclude, budgetMs), reason: notInGit };
  }
  // A git that is too slow leaves time to look at the files without it.
  const repository = openRepository(root, began + budgetMs * 0.7);
  if ('reason' in repository)
    return { ...base, ...walk(folder, exclude, until - monotonicMs()), reason: repository.reason };
  const git = describeRepository(repository);
  const { isLate, ...collected } = collectEntries(repository, excluder(root, exclude), until);
  const isUnknown = git.refs === null || repository.overlooked === undefined;
  const late = `the ${Math.round(budgetMs / 100) / 10} s for looking at it were used up`;
  const reason = isLate || (isUnknown && monotonicMs() > began + budgetMs * 0.7) ? late : null;
  return { ...base, git, reason, ...collected, files: null };
}

function walk(
  folder: string,
  exclude: string[],
  leftMs: number,
): Omit<WorkspaceSnapshot, 'schema' | 'cwd' | 'at' | 'reason' | 'exclude'> {
  const resolved = exclude.map((one) => whole(one) ?? path.resolve(one));
  const bounds = { entries: walkLimits.entries, ms: Math.min(walkLimits.ms, leftMs) };
  const { found, isWhole } = walkFolder(folder, { exclude: resolved, skip: ['node_modules', '.git'], ...bounds });
  const files = [...found].map(([name, { mode, stat }]): PlainFile => [name, mode, stat]);
  return { git: null, entries: [], rest: null, files: files.sort(([a], [b]) => (a < b ? -1 : 1)), exact: isWhole };
}

function whole(folder: string): string | undefined {
  try {
    return realPath(folder);
  } catch {
    return undefined;
  }
}
