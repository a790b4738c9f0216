// A workspace in words: what an agent is told at its start and what a report says at its end. Names are data of whoever made them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { compareWorkspace, isChanges } from '../../companion/src/jobs/workspace/compare.ts';
import { contextOf } from '../../companion/src/jobs/workspace/context.ts';
import { describeChanges, summarizeChanges } from '../../companion/src/jobs/workspace/describe.ts';
import { captureWorkspace } from '../../companion/src/jobs/workspace/snapshot.ts';
import type { WorkspaceChanges } from '../../companion/src/jobs/workspace/types.ts';
import { changesOf, makeRepository } from './repository.ts';

const still: WorkspaceChanges = {
  files: [],
  file_count: 0,
  dirty_before: [],
  dirty_before_count: 0,
  dirty_committed: [],
  dirty_committed_count: 0,
  dirty_after: 0,
  commits: [],
  commit_count: 0,
  head: { before: 'a', after: 'a', moved: null },
  branch: { before: 'main', after: 'main' },
  refs_changed: [],
  index_changed: false,
  beyond: [],
  exact: true,
  unchanged: true,
  reason: null,
};
const file = { path: 'a.ts', change: 'modified', was_dirty: false, committed: false } as const;

test('a context has branch, HEAD, subject and the dirty files as git status --short writes them', (t) => {
  const repository = makeRepository(t);
  repository.git('mv', 'a.txt', 'c.txt');
  repository.write('sub/b.txt', 'x');
  repository.write('new\nname', 'x');
  repository.git('rm', '-q', '--cached', 'README.md');
  repository.git('update-index', '--assume-unchanged', 'sub/b.txt');
  const { cwd, at, git } = contextOf(captureWorkspace(repository.path('sub'), { exclude: [] }));
  assert.equal(cwd, repository.path('sub'));
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
  assert.deepEqual(git, {
    root: repository.dir,
    branch: 'main',
    head: repository.git('rev-parse', 'HEAD').trim(),
    subject: 'Files',
    dirty: ['D  README.md', 'D  a.txt', 'R  a.txt -> c.txt', '?? "new\\nname"'],
    dirty_count: 4,
  });
});

test('a context is bounded and holds no control characters', (t) => {
  const repository = makeRepository(t);
  for (let n = 0; n < 60; n += 1) repository.write(`${'long'.repeat(60)}${n}`, '');
  repository.git('commit', '-q', '--allow-empty', '-m', `Evil \x1b[31m\u202e ${'x'.repeat(300)}`);
  repository.git('checkout', '-q', '-b', 'b\u202eranch');
  const context = contextOf(captureWorkspace(repository.dir, { exclude: [] }));
  const { git } = context;
  assert.deepEqual([git?.dirty.length, git?.dirty_count, git?.branch], [50, 60, '"b\\u{202e}ranch"']);
  assert.ok(git?.dirty.every((line) => Buffer.byteLength(line) <= 200 && line.endsWith('\u2026')));
  assert.ok(Buffer.byteLength(git?.subject ?? '') <= 200);
  assert.match(git?.subject ?? '', /^Evil {2}\[31m {2}xxx/);
  assert.doesNotMatch(JSON.stringify(context), /\\u00|\u202e/);
});

test('outside git a context has a folder and nothing else', (t) => {
  const repository = makeRepository(t, { git: false });
  assert.equal(contextOf(captureWorkspace(repository.dir, { exclude: [] })).git, null);
});

const lines: [change: Partial<WorkspaceChanges>, line: string][] = [
  [{}, 'no files changed'],
  [{ files: [file], file_count: 1 }, '1 file changed (a.ts)'],
  [
    { files: [file, file, file, file], file_count: 250, commit_count: 1, index_changed: true },
    '250 files changed (a.ts, a.ts, a.ts, ...), 1 new commit',
  ],
  [{ commit_count: 2, head: { before: 'a', after: 'b', moved: 'forward' } }, 'no files changed, 2 new commits'],
  [{ head: { before: 'a', after: 'b', moved: 'forward' } }, 'no files changed, HEAD was moved forward'],
  [
    { head: { before: 'a', after: 'b', moved: 'elsewhere' }, branch: { before: 'main', after: null } },
    'no files changed, now on no branch, HEAD was moved to another line of history',
  ],
  [{ index_changed: true, unchanged: false }, 'no files changed, what is staged changed'],
  [{ refs_changed: ['refs/stash'] }, 'no files changed, branches or the stash changed'],
  [
    { commit_count: 1, dirty_committed: ['README.md'], dirty_committed_count: 1 },
    'no files changed, 1 new commit, 1 file that was uncommitted before is now committed (README.md)',
  ],
  [
    { commit_count: 1, dirty_committed: ['a', 'b', 'c', 'd'], dirty_committed_count: 4 },
    'no files changed, 1 new commit, 4 files that were uncommitted before are now committed (a, b, c, ...)',
  ],
  [
    { exact: false, unchanged: false, beyond: ['branches beyond the first 500'] },
    'no changed files were seen, something changed among branches beyond the first 500',
  ],
  [{ exact: false }, 'no changed files were seen'],
  [
    { exact: false, unchanged: false, reason: 'x' },
    'it is unknown whether files changed, not everything could be looked at (x)',
  ],
  [
    { reason: 'git status took longer than 3.5 s' },
    'no files changed, not everything could be looked at (git status took longer than 3.5 s)',
  ],
  [{ reason: 'not in a git work tree' }, 'no files changed'],
];
for (const [change, line] of lines) {
  test(`in one line: ${line}`, () => assert.equal(summarizeChanges({ ...still, ...change }), line));
}

test('a report names files, commits and what was dirty before', (t) => {
  const repository = makeRepository(t);
  repository.write('README.md', 'dirty');
  repository.write('sub/b.txt', 'dirty');
  const changes = changesOf(repository, (r) => {
    r.git('mv', 'a.txt', 'c.txt');
    r.git('commit', '-qm', 'Move `a` <b>');
    r.write('sub/b.txt', 'dirtier');
    r.write('a`b\x1b[31m', 'x');
  });
  const sha = repository.git('rev-parse', '--short=12', 'HEAD').trim();
  assert.equal(
    describeChanges(changes),
    [
      '3 files changed, 1 new commit.',
      '',
      '- added: `` "a`b\\u{1b}[31m" ``',
      '- renamed: `a.txt` -> `c.txt` (committed)',
      '- modified: `sub/b.txt` (was dirty before)',
      '',
      'New commits:',
      '',
      `- ${sha} \`\` "Move \`a\` <b>" \`\``,
      '',
      'Dirty before, and left as it was:',
      '',
      '- `README.md`',
    ].join('\n'),
  );
});

test('a report tells what was dirty before and is committed', (t) => {
  const repository = makeRepository(t);
  repository.write('README.md', 'dirty');
  const text = describeChanges(changesOf(repository, (r) => r.git('commit', '-qam', 'swallow')));
  assert.match(text, /^No files changed, 1 new commit, 1 file that was uncommitted before is now committed\.$/m);
  assert.match(text, /^Uncommitted before, now committed as it was:\n\n- `README\.md`$/m);
});

test('a report names the branches that moved but the own one', () => {
  const refs_changed = ['refs/heads/main', 'refs/heads/other', 'refs/stash'];
  const head = { before: 'a', after: 'b', moved: 'forward' } as const;
  const text = describeChanges({
    ...still,
    refs_changed,
    head,
    commit_count: 1,
    commits: [{ sha: 'b', subject: 's' }],
  });
  assert.match(text, /^Branches and stash that moved: `refs\/heads\/other`, `refs\/stash`$/m);
});

test('a report says that nothing changed, and what it cannot say', () => {
  assert.equal(describeChanges(still), 'No files changed.');
  assert.equal(
    describeChanges({ ...still, exact: false }),
    'No changed files were seen.\n\nA limit was reached: there may be more changes than these.',
  );
  assert.match(
    describeChanges({ ...still, reason: 'git is not installed' }),
    /^No files changed\.\n\nNot everything could be looked at: git is not installed\.$/,
  );
});

test('long lists are counted and cut', (t) => {
  const repository = makeRepository(t);
  for (let n = 0; n < 60; n += 1) repository.write(`old/${n}`, 'x');
  const changes = changesOf(repository, (r) => {
    for (let n = 0; n < 230; n += 1) r.write(`new/${n}`, `${n}`);
    for (let n = 0; n < 25; n += 1) r.git('commit', '-q', '--allow-empty', '-m', `${n}`);
    for (let n = 0; n < 55; n += 1) r.git('branch', `b${n}`);
  });
  const { files, file_count, commits, commit_count, dirty_before, dirty_before_count, refs_changed } = changes;
  assert.deepEqual([files.length, file_count, commits.length, commit_count], [200, 230, 20, 25]);
  assert.deepEqual([dirty_before.length, dirty_before_count, refs_changed.length], [50, 60, 50]);
  assert.equal(commits[0]?.subject, '24');
  const text = describeChanges(changes);
  for (const part of ['- and 200 more', '- and 15 more', '- and 50 more']) assert.ok(text.includes(part), text);
});

test('changes have their form, and what lost it is told from them', (t) => {
  const repository = makeRepository(t);
  const changes = changesOf(repository, (r) => r.write('a.txt', 'x'));
  assert.ok(isChanges(JSON.parse(JSON.stringify(changes))));
  assert.ok(isChanges(compareWorkspace({} as never, repository.capture())));
  for (const damage of [{ files: {} }, { files: [{}] }, { file_count: -1 }, { head: null }, { commits: ['x'] }]) {
    assert.equal(isChanges({ ...changes, ...damage }), false);
  }
  assert.equal(isChanges(undefined), false);
});
