/** One attempt: bounded as a whole, whatever the kind does; and nothing of it is left running. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type Answer, attempt } from '../../companion/src/jobs/watch-attempt.ts';
import type { Tools, Watch } from '../../companion/src/watches/watch.ts';
import { eventually } from '../helpers/eventually.ts';
import { isAlive, readIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

function kindOf(look: (tools: Tools) => Promise<Answer>): Watch {
  return {
    id: 'toy',
    summary: '',
    form: '',
    words: { min: 0, max: 0 },
    options: {},
    examples: [],
    isRemote: false,
    read: () => ({ input: {}, words: '' }),
    look: (_input, tools) => look(tools),
  };
}

const fine: Answer = { kind: 'look', verdict: 'met', word: 'x', evidence: 'x', key: 'x', facts: {}, cursor: {} };

function tryOnce(workspace: Workspace, kind: Watch, attemptMs = 60_000, signal = new AbortController().signal) {
  const thrown: unknown[] = [];
  const place = { root: workspace.path('.job-state'), cwd: workspace.dir, environment: { ...workspace.env } };
  const answer = attempt(kind, {}, null, { place, attemptMs, signal, onThrown: (error) => thrown.push(error) });
  return { answer, thrown };
}

/** A program that ignores TERM, with a child in a session of its own. */
function stubborn(workspace: Workspace): { kind: Watch; file: string } {
  const file = join(workspace.base, 'pid');
  const text = `trap '' TERM; sleep 600 & echo $$ >${file}.new; mv ${file}.new ${file}; while :; do sleep 0.1; done`;
  return {
    file,
    kind: kindOf(async (tools) => {
      await tools.run({ program: '/bin/sh', args: ['-c', text] });
      return fine;
    }),
  };
}

test('a look that never comes back is given up at the bound', async (t) => {
  const workspace = makeWorkspace(t);
  const { answer } = tryOnce(
    workspace,
    kindOf(() => new Promise(() => undefined)),
    100,
  );
  assert.deepEqual(await answer, {
    kind: 'trouble',
    cause: 'timeout',
    message: 'no answer within 100ms',
    retryAfterMs: null,
  });
});

test('a program that ignores TERM is gone when its attempt is over', async (t) => {
  const workspace = makeWorkspace(t);
  const { kind, file } = stubborn(workspace);
  const { answer } = tryOnce(workspace, kind, 1_500);
  const got = await answer;
  assert.deepEqual([got?.kind, got?.kind === 'trouble' && got.cause], ['trouble', 'timeout']);
  assert.equal(readIdentity(Number(readFileSync(file, 'utf8'))), undefined);
});

test('an attempt whose watch ends has no answer and leaves nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const { kind, file } = stubborn(workspace);
  const stop = new AbortController();
  const { answer } = tryOnce(workspace, kind, 60_000, stop.signal);
  await eventually('the program', () => existsSync(file));
  const identity = readIdentity(Number(readFileSync(file, 'utf8')));
  stop.abort();
  assert.equal(await answer, null);
  assert.ok(identity && !isAlive(identity));
});

test('what a kind throws is trouble, and handed on for the log', async (t) => {
  const workspace = makeWorkspace(t);
  const broken = kindOf(() => {
    throw new TypeError('no such field');
  });
  const { answer, thrown } = tryOnce(workspace, broken);
  const got = await answer;
  assert.ok(
    got?.kind === 'trouble' && got.cause === 'failed' && /error of this program: no such field/.test(got.message),
  );
  assert.ok(thrown[0] instanceof TypeError);
});

test('a program gets what is left of the attempt, the folder and the environment of the job', async (t) => {
  const workspace = makeWorkspace(t);
  const kind = kindOf(async (tools) => {
    const { stdout } = await tools.run({
      program: '/bin/sh',
      args: ['-c', 'pwd; echo $COLOR $HOME'],
      environment: { COLOR: 'blue' },
    });
    return { ...fine, evidence: stdout.toString() };
  });
  const got = await tryOnce(workspace, kind).answer;
  assert.equal(got?.kind === 'look' && got.evidence, `${workspace.dir}\nblue ${workspace.home}\n`);
});

test('a folder that is gone is said to be gone', async (t) => {
  const workspace = makeWorkspace(t);
  const kind = kindOf(async (tools) => {
    const { how, reason } = await tools.run({ program: '/bin/true', args: [], cwd: workspace.path('no', 'such') });
    return { ...fine, evidence: `${how}: ${reason}` };
  });
  const got = await tryOnce(workspace, kind).answer;
  assert.match(got?.kind === 'look' ? got.evidence : '', /^failed: the folder .*no\/such is gone$/);
});
