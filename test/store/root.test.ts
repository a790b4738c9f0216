// Where the state folder is, which ones are refused and why, and how one is made.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { checkRoot, ensureRoot, locateRoot } from '../../companion/src/store/root.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { makeProgram, startProgram } from '../platform/child-program.ts';

const modeOf = (path: string) => statSync(path).mode & 0o7777;

function refusal(fn: () => unknown): FaultError {
  try {
    fn();
  } catch (error) {
    assert.ok(error instanceof FaultError, String(error));
    return error;
  }
  return assert.fail('nothing was refused');
}

test('the option comes before the variable, and both before the worktree', (t) => {
  const { dir, path } = makeWorkspace(t);
  mkdirSync(path('sub'));
  const cwd = path('sub');
  const at = (option?: string, variable?: string) => locateRoot({ option, variable, cwd });
  assert.deepEqual(at('/a', '/b'), { folder: '/a', option: ['--state-dir', '/a'] });
  assert.deepEqual(at('x/../y', '/b'), { folder: path('sub', 'y'), option: ['--state-dir', path('sub', 'y')] });
  assert.deepEqual(at(undefined, '/b'), { folder: '/b', option: ['--state-dir', '/b'] });
  assert.deepEqual(at(undefined, 'z'), { folder: path('sub', 'z'), option: ['--state-dir', path('sub', 'z')] });
  assert.deepEqual(at(), { folder: join(dir, '.job-state'), option: [] });
});

test('an empty option is refused, and does not fall back to anything', () => {
  const { code, message } = refusal(() => locateRoot({ option: '', variable: '/b', cwd: '/' }));
  assert.equal(code, 'usage');
  assert.equal(message, 'cannot use --state-dir "": it needs the path of a folder');
});

test('a linked worktree has a state folder of its own', (t) => {
  const { base, git } = makeWorkspace(t);
  git('worktree', 'add', '-q', '--detach', join(base, 'linked'));
  assert.equal(locateRoot({ cwd: join(base, 'linked') }).folder, join(base, 'linked', '.job-state'));
});

test('outside git the nearest state folder of ours above counts, else one here', (t) => {
  const { dir, path } = makeWorkspace(t, { git: false });
  mkdirSync(path('a', 'b', 'c'), { recursive: true });
  const from = (...parts: string[]) => locateRoot({ cwd: path(...parts) });
  assert.deepEqual(from('a', 'b', 'c'), { folder: path('a', 'b', 'c', '.job-state'), option: [] });
  ensureRoot(join(dir, '.job-state'));
  ensureRoot(path('a', '.job-state'));
  // Something of that name that is not ours does not count.
  mkdirSync(path('a', 'b', '.job-state'));
  assert.deepEqual(from('a', 'b', 'c'), { folder: path('a', '.job-state'), option: [] });
  assert.deepEqual(from('a'), { folder: path('a', '.job-state'), option: [] });
  assert.deepEqual(from(), { folder: join(dir, '.job-state'), option: [] });
});

test('a folder that is not there yet, or empty, is no state folder and no fault', (t) => {
  const { path } = makeWorkspace(t, { git: false });
  assert.equal(checkRoot(path('.job-state')), false);
  mkdirSync(path('.job-state'));
  assert.equal(checkRoot(path('.job-state')), false);
});

test('a folder that we made is ours', (t) => {
  const { path } = makeWorkspace(t, { git: false });
  ensureRoot(path('.job-state'));
  assert.equal(checkRoot(path('.job-state')), true);
});

/** What is done to a good state folder, and why it is refused then. */
const refused: [what: string, reason: RegExp, spoil: (folder: string, workspace: Workspace) => void][] = [
  [
    'that is a link',
    /: it is a symbolic link$/,
    (folder, { path }) => {
      execFileSync('mv', [folder, path('elsewhere')]);
      symlinkSync(path('elsewhere'), folder);
    },
  ],
  [
    'that is a link to nowhere',
    /: it is a symbolic link$/,
    (folder) => {
      rmSync(folder, { recursive: true });
      symlinkSync('/nowhere/at-all', folder);
    },
  ],
  [
    'that is a file',
    /: it is no folder$/,
    (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, '');
    },
  ],
  ['that its group may write', /: others may write into it \(mode 770\)$/, (folder) => chmodSync(folder, 0o770)],
  ['that everybody may write', /: others may write into it \(mode 777\)$/, (folder) => chmodSync(folder, 0o777)],
  ['that everybody may write, sticky', /: others may write into it/, (folder) => chmodSync(folder, 0o1777)],
  ['without meta.json', /: it holds files but no meta\.json of ours$/, (folder) => rmSync(join(folder, 'meta.json'))],
  [
    'with a meta.json of another tool',
    /: it holds files but no meta\.json of ours$/,
    (folder) => writeFileSync(join(folder, 'meta.json'), '{"schema":1,"tool":"other"}'),
  ],
  [
    'with a damaged meta.json',
    /: it holds files but no meta\.json of ours$/,
    (folder) => writeFileSync(join(folder, 'meta.json'), '{"schema":1,"tool":"job-com'),
  ],
  [
    'with a link as meta.json',
    /: it holds files but no meta\.json of ours$/,
    (folder, { write }) => {
      rmSync(join(folder, 'meta.json'));
      symlinkSync(write('meta.json', '{"schema":1,"tool":"job-companion"}'), join(folder, 'meta.json'));
    },
  ],
  [
    'of a newer release',
    /: a newer release wrote it \(schema 2, known: 1\)$/,
    (folder) => writeFileSync(join(folder, 'meta.json'), '{"schema":2,"tool":"job-companion"}'),
  ],
  [
    'with a schema that is no number',
    /: a newer release wrote it \(schema 1x, known: 1\)$/,
    (folder) => writeFileSync(join(folder, 'meta.json'), '{"schema":"1x","tool":"job-companion"}'),
  ],
  [
    'in which git tracks a file',
    /: git tracks files in it, so a repository may have brought it along$/,
    (folder, { git }) => git('add', '-f', join(folder, 'meta.json')),
  ],
  ...['active', 'jobs', 'once', 'slots'].flatMap((name): typeof refused => [
    [
      `whose ${name} is a link`,
      new RegExp(`: its ${name} is no folder of ours$`),
      (folder, { path }) => {
        rmSync(join(folder, name), { recursive: true });
        mkdirSync(path('elsewhere'));
        symlinkSync(path('elsewhere'), join(folder, name));
      },
    ],
    [
      `whose ${name} is a file`,
      new RegExp(`: its ${name} is no folder of ours$`),
      (folder) => {
        rmSync(join(folder, name), { recursive: true });
        writeFileSync(join(folder, name), '');
      },
    ],
  ]),
];
for (const [what, reason, spoil] of refused) {
  test(`a state folder ${what} is refused for reading and launching, with a way out`, (t) => {
    const workspace = makeWorkspace(t, { git: what.includes('git') });
    const folder = workspace.path('.job-state');
    ensureRoot(folder);
    spoil(folder, workspace);
    for (const use of [checkRoot, ensureRoot]) {
      const { code, message, next } = refusal(() => use(folder));
      assert.equal(code, 'state_unusable');
      assert.match(message, reason);
      assert.ok(message.startsWith(`cannot use the state folder ${folder}: `), message);
      assert.equal(next, 'use another place with --state-dir DIR or JOB_STATE_DIR');
    }
    assert.equal(existsSync(workspace.path('elsewhere', 'meta.json')), what === 'that is a link');
  });
}

test('a state folder of somebody else is refused', (t) => {
  const { path } = makeWorkspace(t, { git: false });
  const isRoot = process.getuid?.() === 0;
  const folder = isRoot ? path('.job-state') : '/usr';
  if (isRoot) {
    ensureRoot(folder);
    execFileSync('chown', ['12345', folder]);
  }
  assert.match(refusal(() => checkRoot(folder)).message, /: it belongs to user \d+, not to us \(\d+\)$/);
});

test('a new state folder is private and ignores itself', (t) => {
  const { path, git, write } = makeWorkspace(t);
  const before = process.umask(0);
  try {
    ensureRoot(path('.job-state'));
  } finally {
    process.umask(before);
  }
  assert.equal(modeOf(path('.job-state')), 0o700);
  for (const name of ['active', 'jobs', 'once', 'slots']) assert.equal(modeOf(path('.job-state', name)), 0o700, name);
  for (const name of ['.gitignore', 'meta.json']) assert.equal(modeOf(path('.job-state', name)), 0o600, name);
  assert.deepEqual(readdirSync(path('.job-state')).sort(), [
    '.gitignore',
    'active',
    'jobs',
    'meta.json',
    'once',
    'slots',
  ]);
  const meta = JSON.parse(readFileSync(path('.job-state', 'meta.json'), 'utf8'));
  assert.deepEqual([meta.schema, meta.tool], [1, 'job-companion']);
  write('.job-state/jobs/x', '');
  assert.equal(git('status', '--porcelain'), '');
});

test('the mode of a folder that we did not make stays what it was', (t) => {
  const { path } = makeWorkspace(t, { git: false });
  mkdirSync(path('.job-state'));
  chmodSync(path('.job-state'), 0o755);
  ensureRoot(path('.job-state'));
  assert.equal(modeOf(path('.job-state')), 0o755);
  assert.equal(modeOf(path('.job-state', 'jobs')), 0o700);
  ensureRoot(path('.job-state'));
  assert.equal(modeOf(path('.job-state')), 0o755);
});

test('a state folder that lost an inner folder gets it back, and keeps everything else', (t) => {
  const { path, write, read } = makeWorkspace(t, { git: false });
  ensureRoot(path('.job-state'));
  const meta = read('.job-state/meta.json');
  write('.job-state/jobs/kept', '1');
  rmSync(path('.job-state', 'slots'), { recursive: true });
  ensureRoot(path('.job-state'));
  assert.equal(modeOf(path('.job-state', 'slots')), 0o700);
  assert.equal(read('.job-state/meta.json'), meta);
  assert.equal(read('.job-state/jobs/kept'), '1');
});

test('a folder that cannot be made is refused, and nothing is left', (t) => {
  const { path, dir } = makeWorkspace(t);
  const { code, message } = refusal(() => ensureRoot(path('none', 'state')));
  assert.equal(code, 'state_unusable');
  assert.match(message, /: it cannot be made or written \(ENOENT\)$/);
  assert.deepEqual(readdirSync(dir).sort(), ['.git', 'README.md']);
});

test('below a file there is no state folder, and none can be made', (t) => {
  const { path } = makeWorkspace(t);
  assert.equal(checkRoot(path('README.md', 'state')), false);
  assert.equal(refusal(() => ensureRoot(path('README.md', 'state'))).code, 'state_unusable');
});

/** Ten processes that make the same folders at the same time. */
async function makeTogether(t: TestContext, prepare: (workspace: Workspace, name: string) => void): Promise<Workspace> {
  const workspace = makeWorkspace(t, { git: false });
  const rounds = 25;
  for (let round = 0; round < rounds; round += 1) prepare(workspace, `state-${round}`);
  const code = `import { ensureRoot } from './store/root.ts';
    import { readFileSync } from 'node:fs';
    readFileSync(0);
    for (let round = 0; round < ${rounds}; round += 1) ensureRoot(process.argv[2] + '/state-' + round);`;
  const program = makeProgram(workspace, 'make', code);
  const makers = Array.from({ length: 10 }, () => startProgram(workspace, [program, workspace.dir]));
  for (const maker of makers) maker.begin();
  for (const { ended } of makers) {
    const { code: exit, stderr } = await ended;
    assert.equal(exit, 0, stderr);
  }
  for (let round = 0; round < rounds; round += 1) assert.equal(checkRoot(workspace.path(`state-${round}`)), true);
  assert.equal(readdirSync(workspace.dir).length, rounds);
  return workspace;
}

test('many launchers at once make one state folder and leave nothing beside it', async (t) => {
  await makeTogether(t, () => undefined);
});

test('many launchers at once fill an empty folder that was there', {}, async (t) => {
  await makeTogether(t, ({ path }, name) => mkdirSync(path(name), { mode: 0o700 }));
});
