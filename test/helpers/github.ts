/**
 * Watches of GitHub on the built file, before the stand-in for gh (test/fixtures/programs/gh): a scenario is played, and what is printed and
 * recorded is looked at.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Desk, makeDesk } from '../watches/github-desk.ts';
import { parseReply, type Running, type RunOptions, type RunResult, run, start } from './companion.ts';
import { findJob, type Job, type JobEvent } from './jobs.ts';

export { headA, headB, job, status, view, workflowRun } from '../watches/github-desk.ts';

export type Line = Record<string, unknown>;

export interface GithubWorkspace extends Desk {
  /** `watch WORDS --repo octo/demo` with a bound and the shortest interval. */
  watch(...words: string[]): Promise<Job>;
  /** `watch WORDS --once --json`. */
  once(...words: string[]): Promise<{ code: number | null; reply: Line }>;
  wait(job: Job): Promise<RunResult>;
  foreground(...words: string[]): Running;
}

/** The least interval that a watch over a network may have, unless another was named. */
function everyOf(words: string[]): string[] {
  return words.includes('--every') ? [] : ['--every', '5s'];
}

export function makeGithub(t: TestContext): GithubWorkspace {
  const desk = makeDesk(t);
  const repo = ['--repo', 'octo/demo'];
  return {
    ...desk,
    async watch(...words) {
      const result = await run(desk, ['watch', ...words, ...repo, '--for', '10m', ...everyOf(words), '--id-only']);
      assert.equal(result.code, 0, result.stderr);
      return findJob(desk, result.stdout.trim());
    },
    async once(...words) {
      const result = await run(desk, ['watch', ...words, ...repo, '--once', '--json']);
      return { code: result.code, reply: parseReply(result) };
    },
    wait: ({ id }) => run(desk, ['wait', id, '--timeout', '2m'], { limitMs: 150_000 }),
    foreground: (...words) =>
      start(desk, ['watch', ...words, ...repo, '--foreground', ...everyOf(words)], {
        limitMs: 150_000,
      } satisfies RunOptions),
  };
}

/** What a watch told: the word and the evidence of each news. */
export function newsOf(job: Job): string[] {
  return job.events('news').map((event) => String(event.word));
}

export function factsOf(event: JobEvent | undefined): Line {
  return (event?.facts ?? {}) as Line;
}

export function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}
