/**
 * Staff jobs with the real codex (test/lab/codex-lab.ts) behind the built file: what a caller of `staffer`, `ask`, `wait`,
 * `observe` and `continue` gets when the agent succeeds, hangs or loses its worker. What every agent CLI must stand is in
 * test/agents.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JobState } from '../../companion/src/core/job.ts';
import { hazards } from '../agents/prompts.ts';
import { parseReply, type RunOptions, type RunResult, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { killByIdentity, readIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { type CodexLab, makeCodexLab } from '../lab/codex-lab.ts';
import { lastUserText } from '../lab/model.ts';
import { plainText, toolText } from '../lab/model-server/scenarios.mjs';

test("codex: wait gives 0 and the model's text, and nothing else on stdout", async (t) => {
  const lab = await makeLab(t, 'text');
  const id = await launch(lab, ['staffer', '--backend', 'codex', '--prompt', 'Say hello.']);
  assert.match(id, /^staffer-/);
  const { code, stdout } = await call(lab, ['wait', id]);
  assert.deepEqual([code, stdout], [0, plainText]);

  const state = readState(lab, id);
  assert.equal(state.state, 'done');
  assert.deepEqual(state.warnings, []);
  assert.equal(state.conversation?.backend, 'codex');
  assert.match(state.conversation?.id ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(state.usage?.total_tokens, 120);
  const again = await call(lab, ['result', id]);
  assert.deepEqual([again.code, again.stdout], [0, plainText]);
});

test('codex: a running tool call is seen by observe', async (t) => {
  const lab = await makeLab(t, 'slowtool');
  const release = lab.workspace.path('release');
  const id = await launchSlow(lab, release);
  const seen = await call(lab, ['observe', id]);
  assert.equal(seen.code, 2);
  const running = toolsOf(seen)[0];
  assert.deepEqual([running?.name, running?.status], ['command_execution', 'running']);
  assert.ok(running?.input.includes(release), running?.input);
  assert.match(readState(lab, id).conversation?.id ?? '', /^[0-9a-f-]{36}$/);

  writeFileSync(release, '');
  const { code, stdout } = await call(lab, ['wait', id]);
  assert.deepEqual([code, stdout], [0, toolText]);
});

for (const isPending of [true, false]) {
  const when = isPending ? 'with a wait pending' : 'with nobody waiting';
  test(`codex: kill -9 of the worker ${when} loses nothing`, async (t) => {
    const lab = await makeLab(t, 'slowtool');
    const release = lab.workspace.path('release');
    const id = await launchSlow(lab, release);
    const pending = isPending ? start(lab.workspace, ['wait', id], { env: lab.codex.env }) : undefined;
    if (pending) await eventually('the wait to register', () => readdirSync(jobFile(lab, id, 'waiters')).length > 0);

    const worker = readIdentity(JSON.parse(readFileSync(jobFile(lab, id, 'worker.json'), 'utf8')).worker.pid);
    assert.ok(worker, 'the worker lives');
    assert.ok(killByIdentity(worker));
    await eventually('the worker to be gone', () => readIdentity(worker.pid)?.startTime !== worker.startTime);
    writeFileSync(release, '');
    if (!pending) await eventually('the end on disk', () => existsSync(jobFile(lab, id, 'exit.json')));

    const { code, stdout } = await (pending?.promise ?? call(lab, ['wait', id]));
    assert.deepEqual([code, stdout], [0, toolText]);
    assert.equal(readState(lab, id).error, null);
    // One execution: one request for the call, one for the answer.
    assert.equal(lab.codex.model.requests().length, 2);
  });
}

test('codex: continue sends the follow-up into the same conversation', async (t) => {
  const lab = await makeLab(t, 'count');
  const first = await launch(lab, ['staffer', '--backend', 'codex', '--prompt', 'One.']);
  assert.equal((await call(lab, ['wait', first])).stdout, 'user turns: 1');
  const second = await launch(lab, ['continue', '--job', first, '--prompt', 'Two.']);
  assert.notEqual(second, first);
  const { code, stdout } = await call(lab, ['wait', second]);
  assert.deepEqual([code, stdout], [0, 'user turns: 2']);
  assert.ok(readState(lab, first).conversation?.id);
  assert.deepEqual(readState(lab, second).conversation, readState(lab, first).conversation);
  assertSent(lab, 'Two.');
});

test('codex: a second writer on a live conversation is refused', async (t) => {
  const lab = await makeLab(t, 'text');
  const release = lab.workspace.path('release');
  const first = await launch(lab, ['staffer', '--backend', 'codex', '--prompt', 'One.']);
  assert.equal((await call(lab, ['wait', first])).code, 0);
  lab.codex.use('slowtool');
  const second = await launch(lab, ['continue', '--job', first, '--prompt', `Two.\nuntil: ${release}`]);
  for (const job of [first, second]) {
    const refused = await call(lab, ['continue', '--job', job, '--prompt', 'Three.']);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, new RegExp(second));
  }
  writeFileSync(release, '');
  assert.equal((await call(lab, ['wait', second])).stdout, toolText);
  assert.equal(lab.codex.model.requests().length, 3);
});

test('codex: prompts arrive byte for byte, whatever they hold and however they are given', async (t) => {
  const lab = await makeLab(t, 'text');
  const big = `${'The quick brown f\u00f6x. '.repeat(15_000)}end`;
  assert.ok(Buffer.byteLength(big) > 300_000);
  const file = join(lab.workspace.base, 'prompt.txt');
  const cases: [what: string, prompt: string, args: (prompt: string) => string[], input?: string][] = [
    ['every hazard by --prompt', hazards, (prompt) => ['--prompt', prompt]],
    ['one word like an option', '--help', (prompt) => ['--prompt', prompt]],
    ['every hazard by --prompt-file', hazards, () => ['--prompt-file', file]],
    ['300 KB by --prompt-file', big, () => ['--prompt-file', file]],
    ['300 KB by --stdin', big, () => ['--stdin'], big],
  ];
  for (const [what, prompt, args, input] of cases) {
    writeFileSync(file, prompt);
    const id = await launch(lab, ['staffer', '--backend', 'codex', ...args(prompt)], { input });
    assert.equal((await call(lab, ['wait', id])).code, 0, what);
    assertSent(lab, prompt);
  }
  assert.equal(existsSync(lab.workspace.path('pwned')), false);
});

test('codex: ask waits and answers; a continued ask does so too', async (t) => {
  const lab = await makeLab(t, 'count');
  const first = await call(lab, ['ask', '--backend', 'codex', '--prompt', 'One?']);
  assert.deepEqual([first.code, first.stdout], [0, 'user turns: 1']);
  const id = /\bask-[0-9a-z]+-[0-9a-z]+/.exec(first.stderr)?.[0];
  assert.ok(id, first.stderr);
  const second = await call(lab, ['continue', '--job', id, '--prompt', 'Two?']);
  assert.deepEqual([second.code, second.stdout], [0, 'user turns: 2']);
  lab.codex.use('e401');
  assert.equal((await call(lab, ['ask', '--backend', 'codex', '--prompt', 'Three?'])).code, 3);
});

test('codex: the hard limit ends a hanging model and keeps the conversation', async (t) => {
  const lab = await makeLab(t, 'hang');
  const id = await launch(lab, ['staffer', '--backend', 'codex', '--timeout', '6s', '--prompt', 'One.']);
  const { code, stdout } = await call(lab, ['wait', id]);
  assert.equal(code, 3);
  const state = readState(lab, id);
  assert.deepEqual([state.state, state.error?.code], ['timed_out', 'hard_timeout']);
  assert.match(state.conversation?.id ?? '', /^[0-9a-f-]{36}$/);
  assert.match(stdout, new RegExp(`continue --job ${id}`));

  lab.codex.use('count');
  const next = await launch(lab, ['continue', '--job', id, '--prompt', 'Two.']);
  const goneOn = await call(lab, ['wait', next]);
  assert.deepEqual([goneOn.code, goneOn.stdout], [0, 'user turns: 2']);
  assert.deepEqual(readState(lab, next).conversation, state.conversation);
});

test('codex: an agent of the standard profile works in the worktree and cannot write into the state folder', async (t) => {
  const lab = await makeLab(t, 'shell');
  const command =
    'echo x > made.txt; for f in .job-state/jobs/*/spec.json .job-state/planted; do echo x >> $f; done; true';
  const id = await launch(lab, ['staffer', '--backend', 'codex', '--prompt', `Write.\ncommand: ${command}`]);
  const { code, stdout } = await call(lab, ['wait', id]);
  assert.equal(code, 0);
  assert.equal(stdout.match(/Read-only file system/g)?.length, 2, stdout);
  assert.equal(lab.workspace.read('made.txt'), 'x\n');
  assert.equal(existsSync(lab.workspace.path('.job-state/planted')), false);
});

interface Lab {
  workspace: Workspace;
  codex: CodexLab;
}

async function makeLab(t: TestContext, scenario: string): Promise<Lab> {
  const workspace = makeWorkspace(t);
  return { workspace, codex: await makeCodexLab(workspace, scenario) };
}

function call({ workspace, codex }: Lab, args: string[], options: RunOptions = {}): Promise<RunResult> {
  return run(workspace, args, { ...options, env: codex.env });
}

/** A launch verb that must succeed; gives the id. */
async function launch(lab: Lab, [verb = '', ...args]: string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await call(lab, [verb, '--id-only', ...args], options);
  assert.equal(code, 0, stderr);
  const id = stdout.trim();
  assert.match(id, /^[a-z]+-[0-9a-z]+-[0-9a-z]+$/);
  return id;
}

/** A job whose tool call runs until the file appears. */
async function launchSlow(lab: Lab, release: string): Promise<string> {
  const id = await launch(lab, ['staffer', '--backend', 'codex', '--prompt', `Be slow.\nuntil: ${release}`]);
  await eventually('the tool call', async () => toolsOf(await call(lab, ['observe', id]))[0]?.status === 'running');
  return id;
}

/** The newest request to the model holds this prompt, whatever the companion and codex put around it. */
function assertSent({ codex }: Lab, prompt: string): void {
  const request = codex.model.requests().at(-1);
  assert.ok(request, 'the model was asked');
  const text = lastUserText(request);
  if (!text.includes(prompt)) assert.equal(text, prompt);
}

interface SeenTool {
  name: string;
  input: string;
  status: string;
}

function toolsOf(observed: RunResult): SeenTool[] {
  return parseReply<{ progress?: { tools?: SeenTool[] } }>(observed).progress?.tools ?? [];
}

function jobFile({ workspace }: Lab, id: string, name: string): string {
  return workspace.path('.job-state/jobs', id, name);
}

function readState(lab: Lab, id: string): JobState {
  return JSON.parse(readFileSync(jobFile(lab, id, 'state.json'), 'utf8'));
}
