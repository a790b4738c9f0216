/** Once-keys of staff (contract 4): the same call gives the same job, whatever has changed since. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { makeStaff } from '../helpers/staff.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const codex = `#!/bin/sh
case $1 in --version) echo 'codex-cli 0.171.0'; exit ;; esac
cat >/dev/null
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"yes"}}'
echo '{"type":"turn.completed"}'
`;

function makeCodex(workspace: Workspace): { env: Record<string, string>; file: string } {
  const file = join(workspace.home, 'codex');
  writeFileSync(file, codex);
  chmodSync(file, 0o755);
  return { env: { PATH: `${workspace.home}:${workspace.env.PATH}` }, file };
}

test('continue of the latest, restart and continue by job: the same key gives the same job, also after clean', async (t) => {
  const workspace = makeWorkspace(t);
  const { env, file } = makeCodex(workspace);
  const call = (...args: string[]) => run(workspace, args, { env });
  const launch = async (...args: string[]) => {
    const { code, stdout, stderr } = await call(...args, '--id-only');
    assert.equal(code, 0, stderr);
    await call('wait', stdout.trim());
    return stdout.trim();
  };
  const first = await launch('staffer', '--backend', 'codex', '--prompt', 'One.', '--once-key', 'a');
  const calls = [
    ['continue', '--prompt', 'Two.', '--once-key', 'b'],
    ['continue', '--job', first, '--prompt', 'Three.', '--once-key', 'c'],
    ['restart', first, '--once-key', 'd'],
    ['staffer', '--backend', 'codex', '--prompt', 'One.', '--once-key', 'a'],
  ];
  const ids: string[] = [];
  for (const words of calls) ids.push(await launch(...words));
  assert.equal(new Set(ids).size, 4);
  for (const [n, words] of calls.entries()) assert.equal(await launch(...words), ids[n], words.join(' '));

  // Neither the CLI nor the records are there any more.
  rmSync(file);
  const cleaned = await call('clean', '--yes', '--older-than', '0s');
  assert.match(cleaned.stdout, /^4 removed$/m, cleaned.stdout);
  for (const [n, words] of calls.entries()) {
    const { code, stdout, stderr } = await call(...words, '--id-only');
    assert.deepEqual([code, stdout.trim()], [0, ids[n]], stderr);
  }
  const told = await call(...(calls[0] ?? []));
  assert.deepEqual([told.code, told.stdout.includes('removed by clean, and nothing was started')], [0, true]);
  assert.equal(parseReply(await call(...(calls[1] ?? []), '--json')).cleaned, true);
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), []);

  const other = await call('continue', '--prompt', 'Another.', '--once-key', 'b');
  assert.equal(other.code, 1);
});

test('review --base with a key: the branch may move', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const words = ['--base', 'main', '--once-key', 'r', '--prompt', 'Look.'];
  workspace.git('checkout', '-q', '-b', 'topic');
  const first = await staff.launch('review', words);
  await run(workspace, ['wait', first.id]);
  workspace.git('commit', '-q', '--allow-empty', '-m', 'More');
  workspace.git('branch', '-f', 'main', 'HEAD');
  assert.equal((await staff.launch('review', words)).id, first.id);
});

test('twenty launchers of one implement --worktree job: one job, one worktree', async (t) => {
  const workspace = makeWorkspace(t);
  makeStaff(workspace);
  const words = ['implement', '--profile', 'standard', '--worktree', '--once-key', 'w', '--prompt', 'x', '--id-only'];
  const replies = await Promise.all(Array.from({ length: 20 }, () => run(workspace, words)));
  assert.deepEqual([...new Set(replies.map((reply) => reply.code))], [0], replies.map((one) => one.stderr).join(''));
  const ids = new Set(replies.map((reply) => reply.stdout.trim()));
  assert.equal(ids.size, 1);
  assert.equal(workspace.git('branch', '--list', 'job-companion/*').trim().split('\n').length, 1);
  await run(workspace, ['wait', [...ids][0] ?? '']);
});

test('a refused --worktree launch makes no state folder', async (t) => {
  const workspace = makeWorkspace(t);
  makeStaff(workspace);
  workspace.git('update-ref', '-d', 'HEAD');
  const refused = await run(workspace, ['implement', '--worktree', '--profile', 'standard', '--prompt', 'x']);
  assert.equal(refused.code, 1);
  assert.equal(readdirSync(workspace.dir).includes('.job-state'), false);
});

test('restart --backend hands a failed task to another agent; a model name does not go along', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const { env } = makeCodex(workspace);
  staff.act('exit 3');
  const failed = await staff.launch('staffer', ['--prompt', 'Do it.']);
  await run(workspace, ['wait', failed.id]);
  const again = await run(workspace, ['restart', failed.id, '--backend', 'codex', '--wait'], { env });
  assert.deepEqual([again.code, again.stdout], [0, 'yes'], again.stderr);
  const refused = await run(workspace, ['restart', failed.id, '--backend', 'nobody'], { env });
  assert.match(refused.stderr, /backend "nobody"/);
});
