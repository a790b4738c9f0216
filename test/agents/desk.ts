/**
 * One test of one agent CLI: a workspace, the CLI against the scripted model, and the built companion in between. Jobs have
 * a hard limit of some minutes, so that a CLI that hangs fails its test instead of stopping the run.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { JobState } from '../../companion/src/core/job.ts';
import { parseReply, type RunOptions, type RunResult, run } from '../helpers/companion.ts';
import { findJob, type Job } from '../helpers/jobs.ts';
import { FULL } from '../helpers/runner/options.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { type AgentLab, makeAgentLab } from '../lab/agent-lab.ts';
import type { LabProfile } from '../lab/agents/profile.ts';

export const isFull = process.env[FULL] === '1';
const patienceMin = isFull ? 95 : 4;
const jobLimit = isFull ? '90m' : '3m';

export interface Desk {
  readonly workspace: Workspace;
  readonly lab: AgentLab;
  /** The companion, with the environment in which the CLI finds the lab's model. */
  call(args: string[], options?: RunOptions): Promise<RunResult>;
  /** A new conversation; `args` hold the task (`--prompt ...`). */
  start(args: string[], options?: RunOptions): Promise<Job>;
  goOn(job: Job, args: string[]): Promise<Job>;
  /** Its end: the stored state and what `wait` printed. */
  end(job: Job): Promise<{ state: JobState; code: number | null; answer: string }>;
  tools(job: Job): Promise<SeenTool[]>;
}

export interface SeenTool {
  name: string;
  input: string;
  status: string;
}

export async function makeDesk(t: TestContext, profile: LabProfile, scenario: string): Promise<Desk> {
  const workspace = makeWorkspace(t);
  const lab = await makeAgentLab(workspace, profile, scenario);
  const call: Desk['call'] = (args, options = {}) => run(workspace, args, { ...options, env: lab.env });
  const launch = async (words: string[], args: string[], options?: RunOptions) => {
    const limit = args.includes('--timeout') ? [] : ['--timeout', jobLimit];
    const { code, stdout, stderr } = await call([...words, '--id-only', ...limit, ...args], options);
    assert.equal(code, 0, stderr);
    return findJob(workspace, stdout.trim());
  };
  const chosen = ['--backend', profile.id, ...(profile.model === null ? [] : ['--model', profile.model])];
  return {
    workspace,
    lab,
    call,
    start: (args, options) => launch(['staffer', ...chosen], args, options),
    goOn: (job, args) => launch(['continue', '--job', job.id], args),
    async end(job) {
      const patience = ['--timeout', `${patienceMin}m`];
      const { code, stdout } = await call(['wait', job.id, ...patience], { limitMs: (patienceMin + 1) * 60_000 });
      return { state: job.state(), code, answer: stdout };
    },
    async tools(job) {
      const seen = parseReply<{ progress?: { tools?: SeenTool[] } }>(await call(['observe', job.id]));
      return seen.progress?.tools ?? [];
    },
  };
}
