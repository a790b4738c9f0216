/**
 * What `verify` says to somebody who has never seen a completion block: its form, who asks for it, how to get one, and that a result
 * which holds one can be checked. On a terminal nothing but a command is wider than it.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseClaims } from '../../companion/src/core/completion-block.ts';
import { claim } from '../helpers/claims.ts';
import { run } from '../helpers/companion.ts';
import { makeStaff } from '../helpers/staff.ts';
import { hasTerminal, startOnTerminal } from '../helpers/terminal.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('its help shows a block that is taken as it stands, and which verb asks for it', async (t) => {
  const { stdout } = await run(makeWorkspace(t), ['verify', '--help']);
  assert.equal(parseClaims(stdout).kind, 'ok', stdout);
  assert.match(stdout.replace(/\s+/g, ' '), /implement asks for it; for any other verb the task must/);
});

test('where there is no block it says how to get one', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const job = await staff.launch('implement');
  const waited = await run(workspace, ['wait', job.id]);
  assert.doesNotMatch(waited.stderr, /check it/);
  const { code, stderr } = await run(workspace, ['verify', job.id]);
  assert.equal(code, 3);
  assert.match(stderr, /^to get one: .*task.*verify --help/m);
});

test('a finished implement that holds a block names the command that checks it, any other job does not', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(claim({}));
  const job = await staff.launch('implement');
  for (const verb of ['wait', 'result']) {
    const { stdout, stderr } = await run(workspace, [verb, job.id]);
    const hints = stderr.split('\n').filter((line) => line.startsWith('check it: '));
    assert.equal(hints.length, 1, stderr);
    assert.match(hints[0] ?? '', new RegExp(`^check it: .* verify ${job.id}$`));
    assert.doesNotMatch(stdout, /check it/);
  }
  const failed = claim({}).concat('exit 3\n');
  staff.act(failed);
  assert.match((await staff.staff('implement')).stderr, /^check it: .* verify implement-/m);
  staff.act(claim({}));
  assert.doesNotMatch((await staff.staff('ask')).stderr, /check it/);
  staff.act(claim({ status: 'perhaps' }));
  assert.doesNotMatch((await staff.staff('implement')).stderr, /check it/);
});

test('on a terminal no line but a command is wider than it', { skip: !hasTerminal }, async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(
    `for n in 1 2 3 4 5 6; do echo x >a-file-with-a-rather-long-name-$n.txt; done\n${claim({ filesChanged: ['README.md'] })}`,
  );
  const claiming = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', claiming.id])).code, 0);
  staff.act('echo mute');
  const mute = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', mute.id])).code, 0);
  for (const words of [
    ['verify', claiming.id],
    ['verify', mute.id],
    ['verify', mute.id, '--rerun', 'sh -c "exit 3" a-word-of-some-length another-word-of-some-length one-more-word'],
  ]) {
    const terminal = startOnTerminal(workspace, words);
    assert.equal(await terminal.promise, 3);
    const lines = terminal.output().split(/\r?\n/);
    const wide = lines.filter((line) => line.length > 80 && !/job-companion\.cjs /.test(line));
    assert.deepEqual(wide, []);
    assert.ok(lines.length > 3, terminal.output());
  }
});
