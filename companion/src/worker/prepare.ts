// Before an agent starts: what its worktree looks like (kept for the comparison at the end), and the text that it gets.
import type { Spec } from '../core/job.ts';
import { makeBrief } from '../jobs/brief.ts';
import { prepareReview } from '../jobs/review.ts';
import { contextOf } from '../jobs/workspace/context.ts';
import type { WorkspaceSnapshot } from '../jobs/workspace/types.ts';
import { recordBefore } from '../jobs/workspace-record.ts';
import type { JobPaths } from '../store/layout.ts';

export interface Prepared {
  /** The whole text for the agent; empty for a job without one. */
  brief: string;
  before: WorkspaceSnapshot | undefined;
}

export function prepareStart(root: string, spec: Spec, paths: JobPaths): Prepared {
  if (!spec.staff) return { brief: '', before: undefined };
  const before = recordBefore(spec, paths);
  const review = spec.staff.mode === 'review' ? prepareReview(spec.staff, paths, before) : [];
  return { brief: makeBrief(spec, { context: contextOf(before), review, stateRoot: root }), before };
}
