// How the runner of small programs ends one: also one that is deaf to TERM, with all that it started, and nothing is left afterwards.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { runTool, type ToolAnswer } from '../../companion/src/platform/tool.ts';
import { eventually } from '../helpers/eventually.ts';
import { MARKER } from '../helpers/leaks.ts';
import { listProcesses } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const kinds: [what: string, script: string][] = [
  ['that is deaf to TERM', `trap '' TERM; echo up >"$1"; while :; do sleep 0.1; done`],
  ['whose child is deaf to TERM', `(trap '' TERM; while :; do sleep 0.1; done) & echo up >"$1"; wait`],
  [
    'that left a deaf child and waits on',
    `setsid true; (trap '' TERM; exec sleep 300) & echo up >"$1"; exec sleep 300`,
  ],
];
for (const [what, script] of kinds) {
  test(`a program ${what} is ended at its time, with everything of its group`, async (t) => {
    const { workspace, answer } = await ended(t, script);
    assert.deepEqual([answer.how, answer.code], ['timeout', null]);
    const living = () => listProcesses({ environment: `${MARKER}=${workspace.marker}` }).length;
    await eventually('nothing to be left', () => living() === 0);
  });
}

test('a program is told by TERM first and can say its last words', async (t) => {
  const { answer } = await ended(t, `trap 'echo last words; exit 7' TERM; echo up >"$1"; while :; do sleep 0.1; done`);
  assert.deepEqual([answer.how, answer.stdout.toString()], ['timeout', 'last words\n']);
});

test('what the runner does about TERM is not passed on', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const answer = await call(workspace, 'kill -s TERM $$; echo survived', new AbortController().signal);
  assert.deepEqual([answer.how, answer.code, answer.stdout.toString()], ['exited', 143, '']);
});

/** Runs it into its time. */
async function ended(t: TestContext, script: string): Promise<{ workspace: Workspace; answer: ToolAnswer }> {
  const workspace = makeWorkspace(t, { git: false });
  return { workspace, answer: await call(workspace, script, undefined) };
}

function call(workspace: Workspace, script: string, signal: AbortSignal | undefined): Promise<ToolAnswer> {
  return runTool({
    program: '/bin/sh',
    args: ['-c', script, 'sh', join(workspace.base, 'up')],
    cwd: workspace.dir,
    environment: workspace.env,
    timeoutMs: signal ? 60_000 : 2_000,
    limit: 1_000,
    ...(signal ? { signal } : {}),
  });
}
