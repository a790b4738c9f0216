/**
 * Workspace truth (issue: delegated staff): what a job changed is told from the worktree itself, apart from what was dirty
 * before, in the record, on stderr, and in the report of a job that failed.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { WorkspaceChanges } from '../../companion/src/jobs/workspace/types.ts';
import { run } from '../helpers/companion.ts';
import { untilStarted } from '../helpers/jobs.ts';
import { makeStaff, until } from '../helpers/staff.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

/** A tree with two dirty files, one new folder, and files to rename, to delete and to leave alone. */
function makeDirty(workspace: Workspace): void {
  for (const name of ['dirty.txt', 'left.txt', 'moved.txt', 'gone.txt', 'clean.txt'])
    workspace.write(name, `${name} has a line\nand another\n`);
  workspace.git('add', '.');
  workspace.git('commit', '-q', '-m', 'Files');
  workspace.write('dirty.txt', 'first edit\n');
  workspace.write('left.txt', 'an edit of mine\n');
  workspace.write('new folder/old.txt', 'mine\n');
}

const lyingCodex = `#!/bin/sh
case $1 in --version) echo 'codex-cli 0.171.0'; exit ;; esac
cat >/dev/null; echo x >sly.txt
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"nothing"}}'
echo '{"type":"turn.completed"}'
`;

const work = `
echo 'second edit' >dirty.txt
echo added >'new folder/made.txt'
git mv moved.txt renamed.txt
rm gone.txt
printf x >"$(printf 'odd \\n"name"\\303\\244')"
echo committed >clean.txt; git add clean.txt; git commit -q -m 'Change it' -- clean.txt
echo 'I changed nothing.'`;

test('implement in a dirty repository: what was dirty before stands apart from what the run changed', async (t) => {
  const workspace = makeWorkspace(t);
  makeDirty(workspace);
  const staff = makeStaff(workspace);
  staff.act(work);
  const job = await staff.launch('implement');
  const reply = await run(workspace, ['wait', job.id]);
  assert.deepEqual([reply.code, reply.stdout], [0, 'I changed nothing.\n'], reply.stderr);
  assert.match(reply.stderr, /^workspace: 6 files changed .*1 new commit/m);
  const changes = (await staff.record(job.id)).changes as WorkspaceChanges;
  const rows = changes.files.map((file) => [
    file.path,
    file.from ?? '',
    file.change,
    file.was_dirty ? 'dirty' : '',
    file.committed ? 'committed' : '',
  ]);
  const odd = changes.files.find((file) => file.path.includes('odd'))?.path ?? '';
  assert.deepEqual(
    rows.sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1)),
    [
      ['clean.txt', '', 'modified', '', 'committed'],
      ['dirty.txt', '', 'modified', 'dirty', ''],
      ['gone.txt', '', 'deleted', '', ''],
      ['new folder/made.txt', '', 'added', '', ''],
      [odd, '', 'added', '', ''],
      ['renamed.txt', 'moved.txt', 'renamed', '', ''],
    ],
  );
  assert.equal(odd, 'odd \n"name"\u00e4');
  assert.deepEqual([...changes.dirty_before].sort(), ['left.txt', 'new folder/old.txt']);
  assert.deepEqual([changes.commit_count, changes.commits[0]?.subject], [1, 'Change it']);
  assert.deepEqual([changes.head.moved, changes.exact, changes.unchanged], ['forward', true, false]);
});

test('a job that could write and changed nothing says so', async (t) => {
  const workspace = makeWorkspace(t);
  makeDirty(workspace);
  const staff = makeStaff(workspace);
  const reply = await staff.staff('implement');
  assert.equal(reply.code, 0);
  assert.match(reply.stderr, /^workspace: no files changed$/m);
});

test('a failed, a canceled and a timed out job report what they changed, with the commands to go on', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  staff.act('echo half >half.txt; exit 7');
  const failed = await staff.staff('implement');
  assert.equal(failed.code, 3);
  assert.match(failed.stdout, /## Workspace\n\n1 file changed\.\n\n- added: `half\.txt`/);
  assert.match(failed.stdout, /restart implement-/);

  staff.act(`echo more >more.txt; ${until(go)}`);
  const job = await staff.launch('staffer');
  await untilStarted(job);
  const { eventually } = await import('../helpers/eventually.ts');
  await eventually('its file', () => workspace.git('status', '--porcelain').includes('more.txt'));
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  const canceled = await run(workspace, ['result', job.id]);
  assert.equal(canceled.code, 4);
  assert.match(canceled.stdout, /- added: `more\.txt`/);

  staff.act(`echo last >last.txt; ${until(go)}`);
  const late = await staff.staff('staffer', ['--timeout', '2s', '--prompt', 'x']);
  assert.equal(late.code, 3);
  assert.match(late.stdout, /timed_out[\s\S]*- added: `last\.txt`/);
});

test('a restricted job during which something changed has a warning that names it', async (t) => {
  const workspace = makeWorkspace(t);
  // The stand-in of a CLI that keeps `restricted`, and lies: it writes although it was told not to.
  const bin = join(workspace.home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'codex'), lyingCodex);
  chmodSync(join(bin, 'codex'), 0o755);
  const env = { PATH: `${bin}:${workspace.env.PATH}` };
  const reply = await run(workspace, ['ask', '--backend', 'codex', '--prompt', 'What is here?'], { env });
  assert.deepEqual([reply.code, reply.stdout], [0, 'nothing'], reply.stderr);
  assert.match(reply.stderr, /warning: the ask job was to change nothing \(profile restricted\), .*: sly\.txt/);
  assert.match(reply.stderr, /^workspace: 1 file changed \(sly\.txt\)/m);
});

test('outside git: files are told as well', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  workspace.write('a.txt', 'a');
  const staff = makeStaff(workspace);
  staff.act('echo b >b.txt; echo done');
  const reply = await staff.staff('implement');
  assert.equal(reply.code, 0);
  assert.match(reply.stderr, /^workspace: 1 file changed \(b\.txt\)/m);
});
