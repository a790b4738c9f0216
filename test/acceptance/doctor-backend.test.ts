/**
 * `doctor --backend NAME` (issue 3): one real round trip, on request only. 0 when a complete answer came, 3 when not, with the
 * reason in the CLI's own words; and nothing of it stays: no folder, no process, no job in this worktree.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { parseReply, type RunResult, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { isAlive, readIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { makeCodexLab } from '../lab/codex-lab.ts';
import { digest, plainText } from '../lab/model-server/scenarios.mjs';

interface Document {
  backend: string;
  ready: boolean;
  program: string;
  version: string | null;
  profile: string;
  state: string;
  error: { code: string; message: string } | null;
  next?: string | null;
  first_output_ms: number | null;
  duration_ms: number | null;
  conversation_id: string | null;
  answer: string | null;
  left: string | null;
}

interface Place extends Workspace {
  /** Where trials are made: a folder of this test alone. */
  trials: string;
  runWith: Record<string, string>;
}

function makePlace(t: TestContext): Place {
  const workspace = makeWorkspace(t);
  const trials = join(workspace.base, 'tmp');
  const bin = join(workspace.base, 'bin');
  for (const folder of [trials, bin]) mkdirSync(folder);
  const runWith = { TMPDIR: trials, PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` };
  return { ...workspace, trials, runWith };
}

/** The reply, after it was seen that nothing of the trial is left. */
async function doctor(place: Place, args: string[], env = place.runWith): Promise<RunResult> {
  const result = await run(place, ['doctor', '--backend', ...args], { env });
  assert.deepEqual(readdirSync(place.trials), []);
  assert.equal(existsSync(place.path('.job-state')), false);
  return result;
}

/** A program of the user's own config as backend `mine`. */
function useOwn(place: Place, ...lines: string[]): string {
  const file = join(place.base, 'bin/mine');
  writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(file, 0o755);
  const config = join(place.home, '.config/job-companion/config.json');
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, '{"backends":{"mine":{"argv":["mine"]}}}');
  return file;
}

test('the real codex answers: 0, with version, times, conversation and answer', async (t) => {
  const place = makePlace(t);
  const codex = await makeCodexLab(place, 'text');
  const env = { ...codex.env, TMPDIR: place.trials };
  const result = await doctor(place, ['codex', '--json'], env);
  assert.equal(result.code, 0, result.stdout);
  const document = parseReply<Document>(result);
  assert.deepEqual(
    [document.ready, document.program, document.version, document.profile, document.state, document.answer],
    [true, codex.program, '0.171.0', 'restricted', 'done', plainText.trim()],
  );
  assert.match(document.conversation_id ?? '', /^[0-9a-f-]{36}$/);
  assert.ok((document.first_output_ms ?? -1) >= 0 && (document.duration_ms ?? -1) > 0, result.stdout);
  assert.equal(codex.model.requests().length, 1);

  const page = await doctor(place, ['codex'], env);
  assert.equal(page.code, 0);
  assert.match(page.stdout, /^codex: ready\n {2}program /);
  assert.match(page.stdout, /^ {2}verdict {7}done$/m);
  assert.match(page.stderr, /asking codex for one word: one small model call/);
});

test('codex gets the one task as it is, in an empty folder outside the repository, and may only read', async (t) => {
  const place = makePlace(t);
  const codex = await makeCodexLab(place, 'echo');
  const result = await doctor(place, ['codex', '--json'], { ...codex.env, TMPDIR: place.trials });
  assert.deepEqual(JSON.parse(parseReply<Document>(result).answer ?? ''), digest('Reply with the single word: ready'));
});

test('codex with a refused key: 3, auth, in the words of codex', async (t) => {
  const place = makePlace(t);
  const codex = await makeCodexLab(place, 'e401');
  const env = { ...codex.env, TMPDIR: place.trials };
  const result = await doctor(place, ['codex', '--json'], env);
  assert.equal(result.code, 3);
  const { ready, state, error, answer } = parseReply<Document>(result);
  assert.deepEqual([ready, state, error?.code, answer], [false, 'failed', 'auth', null]);
  assert.match(error?.message ?? '', /401 Unauthorized: Incorrect API key/);
  const page = await doctor(place, ['codex'], env);
  assert.equal(page.code, 3);
  assert.match(page.stdout, /^codex: not ready$/m);
  assert.match(page.stdout, /^ {2}verdict {7}failed, auth: .*401/m);
});

test('a program of the own config is tried with the narrowest profile that it can have, in an empty folder', async (t) => {
  const place = makePlace(t);
  useOwn(place, 'echo "$PWD: $(ls -A | wc -l) files; $(cat)"', 'git rev-parse 2>/dev/null && echo in git', 'exit 0');
  const result = await doctor(place, ['mine', '--json']);
  const { ready, profile, version, answer, conversation_id } = parseReply<Document>(result);
  assert.deepEqual([result.code, ready, profile, version, conversation_id], [0, true, 'standard', null, null]);
  assert.match(answer ?? '', /job-companion-trial-\w+\/empty: 0 files; Reply with the single word: ready\n$/);
  const page = await doctor(place, ['mine']);
  assert.match(page.stdout, /^ {2}answer {8}\S.*\n(?: {16}\S.*\n)* {2}verdict {7}done$/m);
});

test('an answer that is empty or comes with a failure is not ready, and what was left running is ended', async (t) => {
  const place = makePlace(t);
  useOwn(place, 'exit 0');
  const empty = parseReply<Document>(await doctor(place, ['mine', '--json']));
  assert.deepEqual([empty.ready, empty.error?.code], [false, 'no_final_answer']);
  useOwn(place, 'sleep 300 &', 'echo ready', 'echo out of ink >&2', 'exit 4');
  const failed = await doctor(place, ['mine', '--json']);
  const { error } = parseReply<Document>(failed);
  assert.deepEqual([failed.code, error?.code], [3, 'exit_nonzero']);
  assert.match(error?.message ?? '', /code 4: out of ink/);
});

test('an interrupted trial ends what it started and leaves nothing', async (t) => {
  const place = makePlace(t);
  const held = join(place.base, 'held');
  useOwn(place, `echo $$ > '${held}'`, 'sleep 300');
  const running = start(place, ['doctor', '--backend', 'mine', '--json'], { env: place.runWith });
  await eventually('the trial to run', () => existsSync(held) && readFileSync(held, 'utf8'));
  running.kill('SIGINT');
  const result = await running.promise;
  assert.equal(result.code, 3);
  assert.equal(parseReply<Document>(result).state, 'canceled');
  assert.deepEqual(readdirSync(place.trials), []);
});

test('a second signal cuts nothing short: the agent is ended and the folder gone before doctor leaves', async (t) => {
  const place = makePlace(t);
  const held = join(place.base, 'held');
  // It takes its time to obey.
  useOwn(place, `trap 'sleep 1; exit 0' TERM`, `echo $$ > '${held}'`, 'while :; do sleep 0.1; done');
  const running = start(place, ['doctor', '--backend', 'mine', '--json'], { env: place.runWith });
  await eventually('the trial to run', () => existsSync(held) && readFileSync(held, 'utf8'));
  const agent = readIdentity(Number(readFileSync(held, 'utf8')));
  assert.ok(agent);
  running.kill('SIGINT');
  const files = () => readdirSync(place.trials, { recursive: true }).map(String);
  await eventually('the request to end it', () => files().some((file) => file.endsWith('/cancel.json')));
  running.kill('SIGINT');
  running.kill('SIGTERM');
  const result = await running.promise;
  assert.deepEqual([result.code, parseReply<Document>(result).state], [3, 'canceled']);
  assert.equal(isAlive(agent), false);
  assert.deepEqual(readdirSync(place.trials), []);
});

test('a signal before the agent runs ends the trial too: while the program is asked for its version, and before the start', async (t) => {
  const place = makePlace(t);
  const [asked, ran] = [join(place.base, 'asked'), join(place.base, 'ran')];
  const file = join(place.base, 'bin/codex');
  const hang = `[ "$1" != --version ] || { echo $$ > '${asked}'; sleep 300; }`;
  writeFileSync(file, `#!/bin/sh\n${hang}\necho x >> '${ran}'\n`);
  chmodSync(file, 0o755);
  const running = start(place, ['doctor', '--backend', 'codex', '--json'], { env: place.runWith });
  await eventually('the program to be asked', () => existsSync(asked));
  running.kill('SIGINT');
  running.kill('SIGTERM');
  const result = await running.promise;
  assert.equal(result.code, 3, result.stdout + result.stderr);
  const { ready, error } = parseReply<Document>(result);
  assert.equal(ready, false);
  assert.match(error?.message ?? '', /interrupted by SIG(INT|TERM)/);
  assert.deepEqual(readdirSync(place.trials), []);
  assert.equal(existsSync(ran), false);

  useOwn(place, 'sleep 300');
  const early = start(place, ['doctor', '--backend', 'mine', '--json'], { env: place.runWith });
  await eventually('the folder of the trial', () => readdirSync(place.trials).length > 0, { everyMs: 1 });
  early.kill('SIGINT');
  assert.equal((await early.promise).code, 3);
  assert.deepEqual(readdirSync(place.trials), []);
});

test('a CLI that is missing, or too old, is not ready: 3 with the reason and what to do', async (t) => {
  const place = makePlace(t);
  const missing = await doctor(place, ['codex']);
  assert.equal(missing.code, 3);
  assert.match(missing.stdout, /^codex: not ready\n {2}refused {7}cannot find codex for backend codex: not on PATH/);
  const file = join(place.base, 'bin/codex');
  writeFileSync(file, '#!/bin/sh\necho codex-cli 0.1.0\n');
  chmodSync(file, 0o755);
  const old = await doctor(place, ['codex', '--json']);
  assert.equal(old.code, 3);
  const { ready, error, next } = parseReply<Document>(old);
  assert.deepEqual([ready, error?.code, next], [false, 'preflight', 'update it: npm install -g @openai/codex']);
  assert.match(error?.message ?? '', /0\.1\.0 .* it is too old/);
});

test('an unknown backend, and a job beside --backend, are faults of the command', async (t) => {
  const place = makePlace(t);
  const unknown = await doctor(place, ['evil']);
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /cannot use backend "evil"/);
  const both = await run(place, ['doctor', 'run-mik3x9ab-4f7q2z', '--backend', 'codex']);
  assert.equal(both.code, 1);
  assert.match(both.stderr, /cannot take a job ID and --backend together/);
});
