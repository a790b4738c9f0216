// result.json: everything that the state says of an ended job, and where the rest lies.
import type { JobState, ResultNote, Spec, StaffPart } from '../core/job.ts';
import { exists } from '../platform/folders.ts';
import type { TerminateReport } from '../platform/process-tree.ts';
import type { JobPaths } from '../store/layout.ts';
import type { StaffEnd } from './staff-end.ts';
import { takeOverCommands } from './worktree.ts';

/** What `result --json` and `wait --json` print of an ended job. */
export function terminalRecord(
  spec: Spec,
  paths: JobPaths,
  state: JobState,
  { tree, staff, results }: { tree?: TerminateReport; staff?: StaffEnd | undefined; results?: ResultNote[] } = {},
): Record<string, unknown> {
  return {
    ...state,
    kind: spec.kind,
    verb: spec.verb,
    owner: spec.owner,
    label: spec.label,
    cwd: spec.cwd,
    lineage: spec.lineage,
    ...(spec.milestone ? { milestone: spec.milestone } : {}),
    ended_by: tree?.step ?? 'none',
    ended_processes: tree?.ended.slice(0, 50) ?? [],
    survivors: tree?.survivors ?? [],
    ...(spec.staff ? wordsOf(spec.staff) : {}),
    ...(staff ? staffRecord(spec, staff) : {}),
    // Null: how they were at the end is not known any more.
    ...(spec.run ? { result_paths: results ?? null } : {}),
    ...(spec.timer ? { timer: spec.timer } : {}),
    result_path: paths.result,
    output_path: isTidy(spec, state) || !exists(paths.output) ? null : paths.output,
    error_path: exists(paths.error) ? paths.error : null,
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

function wordsOf({ mode, backend, custom, model, profile }: StaffPart): Record<string, unknown> {
  return { mode, backend: custom?.name ?? backend, model, profile };
}

/** A clean success needs no raw stream any more (contract 6); what the agent was given stays. */
export function isTidy(spec: Spec, state: JobState): boolean {
  return spec.kind === 'staff' && state.state === 'done' && state.warnings.length === 0;
}
