/**
 * A scripted agent for tests of what surrounds an agent: the custom backend `script` keeps the text that it gets and runs
 * `act.sh` of the home (its stdout is the answer); `held` waits until it is released.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseReply, type RunOptions, type RunResult, run } from './companion.ts';
import { findJob, type Job } from './jobs.ts';
import type { Workspace } from './workspace.ts';

export interface ScriptedStaff {
  /** What the agent does from its next start on, as shell text; its stdout is the answer. */
  act(text: string): void;
  /** The text that the agent of this job got. */
  brief(id: string): string;
  /** A staff verb with this backend, to its end. */
  staff(verb: string, args?: string[], options?: RunOptions): Promise<RunResult>;
  /** Launch it; throws when it is refused. */
  launch(verb: string, args?: string[]): Promise<Job>;
  record(id: string): Promise<Record<string, unknown>>;
}

const script = 'cat >"$HOME/brief-$JOB_ID"; . "$HOME/act.sh"';

export function makeStaff(workspace: Workspace, { config = {} }: { config?: object } = {}): ScriptedStaff {
  const folder = join(workspace.home, '.config/job-companion');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const backends = { script: { argv: ['sh', '-c', script], brief: true }, bare: { argv: ['sh', '-c', script] } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ backends, default_backend: 'script', ...config }));
  const act = (text: string) => writeFileSync(join(workspace.home, 'act.sh'), text);
  act('echo answer');
  const words = (verb: string, args: string[]) => [verb, '--profile', 'standard', ...args];
  return {
    act,
    brief(id) {
      const file = join(workspace.home, `brief-${id}`);
      return existsSync(file) ? readFileSync(file, 'utf8') : '';
    },
    staff: (verb, args = ['--prompt', 'Do it.'], options) => run(workspace, [...words(verb, args), '--wait'], options),
    async launch(verb, args = ['--prompt', 'Do it.']) {
      const result = await run(workspace, [...words(verb, args), '--id-only']);
      if (result.code !== 0) throw new Error(result.stderr);
      return findJob(workspace, result.stdout.trim());
    },
    record: async (id) => parseReply(await run(workspace, ['result', id, '--json'])),
  };
}

/** Shell text that runs until the file appears. */
export function until(file: string): string {
  return `until [ -e '${file}' ]; do sleep 0.05; done`;
}
