// What is started for a job: the command line, the environment, and what stdin is. Pure but for the files of prompt and settings.
import type { StaffRequest } from '../backends/backend.ts';
import { hostMarkers } from '../backends/registry.ts';
import type { Spec } from '../core/job.ts';
import { backendOf } from '../jobs/replay.ts';
import { childEnvironment, type Environment, handbackVariable } from '../platform/env.ts';
import { writeFile } from '../platform/files.ts';
import { repositoryVariables } from '../platform/git-tool.ts';
import type { JobPaths } from '../store/layout.ts';

export interface ChildPlan {
  program: string;
  args: string[];
  environment: Environment;
  /** The file that becomes stdin. */
  input: string;
  /** The id that we give to a new conversation, for CLIs that tell it only at the end. */
  conversationId: string | null;
}

/** `brief` is the whole text for an agent. */
export function planChild(root: string, spec: Spec, paths: JobPaths, brief: string): ChildPlan {
  const own = { id: spec.id, cwd: spec.cwd, mark: spec.mark };
  if (spec.run) {
    const environment = childEnvironment({ ...own, add: {}, remove: [] });
    return {
      program: spec.run.program,
      args: spec.run.argv.slice(1),
      environment,
      input: '/dev/null',
      conversationId: null,
    };
  }
  const backend = backendOf(spec);
  if (!spec.staff || !backend) throw new Error(`cannot start job ${spec.id}: unknown backend ${spec.staff?.backend}`);
  const plan = backend.plan({ ...staffRequest(root, spec, paths), prompt: brief });
  if (plan.promptBy === 'stdin') writeFile(paths.prompt, plan.stdin);
  if (plan.promptBy === 'file') writeFile(paths.prompt, brief);
  if (plan.settings !== undefined) writeFile(paths.settings, plan.settings);
  return {
    program: spec.staff.program,
    args: plan.args,
    environment: childEnvironment({
      ...own,
      add: { ...plan.environment, ...(spec.handback ? { [handbackVariable]: spec.handback.dir } : {}) },
      remove: [...hostMarkers(), ...repositoryVariables, ...plan.remove],
    }),
    input: plan.promptBy === 'stdin' ? paths.prompt : '/dev/null',
    conversationId: plan.conversationId,
  };
}

export function staffRequest(root: string, spec: Spec, paths: JobPaths): StaffRequest {
  const staff = spec.staff;
  if (!staff) throw new Error(`job ${spec.id} is no staff job`);
  return {
    mode: staff.mode,
    prompt: staff.prompt,
    model: staff.model,
    version: staff.version ?? null,
    profile: staff.profile,
    resume: staff.resume,
    freshId: uuidOf(spec.mark),
    cwd: spec.cwd,
    deadlineMs: spec.deadline_ms,
    stateRoot: root,
    writable: [...(spec.worktree ? [spec.worktree.git_folder] : []), ...(spec.handback ? [spec.handback.dir] : [])],
    promptFile: paths.prompt,
    settingsFile: paths.settings,
    custom: staff.custom,
  };
}

/** A UUID (version 4 form) from the job's random mark: the same for every worker of the job. */
function uuidOf(mark: string): string {
  const hex = mark.slice(0, 32).padEnd(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
