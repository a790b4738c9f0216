/**
 * How tests ask `idle-check`, hold on to jobs with waits in processes of their own, and take the commands that it prints apart. Every answer
 * is asked for twice, as page and as document, and both must be bounded and of one mind.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { builtFile, parseReply, type Running, run, start } from './companion.ts';
import { eventually } from './eventually.ts';
import { findJob, type Job } from './jobs.ts';
import { killByIdentity } from './process.ts';
import type { Workspace } from './workspace.ts';

export interface JobRow {
  id: string;
  missing: string[];
  delivery: { by: string; pid: number; mode?: string; left_ms?: number | null; orphan?: boolean }[];
  not_counted: { by: string; pid: number | null; why: string; reason: string }[];
  backstop: { by: string; pid: number | null; id: string | null; left_ms: number } | null;
  attention: { cause: string; reason: string } | null;
  next: string | null;
  mend: string | null;
}

export interface Reply {
  safe: boolean;
  reason: string;
  next: string | null;
  jobs: JobRow[];
  timers: { id: string; delivered: boolean; extra: boolean; fault: boolean; next: string | null }[];
  unreadable: { id: string; reason: string }[];
  uncollected: { id: string; next: string }[];
  omitted: Record<string, number>;
}

export async function ask(
  workspace: Workspace,
  ...words: string[]
): Promise<{ code: number | null; reply: Reply; text: string }> {
  const [json, page] = [
    await run(workspace, ['idle-check', ...words, '--json']),
    await run(workspace, ['idle-check', ...words]),
  ];
  assert.equal(page.code, json.code, page.stdout + page.stderr);
  assert.ok(json.stdout.length <= 16 * 1024, `${json.stdout.length} bytes`);
  assert.ok(page.stdout.trimEnd().split('\n').length <= 40, page.stdout);
  return { code: json.code, reply: parseReply<Reply>(json), text: page.stdout };
}

export const rowOf = (reply: Reply, { id }: Pick<Job, 'id'>): JobRow => {
  const row = reply.jobs.find((one) => one.id === id);
  assert.ok(row, `no row of ${id}`);
  return row;
};

/** A wait of its own process group, registered with each of its jobs. */
export async function holdOn(workspace: Workspace, jobs: Pick<Job, 'id'>[], ...words: string[]): Promise<Running> {
  return registered(workspace, jobs, ['wait', ...jobs.map(({ id }) => id), ...words]);
}

export async function registered(workspace: Workspace, jobs: Pick<Job, 'id'>[], words: string[]): Promise<Running> {
  const wait = start(workspace, words, { detached: true, limitMs: 120_000 });
  workspace.defer(async () => {
    killByIdentity(wait.identity);
    await wait.promise.catch(() => undefined);
  });
  for (const { id } of jobs) {
    const folder = findJob(workspace, id).path('waiters');
    await eventually('the wait', () => readdirSync(folder).some((one) => one.startsWith(`${wait.pid}-`)), {
      limitMs: 20_000,
    });
  }
  return wait;
}

export async function arm(workspace: Workspace, ...words: string[]): Promise<Job> {
  const result = await run(workspace, ['timer', ...words, '--id-only']);
  assert.equal(result.code, 0, result.stderr);
  return findJob(workspace, result.stdout.trim());
}

/** The words of a printed command, behind `node FILE`. */
export function wordsOf(command: string | null): string[] {
  const [node, file, ...words] = (command ?? '').split(' ');
  assert.deepEqual([node, file], ['node', builtFile], String(command));
  return words;
}
