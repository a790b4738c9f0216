/** Two writers in one worktree (contract 4), and a worktree of one's own. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, untilStarted } from '../helpers/jobs.ts';
import { makeStaff, until } from '../helpers/staff.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('a second implement job is refused and the first one named; --share lets both in and both say so', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  staff.act(`${until(go)}; echo done`);
  const first = await staff.launch('implement');
  await untilStarted(first);
  const sub = workspace.path('sub');
  workspace.write('sub/x', '');
  for (const cwd of [workspace.dir, sub]) {
    const refused = await run(workspace, ['implement', '--profile', 'standard', '--prompt', 'x', '--cwd', cwd]);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, new RegExp(`cannot start a second implement job in .*: job ${first.id}`));
    assert.match(refused.stderr, /--worktree.*--share/s);
  }
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), [first.id]);
  const second = await staff.launch('implement', ['--share', '--prompt', 'x']);
  await eventually('the first to know of the second', () =>
    first.state().warnings.some((one) => one.code === 'two_writers' && one.message.includes(second.id)),
  );
  writeFileSync(go, '');
  for (const [job, other] of [
    [first, second],
    [second, first],
  ] as const) {
    const reply = await run(workspace, ['wait', job.id]);
    assert.equal(reply.code, 0);
    assert.match(reply.stderr, new RegExp(`warning: .*${other.id}`));
  }
});

test('outside git a folder holds all that is below it', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  workspace.write('sub/x', '');
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  staff.act(`${until(go)}; echo done`);
  const first = await staff.launch('implement', ['--cwd', workspace.path('sub'), '--prompt', 'x']);
  const refused = await run(workspace, ['implement', '--profile', 'standard', '--prompt', 'x']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, new RegExp(first.id));
  writeFileSync(go, '');
  await run(workspace, ['wait', first.id]);
});

test('other pairs of writers start with a warning in both records; readers have none', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  staff.act(`${until(go)}; echo done`);
  const first = await staff.launch('implement');
  const second = await staff.launch('staffer');
  writeFileSync(go, '');
  for (const [job, other] of [
    [first, second],
    [second, first],
  ] as const) {
    await run(workspace, ['wait', job.id]);
    const codes = job
      .state()
      .warnings.filter((one) => one.message.includes(other.id))
      .map((one) => one.code);
    assert.deepEqual(codes, ['two_writers']);
  }
  const third = await staff.launch('implement');
  await run(workspace, ['wait', third.id]);
  assert.deepEqual(third.state().warnings, []);
});

test('ten implement jobs at once: one starts, nine are refused and leave nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  staff.act(`${until(go)}; echo done`);
  const words = ['implement', '--profile', 'standard', '--prompt', 'x', '--id-only'];
  const replies = await Promise.all(Array.from({ length: 10 }, () => run(workspace, words)));
  const codes = replies.map((reply) => reply.code).sort();
  assert.deepEqual(codes, [0, 1, 1, 1, 1, 1, 1, 1, 1, 1], replies.map((reply) => reply.stderr).join(''));
  const names = readdirSync(workspace.path('.job-state/jobs'));
  assert.equal(names.length, 1, names.join());
  writeFileSync(go, '');
  assert.equal((await run(workspace, ['wait', names[0] ?? ''])).code, 0);
});

test('the once-key of a running implement job gives that job, not a refusal', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  staff.act(`${until(go)}; echo done`);
  const first = await staff.launch('implement', ['--once-key', 'k', '--prompt', 'x']);
  await untilStarted(first);
  assert.equal((await staff.launch('implement', ['--once-key', 'k', '--prompt', 'x'])).id, first.id);
  writeFileSync(go, '');
  await run(workspace, ['wait', first.id]);
});

test('--worktree: a tree of its own outside, its work described with the commands that take it over', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('sub/keep.txt', 'keep\n');
  workspace.git('add', '.');
  workspace.git('commit', '-q', '-m', 'Sub');
  workspace.write('dirty.txt', 'mine\n');
  const staff = makeStaff(workspace);
  staff.act('pwd; echo new >made.txt; git add made.txt; git commit -q -m Made; echo loose >loose.txt');
  const reply = await staff.staff('implement', ['--worktree', '--cwd', workspace.path('sub'), '--prompt', 'x']);
  assert.equal(reply.code, 0, reply.stderr);
  const where = reply.stdout.trim();
  assert.ok(!where.startsWith(workspace.dir), where);
  assert.ok(where.endsWith('/sub'), where);
  assert.equal(workspace.git('status', '--porcelain'), '?? dirty.txt\n');
  assert.match(reply.stderr, /workspace: .*made\.txt/);
  const takeOver = /take over: (git .* merge .*)/.exec(reply.stderr)?.[1] ?? '';
  assert.notEqual(takeOver, '', reply.stderr);

  const id = readdirSync(workspace.path('.job-state/jobs'))[0] ?? '';
  const job = findJob(workspace, id);
  const spec = job.json<{ worktree: { path: string; branch: string } }>('spec.json');
  assert.equal(existsSync(join(spec.worktree.path, 'sub/loose.txt')), true);
  const record = await staff.record(id);
  const changes = record.changes as { files: { path: string }[]; commit_count: number };
  assert.deepEqual(changes.files.map((file) => file.path).sort(), ['sub/loose.txt', 'sub/made.txt']);
  assert.equal(changes.commit_count, 1);
  const { execSync } = await import('node:child_process');
  execSync(takeOver, { env: workspace.env, stdio: 'pipe' });
  assert.equal(readFileSync(workspace.path('sub/made.txt'), 'utf8'), 'new\n');

  // Its uncommitted work keeps it, whatever is cleaned.
  const cleaned = await run(workspace, ['clean', '--yes', '--older-than', '0s', '--keep', '0']);
  assert.equal(cleaned.code, 0, cleaned.stderr);
  assert.equal(existsSync(join(spec.worktree.path, 'sub/loose.txt')), true);
  assert.match(cleaned.stdout + cleaned.stderr, new RegExp(id));
});

test('--worktree: two implement jobs beside each other; a restart gets a new tree', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  staff.act(`${until(go)}; pwd`);
  const first = await staff.launch('implement');
  const second = await staff.launch('implement', ['--worktree', '--prompt', 'x']);
  writeFileSync(go, '');
  const [a, b] = [await run(workspace, ['wait', first.id]), await run(workspace, ['wait', second.id])];
  assert.deepEqual([a.code, b.code, a.stdout.trim()], [0, 0, workspace.dir]);
  assert.deepEqual([first.state().warnings, second.state().warnings], [[], []]);
  const again = await run(workspace, ['restart', second.id, '--wait']);
  assert.equal(again.code, 0, again.stderr);
  assert.notEqual(again.stdout, b.stdout);
  assert.ok(!again.stdout.startsWith(workspace.dir));
});

test('--worktree is refused where there is no repository or no commit, and nothing is left', async (t) => {
  for (const git of [false, true]) {
    const workspace = makeWorkspace(t, { git });
    if (git) workspace.git('update-ref', '-d', 'HEAD');
    makeStaff(workspace);
    const refused = await run(workspace, ['implement', '--worktree', '--profile', 'standard', '--prompt', 'x']);
    assert.deepEqual([refused.code, refused.stdout], [1, ''], refused.stderr);
    assert.match(refused.stderr, /cannot /);
    const jobs = workspace.path('.job-state/jobs');
    assert.deepEqual(existsSync(jobs) ? readdirSync(jobs) : [], []);
  }
});

test('jobs beside each other: none is told, or told to take over, what another one committed', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  workspace.defer(() => writeFileSync(go, ''));
  const commit = 'echo new >made.txt; git add made.txt; git commit -q -m Made; echo made';
  staff.act(`if grep -q COMMIT "$HOME/brief-$JOB_ID"; then ${commit}; else ${until(go)}; echo nothing; fi`);
  const idle = await staff.launch('implement', ['--worktree', '--prompt', 'x']);
  const reader = await staff.launch('review', ['--prompt', 'x']);
  for (const job of [idle, reader]) await untilStarted(job);
  const busy = await staff.launch('implement', ['--worktree', '--prompt', 'COMMIT']);
  const made = await run(workspace, ['wait', busy.id]);
  assert.match(made.stderr, /1 new commit/);
  assert.match(made.stderr, new RegExp(`take over: git .* merge job-companion/${busy.id}`));
  writeFileSync(go, '');
  for (const job of [idle, reader]) {
    const reply = await run(workspace, ['wait', job.id]);
    assert.equal(reply.code, 0, reply.stderr);
    assert.doesNotMatch(reply.stderr, /new commit|take over|changed while|branches/);
    assert.deepEqual(
      job.state().warnings.filter((one) => one.code === 'reader_changed'),
      [],
    );
  }
});
