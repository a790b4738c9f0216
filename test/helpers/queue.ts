/** Jobs with `--max-live`, as their tests look at them. */
import { readdirSync } from 'node:fs';
import { eventually } from './eventually.ts';
import type { Job } from './jobs.ts';
import type { Workspace } from './workspace.ts';

/** Many jobs on a machine that is busy. */
export const patient = { limitMs: 120_000 };

/** Its worker has looked and waits. */
export function untilQueued(job: Job): Promise<unknown> {
  return eventually(`job ${job.id} to be queued`, () => job.has('state.json') && job.state().queue, {
    limitMs: 20_000,
  });
}

/** Nobody looks at the jobs: they have to come to their end by themselves. */
export function untilAllEnded(workspace: Workspace): Promise<unknown> {
  return eventually('all to end', () => readdirSync(workspace.path('.job-state/active')).length === 0, patient);
}
