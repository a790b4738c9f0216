// What changed in a real repository, whatever was dirty before and whoever committed or staged it meanwhile.
import assert from 'node:assert/strict';
import test from 'node:test';
import { changesOf, makeRepository, type Repository, told } from './repository.ts';

const quiet = { commits: 0, moved: null, index: false, unchanged: false };

interface Case {
  name: string;
  before?: (r: Repository) => void;
  act: (r: Repository) => void;
  files: string[];
  untouched?: string[];
  /** Was dirty, and is committed as it was. */
  kept?: string[];
  commits?: number;
  moved?: 'forward' | 'elsewhere' | null;
  index?: boolean;
  unchanged?: boolean;
}

const cases: Case[] = [
  { name: 'nothing', act: () => undefined, files: [], unchanged: true },
  {
    name: 'nothing in a dirty tree',
    before: (r) => {
      r.write('a.txt', 'dirty');
      r.write('new', 'new');
    },
    act: (r) => r.git('status'),
    files: [],
    untouched: ['a.txt', 'new'],
    unchanged: true,
  },
  { name: 'an edit', act: (r) => r.write('a.txt', 'x'), files: ['modified a.txt'] },
  {
    name: 'an edit of the same length',
    act: (r) => r.write('a.txt', 'onE\n'),
    files: ['modified a.txt'],
  },
  {
    name: 'a second edit of a dirty file',
    before: (r) => {
      r.write('a.txt', 'dirty');
      r.write('README.md', 'dirty too');
    },
    act: (r) => r.write('a.txt', 'dirti'),
    files: ['modified a.txt, dirty'],
    untouched: ['README.md'],
  },
  {
    name: 'a dirty file that was reverted',
    before: (r) => r.write('a.txt', 'dirty'),
    act: (r) => r.git('checkout', '-q', '--', 'a.txt'),
    files: ['modified a.txt, dirty'],
  },
  {
    name: 'a dirty file that was written again as it was',
    before: (r) => r.write('a.txt', 'dirty'),
    act: (r) => r.write('a.txt', 'dirty'),
    files: [],
    untouched: ['a.txt'],
    unchanged: true,
  },
  {
    name: 'a new file in an untracked folder',
    before: (r) => r.write('new/one', '1'),
    act: (r) => r.write('new/two', '2'),
    files: ['added new/two'],
    untouched: ['new/one'],
  },
  {
    name: 'an untracked file that was edited, and one that was removed',
    before: (r) => {
      r.write('one', '1');
      r.write('two', '2');
    },
    act: (r) => {
      r.write('one', '1.1');
      r.remove('two');
    },
    files: ['modified one, dirty', 'deleted two, dirty'],
  },
  { name: 'a deletion', act: (r) => r.remove('a.txt'), files: ['deleted a.txt'] },
  {
    name: 'a deleted file that is back',
    before: (r) => r.remove('a.txt'),
    act: (r) => r.git('checkout', '-q', '--', 'a.txt'),
    files: ['added a.txt, dirty'],
  },
  { name: 'a mode', act: (r) => r.mode('a.txt', 0o755), files: ['modified a.txt'] },
  {
    name: 'a file that became a link',
    act: (r) => {
      r.remove('a.txt');
      r.link('a.txt', 'README.md');
    },
    files: ['modified a.txt'],
  },
  {
    name: 'a link to somewhere else',
    before: (r) => r.link('l', 'a.txt'),
    act: (r) => {
      r.remove('l');
      r.link('l', 'README.md');
    },
    files: ['modified l, dirty'],
  },
  { name: 'a plain rename', act: (r) => r.move('a.txt', 'c/a.txt'), files: ['renamed a.txt -> c/a.txt'] },
  {
    name: 'a rename by git',
    act: (r) => r.git('mv', 'a.txt', 'c.txt'),
    files: ['renamed a.txt -> c.txt'],
    index: true,
  },
  {
    name: 'a rename by git with an edit',
    before: (r) => {
      r.write('long', 'line\n'.repeat(50));
      r.commit('Long');
    },
    act: (r) => {
      r.git('mv', 'long', 'longer');
      r.write('longer', `${'line\n'.repeat(50)}more\n`);
      r.git('add', '-A');
    },
    files: ['renamed long -> longer'],
    index: true,
  },
  {
    name: 'a rename that was there before',
    before: (r) => r.git('mv', 'a.txt', 'c.txt'),
    act: () => undefined,
    files: [],
    untouched: ['a.txt', 'c.txt'],
    unchanged: true,
  },
  {
    name: 'a rename that is committed',
    act: (r) => {
      r.git('mv', 'a.txt', 'c.txt');
      r.commit('Rename');
    },
    files: ['renamed a.txt -> c.txt, committed'],
    commits: 1,
    moved: 'forward',
    index: true,
  },
  {
    name: 'staging of an old change',
    before: (r) => r.write('a.txt', 'dirty'),
    act: (r) => r.git('add', 'a.txt'),
    files: [],
    untouched: ['a.txt'],
    index: true,
  },
  {
    name: 'a change that is only staged',
    act: (r) => {
      r.write('a.txt', 'staged');
      r.git('add', 'a.txt');
    },
    files: ['modified a.txt'],
    index: true,
  },
  {
    name: 'a change that is staged and taken back in the tree',
    act: (r) => {
      r.write('a.txt', 'staged');
      r.git('add', 'a.txt');
      r.write('a.txt', 'one\n');
    },
    files: [],
    index: true,
  },
  {
    name: 'a staged change that was taken back by the run',
    before: (r) => {
      r.write('a.txt', 'staged');
      r.git('add', 'a.txt');
    },
    act: (r) => r.git('reset', '-q', '--hard'),
    files: ['modified a.txt, dirty'],
    index: true,
  },
  {
    name: 'a file that git forgets but that stays',
    act: (r) => r.git('rm', '-q', '--cached', 'a.txt'),
    files: [],
    index: true,
  },
  {
    name: 'a name that git is told to expect',
    before: (r) => r.write('n', 'n'),
    act: (r) => r.git('add', '-N', 'n'),
    files: [],
    untouched: ['n'],
    index: true,
  },
  {
    name: 'a new name that git is told to expect',
    act: (r) => {
      r.write('n', 'n');
      r.git('add', '-N', 'n');
    },
    files: ['added n'],
    index: true,
  },
  {
    name: 'a commit of an edit',
    act: (r) => {
      r.write('a.txt', 'x');
      r.write('new', 'x1');
      r.commit('One');
      r.write('b', 'b');
      r.commit('Two');
    },
    files: ['modified a.txt, committed', 'added b, committed', 'added new, committed'],
    commits: 2,
    moved: 'forward',
    index: true,
  },
  {
    name: 'a pure commit of what was dirty before',
    before: (r) => {
      r.write('a.txt', 'dirty');
      r.write('new', 'new');
      r.git('add', '-A');
    },
    act: (r) => r.git('commit', '-q', '-m', 'Old'),
    files: [],
    kept: ['a.txt', 'new'],
    commits: 1,
    moved: 'forward',
  },
  {
    name: 'a commit that swallows a dirty file beside an edit, and a deletion',
    before: (r) => {
      r.write('README.md', 'mine');
      r.remove('sub/b.txt');
      r.write('new', 'stays');
    },
    act: (r) => {
      r.write('a.txt', 'x');
      r.git('commit', '-qam', 'swallow');
    },
    files: ['modified a.txt, committed'],
    untouched: ['new'],
    kept: ['README.md', 'sub/b.txt'],
    commits: 1,
    moved: 'forward',
    index: true,
  },
  {
    name: 'a commit of an earlier stage of a dirty file',
    before: (r) => {
      r.write('a.txt', 'staged');
      r.git('add', 'a.txt');
      r.write('a.txt', 'dirty');
    },
    act: (r) => r.git('commit', '-qm', 'Stage'),
    files: [],
    untouched: ['a.txt'],
    commits: 1,
    moved: 'forward',
  },
  {
    name: 'a commit of a dirty file that was edited again',
    before: (r) => r.write('a.txt', 'dirty'),
    act: (r) => {
      r.write('a.txt', 'dirtier');
      r.commit('All');
    },
    files: ['modified a.txt, dirty, committed'],
    commits: 1,
    moved: 'forward',
    index: true,
  },
  {
    name: 'an edit that was committed and edited once more',
    act: (r) => {
      r.write('a.txt', 'x');
      r.commit('X');
      r.write('a.txt', 'y');
    },
    files: ['modified a.txt, committed'],
    commits: 1,
    moved: 'forward',
    index: true,
  },
  {
    name: 'an edit that was committed and then undone in the tree',
    act: (r) => {
      r.write('a.txt', 'x');
      r.commit('X');
      r.write('a.txt', 'one\n');
    },
    files: [],
    commits: 1,
    moved: 'forward',
    index: true,
  },
  {
    name: 'a commit that was taken back softly',
    act: (r) => r.git('reset', '-q', '--soft', 'HEAD~1'),
    files: [],
    moved: 'elsewhere',
  },
  {
    name: 'a commit that was taken back wholly',
    act: (r) => r.git('reset', '-q', '--hard', 'HEAD~1'),
    files: ['deleted a.txt, committed', 'deleted sub/b.txt, committed'],
    moved: 'elsewhere',
    index: true,
  },
  {
    name: 'an amended commit',
    act: (r) => {
      r.write('a.txt', 'x');
      r.git('commit', '-qa', '--amend', '-m', 'Other');
    },
    files: ['modified a.txt, committed'],
    commits: 1,
    moved: 'elsewhere',
    index: true,
  },
  {
    name: 'ignored files',
    before: (r) => {
      r.write('.gitignore', 'ignored*\n');
      r.commit('Ignore');
    },
    act: (r) => r.write('ignored.log', 'x'),
    files: [],
    unchanged: true,
  },
  {
    name: 'a dirty file that is ignored now',
    before: (r) => r.write('noise', 'x'),
    act: (r) => r.write('.gitignore', 'noise\n'),
    files: ['added .gitignore'],
    untouched: ['noise'],
  },
  {
    name: 'what is in the state folder',
    act: (r) => r.write('.job-state/jobs/x', 'x'),
    files: [],
    unchanged: true,
  },
  {
    name: 'odd names',
    act: (r) => {
      r.write('with "quotes" and\nnewline', '1');
      r.write(' lead and trail ', '2');
      r.write('-dash', '3');
      r.write('\u{1f4a9}', '4');
      r.writeBytes(Buffer.from([0x62, 0xff, 0x0a]), '5');
    },
    files: [
      'added  lead and trail ',
      'added -dash',
      'added b\\xff\n',
      'added with "quotes" and\nnewline',
      'added \u{1f4a9}',
    ],
  },
  {
    name: 'odd names of dirty files',
    before: (r) => {
      r.write('tab\tname', '1');
      r.writeBytes(Buffer.from([0xff, 0xfe]), '2');
      r.writeBytes(Buffer.from([0xff, 0xfd]), '3');
    },
    act: (r) => {
      r.write('tab\tname', '1.1');
      r.writeBytes(Buffer.from([0xff, 0xfe]), '2.2');
    },
    files: ['modified tab\tname, dirty', 'modified \\xff\\xfe, dirty'],
    untouched: ['\\xff\\xfd'],
  },
  {
    name: 'odd names in commits',
    act: (r) => {
      r.writeBytes(Buffer.from([0x61, 0xff]), '1');
      r.commit('Odd');
    },
    files: ['added a\\xff, committed'],
    commits: 1,
    moved: 'forward',
    index: true,
  },
  {
    name: 'a folder in the place of a file',
    act: (r) => {
      r.remove('a.txt');
      r.write('a.txt/inner', 'x');
    },
    files: ['deleted a.txt', 'added a.txt/inner'],
  },
  {
    name: 'a link in the place of a folder',
    before: (r) => r.write('sub/b.txt', 'dirty'),
    act: (r) => {
      r.move('sub', 'other');
      r.link('sub', 'other');
    },
    files: ['renamed sub/b.txt -> other/b.txt, dirty', 'added sub'],
  },
  {
    name: 'what a replacement of the old commit would hide',
    act: (r) => {
      r.write('c.txt', 'x');
      r.commit('Hidden');
      r.git('replace', 'HEAD~1', 'HEAD');
    },
    files: ['added c.txt, committed'],
    commits: 1,
    moved: 'forward',
    index: true,
  },
];

for (const { name, before, act, files, untouched = [], kept = [], ...rest } of cases) {
  test(`changes tell ${name}`, (t) => {
    const repository = makeRepository(t);
    before?.(repository);
    const changes = changesOf(repository, act);
    assert.deepEqual(told(changes), files);
    assert.deepEqual([changes.dirty_before, changes.dirty_committed], [untouched, kept]);
    assert.equal(changes.dirty_committed_count, kept.length);
    const { commit_count, head, index_changed, unchanged } = changes;
    assert.deepEqual(
      { commits: commit_count, moved: head.moved, index: index_changed, unchanged },
      { ...quiet, ...rest },
    );
    assert.deepEqual([changes.exact, changes.reason], [true, null]);
    assert.deepEqual([changes.file_count, changes.dirty_before_count], [files.length, untouched.length]);
  });
}
