/** How the acceptance tests start watches, and a program that answers what the test writes into a file. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunOptions, run } from './companion.ts';
import { eventually } from './eventually.ts';
import { findJob, type Job } from './jobs.ts';
import type { Workspace } from './workspace.ts';

/** `watch WORDS --id-only`; options stand before a `--`. */
export async function launchWatch(workspace: Workspace, words: string[], options?: RunOptions): Promise<Job> {
  const [kind = '', ...rest] = words;
  const result = await run(workspace, ['watch', kind, '--id-only', ...rest], options);
  assert.equal(result.code, 0, result.stderr);
  return findJob(workspace, result.stdout.trim());
}

/** What was told, as words. */
export function newsOf(job: Job): unknown[] {
  return job.events('news').map(({ word }) => word);
}

/** The watch has looked (and told it). */
export function untilTold(job: Job, count = 1): Promise<unknown> {
  return eventually(
    `${count} news of ${job.id}`,
    () => job.has('events.ndjson') && job.events('news').length >= count,
    {
      limitMs: 20_000,
    },
  );
}

export interface Oracle {
  /** The program's absolute path. */
  readonly program: string;
  /** What it does from its next call on, as shell text. */
  answer(text: string): void;
  /** How often it was called. */
  calls(): number;
}

export function makeOracle(workspace: Workspace, first: string): Oracle {
  const program = join(workspace.base, 'oracle');
  const [act, log] = [`${program}.act`, `${program}.log`];
  const answer = (text: string) => writeFileSync(act, `${text}\n`);
  answer(first);
  writeFileSync(log, '');
  writeFileSync(program, `#!/bin/sh\necho called >>'${log}'\n. '${act}'\n`);
  chmodSync(program, 0o755);
  return { program, answer, calls: () => readFileSync(log, 'utf8').split('\n').length - 1 };
}
