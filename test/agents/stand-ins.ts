/**
 * The cases of a CLI that cannot be installed: its stand-in (test/lab/agents/ID/ID.mjs) behind the built file. They prove that
 * documented shapes are read and judged, and nothing about the CLI itself.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { JobErrorCode } from '../../companion/src/core/job.ts';
import { eventually } from '../helpers/eventually.ts';
import { killNow } from '../helpers/jobs.ts';
import type { LabProfile } from '../lab/agents/profile.ts';
import { type Desk, makeDesk } from './desk.ts';
import { compare } from './expectations.ts';
import { hazards } from './prompts.ts';

export interface StandInExpectations {
  /** By scenario: the code of the failure and words of its message. */
  failures: Record<string, [code: JobErrorCode, words: RegExp]>;
  /** The code for a conversation that the CLI has replaced by a new one. */
  lost: JobErrorCode;
  /** The code for a command that `restricted` refuses: whether words follow is up to the CLI. */
  refused: JobErrorCode | null;
  usage: number | null;
  /** The prompt in what it got on stdin. */
  promptOf(stdin: string): string;
}

export function defineStandIn(profile: LabProfile, expectations: StandInExpectations): void {
  const define = (what: string, scenario: string, body: (desk: Desk) => Promise<void>) =>
    test(`${profile.id} (stand-in): ${what}`, async (t) => body(await makeDesk(t, profile, scenario)));
  const start = async (desk: Desk, ...args: string[]) =>
    desk.end(await desk.start([...args, '--prompt', 'Say hello.']));

  define('a text is done', 'text', async (desk) => {
    const { state, code, answer } = await start(desk);
    assert.deepEqual([state.state, code], ['done', 0], JSON.stringify(state.error));
    assert.match(answer, /^You said: /);
    assert.deepEqual(
      state.warnings.map((warning) => warning.code),
      ['no_sandbox'],
    );
    assert.ok(state.conversation?.id);
    assert.equal(state.usage?.total_tokens ?? null, expectations.usage);
  });

  define('a tool call is told, and writes where it may', 'write', async (desk) => {
    const job = await desk.start(['--prompt', 'Write.']);
    const { state } = await desk.end(job);
    assert.equal(state.state, 'done', JSON.stringify(state.error));
    assert.equal(desk.workspace.read('made.txt'), 'hi\n');
    const [event] = job.events('tool');
    assert.equal((event?.tool as { status?: string } | undefined)?.status, 'completed');
  });

  define('restricted runs no command', 'write', async (desk) => {
    const { state } = await start(desk, '--profile', 'restricted');
    assert.equal(state.error?.code ?? null, expectations.refused, JSON.stringify(state));
    assert.match(state.warnings.map((warning) => warning.message).join('\n'), /refused to the agent: .*made\.txt/);
    assert.equal(existsSync(desk.workspace.path('made.txt')), false);
  });

  for (const [scenario, [code, words]] of Object.entries(expectations.failures)) {
    define(`${scenario} is ${code}`, scenario, async (desk) => {
      const { state, answer, code: exit } = await start(desk);
      compare(state, answer, { outcome: 'failed', code, words });
      assert.equal(exit, 3);
    });
  }

  define('continue goes on in the same conversation, and usage is that of the job', 'text', async (desk) => {
    const first = await desk.start(['--prompt', 'One.']);
    const one = await desk.end(first);
    const two = await desk.end(await desk.goOn(first, ['--prompt', 'Two.']));
    assert.equal(two.state.state, 'done', JSON.stringify(two.state.error));
    assert.deepEqual(two.state.conversation, one.state.conversation);
    assert.equal(two.state.usage?.total_tokens ?? null, expectations.usage);
  });

  define('a conversation that was silently replaced is no success', 'text', async (desk) => {
    const first = await desk.start(['--prompt', 'One.']);
    await desk.end(first);
    desk.lab.use('resume-unknown');
    const { state, answer } = await desk.end(await desk.goOn(first, ['--prompt', 'Two.']));
    compare(state, answer, { outcome: 'failed', code: expectations.lost });
  });

  define('killed: failed, with the conversation to go on with', 'hang', async (desk) => {
    const job = await desk.start(['--prompt', 'One.']);
    await eventually('the conversation', () => job.state().conversation?.id);
    await killNow('the agent', job.identity('child'));
    const { state, answer } = await desk.end(job);
    compare(state, answer, { outcome: 'failed', code: 'signal', words: /SIGKILL/ });
    desk.lab.use('text');
    const next = await desk.end(await desk.goOn(job, ['--prompt', 'Two.']));
    assert.deepEqual([next.state.state, next.state.conversation], ['done', state.conversation]);
  });

  define('hanging: canceled, or timed out with the text so far', 'hang', async (desk) => {
    const job = await desk.start(['--prompt', 'One.']);
    await eventually('the conversation', () => job.state().conversation?.id);
    assert.equal((await desk.call(['cancel', job.id])).code, 0);
    assert.equal((await desk.end(job)).state.state, 'canceled');
    const { state, answer } = await start(desk, '--timeout', '2s');
    compare(state, answer, { outcome: 'timed_out', code: 'hard_timeout', answer: /Working on/ });
  });

  define('alive after its final event: ended, and done with a warning', 'linger', async (desk) => {
    const { state, answer } = await start(desk);
    compare(state, answer, { outcome: 'done', answer: /^Done, but I stay/, warning: ['ended_after_answer', /ended/] });
  });

  define('a child that holds stdout does not keep the job', 'leave-child', async (desk) => {
    const { state, answer } = await start(desk);
    compare(state, answer, { outcome: 'done', answer: /^Done, but a child/, warning: ['leftovers_ended', /sleep/] });
  });

  define('every prompt arrives byte for byte', 'text', async (desk) => {
    const big = `${'The quick brown f\u00f6x. '.repeat(15_000)}end`;
    const file = join(desk.workspace.base, 'prompt.txt');
    for (const prompt of [hazards, '--help', '/usage', big]) {
      writeFileSync(file, prompt);
      const { state } = await desk.end(await desk.start(['--prompt-file', file]));
      assert.equal(state.state, 'done', JSON.stringify(state.error));
      const got = expectations.promptOf(Buffer.from(lastCall(desk).stdin, 'base64').toString('utf8'));
      if (!got.includes(prompt)) assert.equal(got, prompt);
    }
  });
}

export function lastCall({ lab }: Desk): { argv: string[]; cwd: string; stdin: string } {
  const record = lab.env.STAND_IN_RECORD ?? assert.fail('nothing is recorded');
  return JSON.parse(readFileSync(record, 'utf8').trim().split('\n').at(-1) ?? '');
}
