// result.json: everything that the state says of an ended job, and where the rest lies.
import type { JobState, Spec } from '../core/job.ts';
import type { TerminateReport } from '../platform/process-tree.ts';
import type { JobPaths } from '../store/layout.ts';
import type { StaffEnd } from './staff-end.ts';
import { takeOverCommands } from './worktree.ts';

/** What `result --json` and `wait --json` print of an ended job. */
export function terminalRecord(
  spec: Spec,
  paths: JobPaths,
  state: JobState,
  tree?: TerminateReport,
  staff?: StaffEnd,
): Record<string, unknown> {
  return {
    ...state,
    kind: spec.kind,
    verb: spec.verb,
    owner: spec.owner,
    label: spec.label,
    cwd: spec.cwd,
    lineage: spec.lineage,
    ended_by: tree?.step ?? 'none',
    ended_processes: tree?.ended.slice(0, 50) ?? [],
    survivors: tree?.survivors ?? [],
    ...(staff ? staffRecord(spec, staff) : {}),
    result_path: paths.result,
    output_path: paths.output,
    error_path: paths.error,
  };
}

function staffRecord(spec: Spec, staff: StaffEnd): Record<string, unknown> {
  const { changes } = staff;
  return {
    changes,
    ...(spec.worktree
      ? { worktree: { ...spec.worktree, take_over: changes ? takeOverCommands(spec.worktree, changes) : [] } }
      : {}),
    ...('findings' in staff ? { findings: staff.findings, findings_error: staff.findings_error } : {}),
  };
}
