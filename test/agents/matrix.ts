/**
 * The cases that every agent CLI goes through, with the real CLI (or, where it cannot be installed, a stand-in) behind the
 * built file. What comes of each is data of the CLI's own test file (expectations.ts).
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { type Job, killNow } from '../helpers/jobs.ts';
import type { LabProfile } from '../lab/agents/profile.ts';
import { plainText, toolText, writtenText } from '../lab/model-server/scenarios.mjs';
import { type Desk, isFull, makeDesk } from './desk.ts';
import { compare, type Expectations, type Expected, failureCases } from './expectations.ts';
import { definePromptCases } from './prompts.ts';

const slowLimit = { limitMs: 120_000, everyMs: 200 };

export function defineMatrix(profile: LabProfile, expectations: Expectations): void {
  const { id } = profile;
  const define = (what: string, scenario: string, body: (desk: Desk) => Promise<void>) =>
    test(`${id}: ${what}`, { concurrency: false }, async (t) => body(await makeDesk(t, profile, scenario)));
  const profiles = (['restricted', 'standard', 'unrestricted'] as const).filter(
    (name) => name !== 'restricted' || expectations.denied !== null,
  );

  for (const name of profiles) {
    define(`text (${name})`, 'text', async (desk) => {
      const job = await desk.start(['--profile', name, '--prompt', 'Say hello.']);
      const { state, code, answer } = await desk.end(job);
      assert.deepEqual([state.state, code, answer], ['done', 0, plainText], JSON.stringify(state.error));
      const codes = state.warnings.map((warning) => warning.code);
      assert.deepEqual(codes, expectations.cleanWarnings?.[name] ?? [], JSON.stringify(state.warnings));
      assert.ok(state.conversation?.id, 'the conversation is known');
      assert.equal(state.usage === null, expectations.tellsUsage === false, JSON.stringify(state.usage));
      if (state.usage) assert.ok(state.usage.total_tokens >= 120, JSON.stringify(state.usage));
    });
  }

  define('a tool call is seen while it runs', 'slowtool', async (desk) => {
    const release = desk.workspace.path('release');
    const job = await startSlow(desk, release);
    writeFileSync(release, '');
    const { state, answer } = await desk.end(job);
    assert.deepEqual([state.state, answer], ['done', toolText], JSON.stringify(state.error));
    const told = toolEvents(job);
    assert.deepEqual([told.length, told[0]?.status], [1, 'completed'], JSON.stringify(told));
    assert.match(told[0]?.name ?? '', expectations.shellTool);
    assert.match(told[0]?.output ?? '', /released/);
  });

  define('two calls in one answer are told apart', 'twotools', async (desk) => {
    const job = await desk.start(['--prompt', 'Do both.']);
    const { state, answer } = await desk.end(job);
    assert.deepEqual([state.state, answer], ['done', toolText], JSON.stringify(state.error));
    const outputs = toolEvents(job).map(({ status, output }) => `${status} ${output}`);
    assert.equal(outputs.length, 2, JSON.stringify(outputs));
    for (const [n, word] of ['one', 'two'].entries())
      assert.match(outputs.sort()[n] ?? '', new RegExp(`^completed .*lab-tool-${word}`));
    assert.equal(desk.lab.model.requests().length, 2, 'one request for the calls, one for the answer');
  });

  for (const [name, scenario] of [
    ['standard', 'write'],
    ['standard', 'writefile'],
    ['unrestricted', 'write'],
  ] as const) {
    define(`it may write (${name}, ${scenario})`, scenario, async (desk) => {
      const file = desk.workspace.path('made.txt');
      const job = await desk.start(['--profile', name, '--prompt', `Write.\nfile: ${file}`]);
      const { state, answer } = await desk.end(job);
      assert.deepEqual([state.state, answer], ['done', toolText], JSON.stringify(state.error));
      assert.equal(desk.workspace.read('made.txt'), writtenText);
    });
  }

  for (const [name, scenario] of [
    ['standard', 'write'],
    ['standard', 'writefile'],
    ['unrestricted', 'writefile'],
  ] as const) {
    define(`it may write into its hand-back folder (${name}, ${scenario})`, scenario, async (desk) => {
      // Not where every sandbox lets write: the folder for temporary files.
      const dir = realpathSync(mkdtempSync('/var/tmp/hand-'));
      desk.workspace.defer(() => rmSync(dir, { recursive: true }));
      const words = ['--handback', dir, '--profile', name, '--prompt', `Write.\nfile: ${join(dir, '01-made.md')}`];
      const job = await desk.start(words);
      const { state, answer } = await desk.end(job);
      assert.deepEqual([state.state, answer], ['done', toolText], JSON.stringify(state.error));
      assert.equal(readFileSync(join(dir, '01-made.md'), 'utf8'), writtenText);
      assert.deepEqual(
        job.events('handback').map((event) => event.name),
        ['01-made.md'],
      );
    });
  }

  define('restricted has no hand-back folder', 'text', async (desk) => {
    const dir = join(desk.workspace.base, 'hand');
    const words = ['staffer', '--backend', id, '--profile', 'restricted', '--handback', dir, '--prompt', 'x'];
    const refused = await desk.call(words);
    assert.deepEqual([refused.code, refused.stdout, existsSync(dir)], [1, '', false]);
    assert.match(refused.stderr, /cannot take --handback with profile restricted/);
  });

  const { denied, unoffered } = expectations;
  const attempts: [how: string, Expected | undefined][] = [
    ['by: shell', denied?.shell],
    ['by: file', denied?.file],
    [`call: ${unoffered?.tool}`, unoffered?.expected],
  ];
  for (const [how, expected] of attempts) {
    if (!expected) continue;
    define(`restricted writes nothing, whatever the settings allow (${how})`, 'denied', async (desk) => {
      const { home, dir } = desk.workspace;
      expectations.widen?.({ home, dir, baseUrl: `${desk.lab.model.url}/denied` });
      const file = desk.workspace.path('made.txt');
      const job = await desk.start(['--profile', 'restricted', '--prompt', `Write.\nfile: ${file}\n${how}`]);
      const { state, answer } = await desk.end(job);
      assert.equal(existsSync(file), false, `it wrote: ${answer}`);
      compare(state, answer, expected);
      const [request] = desk.lab.model.requests();
      if (how.startsWith('call')) assert.ok(!request?.tools.includes(unoffered?.tool ?? ''), 'it is offered');
    });
  }

  for (const name of failureCases) {
    const isSlow = profile.slowCases.includes(name) && !isFull;
    define(`${name}${isSlow ? ' (only its limit: --full runs it whole)' : ''}`, name, async (desk) => {
      const job = await desk.start([...(isSlow ? ['--timeout', '45s'] : []), '--prompt', 'Say hello.']);
      const { state, answer, code } = await desk.end(job);
      const expected: Expected = isSlow ? { outcome: 'timed_out', code: 'hard_timeout' } : expectations.failures[name];
      compare(state, answer, expected);
      assert.equal(code, expected.outcome === 'done' ? 0 : 3);
      assert.ok(desk.lab.model.requests().length > 0, 'it has asked the model');
    });
  }

  define('hang, canceled', 'hang', async (desk) => {
    const job = await desk.start(['--prompt', 'Say hello.']);
    await untilAsked(desk);
    assert.equal((await desk.call(['cancel', job.id])).code, 0);
    const { state, code } = await desk.end(job);
    assert.deepEqual([state.state, code], ['canceled', 4]);
  });

  define('killed in a tool: failed, and the conversation goes on', 'slowtool', async (desk) => {
    const job = await startSlow(desk, desk.workspace.path('never'));
    await killNow('the agent', job.identity('child'));
    const { state, answer } = await desk.end(job);
    compare(state, answer, { outcome: 'failed', code: 'signal', words: /SIGKILL/ });
    assert.ok(state.conversation?.id, 'the conversation is known');
    desk.lab.use('count');
    const next = await desk.end(await desk.goOn(job, ['--prompt', 'Two.']));
    compare(next.state, next.answer, {
      outcome: 'done',
      answer: expectations.keepsCutTurn ? /^user turns: 2$/ : /^user turns: 1$/,
    });
    assert.deepEqual(next.state.conversation, state.conversation);
  });

  define('continue goes on in the same conversation', 'count', async (desk) => {
    const first = await desk.start(['--prompt', 'One.']);
    const one = await desk.end(first);
    assert.equal(one.answer, 'user turns: 1', JSON.stringify(one.state.error));
    const two = await desk.end(await desk.goOn(first, ['--prompt', 'Two.']));
    assert.equal(two.answer, 'user turns: 2', JSON.stringify(two.state.error));
    assert.ok(one.state.conversation?.id);
    assert.deepEqual(two.state.conversation, one.state.conversation);
  });

  define('continue after the CLI has lost the conversation', 'count', async (desk) => {
    const first = await desk.start(['--prompt', 'One.']);
    assert.equal((await desk.end(first)).state.state, 'done');
    for (const folder of expectations.store) {
      const path = join(desk.workspace.home, folder);
      assert.ok(existsSync(path), `there is no ${path}`);
      rmSync(path, { recursive: true });
    }
    desk.lab.use('count');
    const { state, answer } = await desk.end(await desk.goOn(first, ['--prompt', 'Two.']));
    compare(state, answer, expectations.lost);
  });

  define('continue from another folder', 'count', async (desk) => {
    const first = await desk.start(['--prompt', 'One.']);
    const one = await desk.end(first);
    assert.equal(one.state.state, 'done', JSON.stringify(one.state.error));
    const other = join(desk.workspace.base, 'other');
    mkdirSync(other);
    const args = ['--cwd', other, '--prompt', 'Two.'];
    if (!profile.resumesElsewhere) {
      // Such a CLI begins another conversation there, or hangs.
      const { code, stdout, stderr } = await desk.call(['continue', '--job', first.id, ...args]);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, /keeps its conversation for/);
      return;
    }
    const two = await desk.end(await desk.goOn(first, args));
    assert.equal(two.answer, 'user turns: 2', JSON.stringify(two.state.error));
    assert.deepEqual(two.state.conversation, one.state.conversation);
  });

  definePromptCases(define);

  /** A job whose tool call runs until the file appears. */
  async function startSlow(desk: Desk, release: string): Promise<Job> {
    const job = await desk.start(['--prompt', `Be slow.\nuntil: ${release}`]);
    await untilAsked(desk);
    await eventually('the conversation', () => job.state().conversation?.id, slowLimit);
    if (!expectations.tellsToolStart) return job;
    const [tool] = await eventually(
      'the tool call',
      async () => {
        const tools = await desk.tools(job);
        return tools[0]?.status === 'running' && tools;
      },
      slowLimit,
    );
    assert.match(tool?.name ?? '', expectations.shellTool);
    assert.ok(tool?.input.includes(release), tool?.input);
    return job;
  }
}

/** The calls that have ended, as the job's events tell them. */
function toolEvents(job: Job) {
  return job.events('tool').map(({ tool }) => tool as { name: string; status: string; output: string | null });
}

function untilAsked({ lab }: Desk): Promise<unknown> {
  return eventually('the request to the model', () => lab.model.requests().length > 0, slowLimit);
}
