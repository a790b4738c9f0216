/** What a launch tells beside the id: warnings of the record, and that a once-key had its job already. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { untilStarted } from '../helpers/jobs.ts';
import { makeStaff, until } from '../helpers/staff.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('a launch warns of a second writer on stderr and in its document, --wait at once and only once', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  staff.act(`${until(go)}; echo done`);
  const first = await staff.launch('implement');
  await untilStarted(first);
  const words = ['staffer', '--profile', 'standard', '--prompt', 'x'];
  const warning = new RegExp(
    `warning: an implement job, ${first.id}, may write in the same worktree at the same time\n`,
  );

  const plain = await run(workspace, words);
  assert.match(plain.stderr, warning);
  assert.match(plain.stdout, /^job staffer-\S+\ncollect: /);
  const short = await run(workspace, [...words, '--id-only']);
  assert.match(short.stderr, warning);
  assert.match(short.stdout, /^staffer-\S+\n$/);
  const reply = await run(workspace, [...words, '--json']);
  const { warnings } = parseReply<{ warnings: { code: string; message: string }[] }>(reply);
  assert.ok(warnings.some(({ code, message }) => code === 'two_writers' && message.includes(first.id)));
  const reader = await run(workspace, [...words, '--json', '--worktree']);
  assert.deepEqual(parseReply<{ warnings: unknown[] }>(reader).warnings, []);

  const waiting = start(workspace, [...words, '--wait']);
  await eventually('the warning', () => warning.test(waiting.stderr()));
  writeFileSync(go, '');
  const { code, stderr } = await waiting.promise;
  assert.equal(code, 0);
  assert.equal(stderr.match(new RegExp(`warning: an implement job, ${first.id}`, 'g'))?.length, 1, stderr);
  assert.equal((await run(workspace, ['wait', '--all'])).code, 0);
});

test('--wait and ask with a once-key that had its job already say so', async (t) => {
  const workspace = makeWorkspace(t);
  makeStaff(workspace);
  const had = /^job \S+ \(this once-key had it already; nothing was started\)\n/;
  for (const words of [['staffer', '--wait'], ['ask']]) {
    const line = [...words, '--once-key', words[0]!, '--profile', 'standard', '--prompt', 'x'];
    const first = await run(workspace, line);
    assert.match(first.stderr, /^job \S+\ncollect: /);
    const second = await run(workspace, line);
    assert.match(second.stderr, had);
    assert.deepEqual([second.code, second.stdout], [0, first.stdout]);
  }
});

test('an --expect that can never be told is a warning of the record, not a refusal', async (t) => {
  const workspace = makeWorkspace(t);
  const launchOf = async (...options: string[]) => {
    const reply = await run(workspace, ['run', ...options, '--json', '--', 'true']);
    return parseReply<{ id: string; warnings: { code: string; message: string }[] }>(reply);
  };
  const late = await launchOf('--expect', '2h', '--timeout', '1h');
  assert.deepEqual(
    late.warnings.map(({ code }) => code),
    ['expect_beyond_limit'],
  );
  assert.match(late.warnings[0]?.message ?? '', /--expect 2h is not below the hard limit of 1h/);
  const early = await launchOf('--expect', '30m', '--timeout', '1h');
  assert.deepEqual(early.warnings, []);
  assert.equal((await run(workspace, ['wait', '--all', late.id, early.id])).code, 0);
});
