// What `doctor` says of a state folder and of one job: what is wrong, why, and the command that mends it. Changes nothing.
import { findEngine } from '../engines/registry.ts';
import { exists } from '../platform/folders.ts';
import { listActive, listJobs } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { healthOf } from './health-seen.ts';
import { nextCommand, nextCommands } from './next-commands.ts';
import { failedNotice } from './notice-seen.ts';
import { type Condition, conditionOf, inspect, isEnded, type View } from './view.ts';

export interface Finding {
  id: string;
  condition: Condition;
  /** Null when nothing is wrong. */
  problem: string | null;
  /** The command that mends it or shows more. */
  next: string | null;
  facts: string[];
}

export async function diagnose(root: StateRoot, id: string): Promise<Finding> {
  if (!exists(jobPaths(root.folder, id).folder)) {
    const next = nextCommand(root.option, 'clean', '--yes');
    return { id, condition: 'damaged', problem: 'a marker of a live job without a job folder', next, facts: [] };
  }
  const view = inspect(root.folder, id);
  const condition = conditionOf(view);
  return { id, condition, ...(await problemOf(root, view, condition)), facts: factsOfJob(view) };
}

/** Every job with a problem, live ones first. */
export async function diagnoseAll(root: StateRoot): Promise<Finding[]> {
  const ids = [...new Set([...listActive(root.folder), ...listJobs(root.folder)])];
  const findings: Finding[] = [];
  for (const id of ids) findings.push(await diagnose(root, id));
  return findings.filter((finding) => finding.problem !== null);
}

async function problemOf(
  root: StateRoot,
  view: View,
  condition: Condition,
): Promise<{ problem: string | null; next: string | null }> {
  const { id, spec, damage } = view;
  const wait = nextCommands.waitOn(id, isEnded(view.state) ? null : spec, root.option);
  if (condition === 'damaged')
    return {
      problem: `the record is damaged: ${damage}; nothing was deleted, output and result files are as they were`,
      next: nextCommands.status(root.option),
    };
  if (spec && !isEnded(view.state) && !(await isGenuine(spec, readKey()))) {
    return {
      problem: 'spec.json was changed or written by another user: nothing is started or signaled for this job',
      next: nextCommands.observe(id, root.option),
    };
  }
  if (spec && !findEngine(spec.engine))
    return { problem: `it runs on the engine ${spec.engine}, which this release does not know`, next: null };
  const health = healthOf(view, condition);
  switch (condition) {
    case 'orphaned':
    case 'unclaimed':
      return { problem: health.reason ?? condition, next: wait };
    case 'over':
    case 'lost':
    case 'host_restarted':
    case 'never_started':
      return {
        problem: `${condition}: the end is not published yet; the next reader in the same place does it`,
        next: wait,
      };
    case 'supervised':
    case 'unseen':
      return {
        problem: health.health === 'attention' ? (health.reason ?? null) : null,
        next: health.health === 'attention' ? nextCommands.observe(id, root.option) : null,
      };
    default:
      return { problem: null, next: null };
  }
}

function factsOfJob(view: View): string[] {
  const facts = [`state ${view.state.state}`, `worker ${view.seen.worker}`, `shim ${view.seen.shim}`];
  if (view.launch && view.launch.generation > 1) facts.push(`worker replaced ${view.launch.generation - 1} time(s)`);
  if (view.leaseAgeMs !== null) facts.push(`last sign of life ${Math.round(view.leaseAgeMs / 1000)} s ago`);
  if (view.exit) facts.push(`the command ended with exit code ${view.exit.exit_code}`);
  const notice = failedNotice(view);
  if (notice !== null) facts.push(`notifier ${notice}`);
  if (view.isOtherBoot) facts.push('the machine was restarted since');
  return facts;
}
