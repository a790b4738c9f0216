/** The stand-in for agy in the cases of every stand-in, and what agy alone can do. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { profile } from '../lab/agents/agy/profile.ts';
import { makeDesk } from './desk.ts';
import { compare } from './expectations.ts';
import { defineStandIn, lastCall } from './stand-ins.ts';

defineStandIn(profile, {
  failures: {
    auth: ['auth', /Authentication required/],
    // Whether its own end or our look at the waiting line comes first is a matter of milliseconds.
    'auth-timeout': ['auth', /timed out|Authentication required|sign-in/i],
    e401: ['auth', /API key not valid/],
    quota: ['quota', /Resets in 76h3m46s/],
    error: ['agent_error', /INTERNAL/],
    cut: ['no_final_answer', /empty/],
    empty: ['no_final_answer', /empty/],
    denied: ['permission_denied', /run_command: touch x/],
    killed: ['signal', /SIGKILL/],
    'print-timeout': ['response_timeout', /returning partial output/],
    'background-killed': ['agent_error', /terminating 1 background task/],
  },
  lost: 'session_lost',
  refused: 'permission_denied',
  usage: 1040,
  promptOf: (stdin) => JSON.parse(stdin).message.content,
});

test('agy (stand-in): its own time limit is that of the job', async (t) => {
  const desk = await makeDesk(t, profile, 'text');
  await desk.end(await desk.start(['--timeout', '90s', '--prompt', 'Hi.']));
  const { argv, cwd } = lastCall(desk);
  assert.equal(argv[argv.indexOf('--print-timeout') + 1], '90s');
  assert.equal(argv[argv.indexOf('--add-dir') + 1], desk.workspace.dir);
  assert.equal(cwd, desk.workspace.dir);
});

test('agy (stand-in): settings that allow every command make restricted impossible, not the others', async (t) => {
  const desk = await makeDesk(t, profile, 'text');
  const folder = join(desk.workspace.home, '.gemini/antigravity-cli');
  mkdirSync(folder, { recursive: true });
  for (const settings of ['{"permissions":{"allow":["command(*)"]}}', '{"toolPermission":"always-proceed"}', '{']) {
    writeFileSync(join(folder, 'settings.json'), settings);
    const { code, stderr } = await desk.call(['ask', '--backend', 'agy', '--profile', 'restricted', '--prompt', 'Hi.']);
    assert.deepEqual([code, /restricted/.test(stderr)], [1, true], stderr);
  }
  const { state } = await desk.end(await desk.start(['--prompt', 'Hi.']));
  assert.equal(state.state, 'done', JSON.stringify(state.error));
});

test('agy (stand-in): an old error told again beside a good answer is done with a warning, for every later turn', async (t) => {
  const desk = await makeDesk(t, profile, 'resumed-error');
  const first = await desk.start(['--prompt', 'One.']);
  const one = await desk.end(first);
  compare(one.state, one.answer, { outcome: 'failed', code: 'agent_error' });
  let job = first;
  for (const prompt of ['Two.', 'Three.']) {
    job = await desk.goOn(job, ['--prompt', prompt]);
    const { state, answer } = await desk.end(job);
    const warning: [string, RegExp] = ['earlier_error_repeated', /INTERNAL/];
    compare(state, answer, { outcome: 'done', answer: /^Good answer/, warning });
  }
});
