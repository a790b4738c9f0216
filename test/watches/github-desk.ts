/**
 * A watch of GitHub before the stand-in for gh (test/fixtures/programs/gh): the scenario, the look with real small programs in a clean
 * environment, and what was asked. The clock is the test's.
 */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { parseCommand } from '../../companion/src/commands/parse.ts';
import { runTool } from '../../companion/src/platform/tool.ts';
import type { Cursor, Fault, Look, Tools, Trouble, Watch } from '../../companion/src/watches/watch.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

export const headA = 'a'.repeat(40);
export const headB = 'b'.repeat(40);
export const standIn = join(import.meta.dirname, '../fixtures/programs/gh');

export interface Step {
  times?: number;
  view?: Record<string, unknown>;
  runs?: Record<string, unknown>[];
  checks?: { rows: Record<string, unknown>[]; code?: number };
  commit?: Record<string, unknown> | null;
  limits?: Record<string, unknown>;
  fail?: { stderr: string; stdout?: string; code?: number; at?: string };
  hang?: boolean;
  raw?: string;
  isUnfiltered?: boolean;
}

export interface Call {
  command: string;
  args: string[];
  quiet: Record<string, string>;
  at: number;
  cwd: string;
}

export interface Desk extends Workspace {
  /** For the environment of the built file. */
  env: Readonly<Record<string, string>>;
  play(...steps: Step[]): void;
  calls(command?: string): Call[];
  tools(change?: Partial<Tools>): Tools;
  nowMs: number;
}

export function makeDesk(t: TestContext): Desk {
  const workspace = makeWorkspace(t, { git: false });
  const folder = join(workspace.base, 'github');
  mkdirSync(folder);
  const log = join(folder, 'calls.ndjson');
  const env = { ...workspace.env, PATH: `${standIn}:${workspace.env.PATH}`, GH_STAND_IN: folder };
  const desk: Desk = {
    ...workspace,
    env,
    nowMs: Date.parse('2025-06-01T12:00:00Z'),
    play(...steps) {
      writeFileSync(join(folder, 'scenario.json'), JSON.stringify(steps));
      // The steps count from here.
      if (existsSync(log)) appendFileSync(join(folder, 'before.ndjson'), readFileSync(log));
      writeFileSync(log, '');
    },
    calls(command) {
      const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
      const found = lines.map((line) => JSON.parse(line) as Call);
      return command === undefined ? found : found.filter((call) => call.command === command);
    },
    tools: (change = {}) => ({
      run: ({ environment, cwd, limit, timeoutMs, ...call }) =>
        runTool({
          ...call,
          cwd: cwd ?? workspace.dir,
          environment: { ...env, ...environment },
          timeoutMs: timeoutMs ?? 30_000,
          limit: limit ?? 65_536,
        }),
      find: () => join(standIn, 'gh'),
      cwd: workspace.dir,
      leftMs: () => 60_000,
      everyMs: 60_000,
      nowMs: () => desk.nowMs,
      signal: new AbortController().signal,
      job: async () => undefined,
      onJobEnd: () => () => undefined,
      shared: (_key, _age, ask) => ask(),
      ...change,
    }),
  };
  return desk;
}

/** The input that a kind makes of these words. */
export function read(watch: Watch, ...args: string[]): Record<string, unknown> {
  return reading(watch, ...args).input;
}

export function reading(watch: Watch, ...args: string[]): { input: Record<string, unknown>; words: string } {
  const given = parseCommand({ ...watch, name: `watch ${watch.id}` }, args);
  return watch.read(given, { cwd: '/', isOnce: false, stateRoot: '/', jobId: (text) => text });
}

export function asLook(found: Look | Trouble | Fault): Look {
  assert.equal(found.kind, 'look', JSON.stringify(found));
  return found as Look;
}

/** Looks one after the other, each with the cursor of the one before. */
export async function follow(
  desk: Desk,
  watch: Watch,
  args: string[],
  count: number,
  everyMs = 60_000,
): Promise<Look[]> {
  const input = read(watch, ...args);
  const looks: Look[] = [];
  let cursor: Cursor | null = null;
  for (let round = 0; round < count; round += 1) {
    const look = asLook(await watch.look(input, desk.tools(), cursor));
    // What is kept must survive the disk.
    cursor = JSON.parse(JSON.stringify(look.cursor));
    looks.push(look);
    desk.nowMs += everyMs;
  }
  return looks;
}

export function view(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    number: 7,
    url: 'https://github.com/octo/demo/pull/7',
    title: 'Add a thing',
    state: 'OPEN',
    isDraft: false,
    mergeable: 'MERGEABLE',
    mergeStateStatus: 'CLEAN',
    reviewDecision: '',
    headRefOid: headA,
    headRefName: 'topic',
    statusCheckRollup: [],
    reviews: [],
    comments: [],
    ...change,
  };
}

let jobs = 0;

/** A job of a workflow, as `gh pr view --json statusCheckRollup` tells it. */
export function job(name: string, word: string, { run = 1, workflow = 'CI', startedAt = '2025-06-01T11:00:00Z' } = {}) {
  jobs += 1;
  const isOver = !['QUEUED', 'IN_PROGRESS', 'WAITING', 'PENDING'].includes(word);
  return {
    __typename: 'CheckRun',
    name,
    workflowName: workflow,
    status: isOver ? 'COMPLETED' : word,
    conclusion: isOver ? word : '',
    startedAt,
    completedAt: isOver ? '2025-06-01T11:05:00Z' : '0001-01-01T00:00:00Z',
    detailsUrl: `https://github.com/octo/demo/actions/runs/${run}/job/${jobs}`,
  };
}

/** A status of another app. */
export function status(context: string, state: string, startedAt = '2025-06-01T11:00:00Z') {
  return { __typename: 'StatusContext', context, state, targetUrl: `https://ci.example/${context}`, startedAt };
}

/** A check run of another app. */
export function appRun(name: string, word: string, detailsUrl: string, startedAt = '2025-06-01T11:00:00Z') {
  return { ...job(name, word, { workflow: '', startedAt }), detailsUrl };
}

const workflows: unknown[] = [];

/** One file per name, where the test does not say otherwise. */
function workflowId(named: unknown): number {
  if (!workflows.includes(named)) workflows.push(named);
  return 100 + workflows.indexOf(named);
}

/** As `gh run list` tells it. */
export function workflowRun(id: number, word: string, change: Record<string, unknown> = {}) {
  const isOver = !['queued', 'in_progress', 'waiting', 'pending', 'requested'].includes(word);
  return {
    databaseId: id,
    name: 'CI',
    workflowDatabaseId: workflowId(change.workflowName ?? 'CI'),
    workflowName: 'CI',
    event: 'pull_request',
    status: isOver ? 'completed' : word,
    conclusion: isOver ? word : '',
    createdAt: '2025-06-01T11:00:00Z',
    startedAt: '2025-06-01T11:00:00Z',
    url: `https://github.com/octo/demo/actions/runs/${id}`,
    headSha: headA,
    ...change,
  };
}
