// `--handback DIR`: which folders are taken, and which are refused before anything is made.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Profile, StaffPart, WorktreeNote } from '../../companion/src/core/job.ts';
import { handbackMost } from '../../companion/src/core/limits.ts';
import { handbackWarnings, planHandback, takeHandback, undoHandback } from '../../companion/src/jobs/handback.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

function makePlace(t: TestContext) {
  const workspace = makeWorkspace(t);
  const { base, dir } = workspace;
  const out = join(base, 'out');
  mkdirSync(out, { mode: 0o700 });
  const plan = (
    said: string,
    staff: Partial<StaffPart> = {},
    worktree: WorktreeNote | null = null,
    state = workspace.path('.job-state'),
  ) => {
    const part = { backend: 'claude', profile: 'standard' as Profile, brief: true, custom: null, ...staff };
    const place = { from: dir, cwd: workspace.path(), worktree, stateRoot: state };
    return planHandback(said, part as StaffPart, place);
  };
  return { ...workspace, out, plan };
}

test('a folder of our own outside the work tree is taken: relative, through links, and one that is still to be made', (t) => {
  const { plan, out, base } = makePlace(t);
  symlinkSync(out, join(base, 'link'));
  for (const said of [out, '../out', '../link', `${base}/link/`]) assert.equal(plan(said).dir, realpathSync(out), said);
  assert.equal(plan('../link/new').dir, join(realpathSync(out), 'new'));
  assert.equal(existsSync(join(out, 'new')), false);
});

test('what is measured, kept or trusted is refused, from inside and from outside', (t) => {
  const { plan, out, base, dir, path, write } = makePlace(t);
  write('sub/x', '');
  symlinkSync(path('sub'), join(base, 'into'));
  const tree = join(base, 'tree');
  mkdirSync(join(tree, 'in'), { recursive: true });
  const worktree = { path: tree, from: out, git_folder: join(out, 'git'), branch: 'b', base: 'c' };
  const refused: [said: string, why: RegExp][] = [
    ['.', /it is the work tree of the job/],
    ['new', /lies in the work tree/],
    ['sub', /lies in the work tree/],
    ['../into', /lies in the work tree/],
    ['..', /holds the (?:state folder|work tree)/],
    ['/', /holds the (?:state folder|work tree)/],
    ['.job-state', /lies in the work tree/],
    ['.job-state/jobs', /does not exist/],
    ['.git/hooks', /git's own files/],
    [path('README.md'), /is no folder/],
    ['../out/a/b', /out\/a does not exist; only the last part/],
  ];
  for (const [said, why] of refused) assert.throws(() => plan(said), { code: 'preflight', message: why }, said);
  assert.throws(() => plan(join(tree, 'in'), {}, worktree), { message: /lies in the work tree of the job/ });
  assert.throws(() => plan(join(out, 'in'), {}, worktree), { message: /the work tree that it was made from/ });
  assert.throws(() => plan(''), { code: 'usage' });
  assert.equal(existsSync(join(dir, 'new')), false);
});

test('a state folder elsewhere is refused too', (t) => {
  const { plan, out } = makePlace(t);
  for (const said of ['../out/state', '../out/state/in', '../out'])
    assert.throws(() => plan(said, {}, null, join(out, 'state')), { message: /the state folder|does not exist/ }, said);
});

test('folders of the program itself are refused, for the key of the records lies there', (t) => {
  const { plan, base } = makePlace(t);
  const before = process.env.XDG_CONFIG_HOME;
  t.after(() => {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before;
  });
  process.env.XDG_CONFIG_HOME = join(base, 'config');
  mkdirSync(join(base, 'config/job-companion'), { recursive: true });
  for (const said of ['../config', '../config/job-companion', '../config/job-companion/in'])
    assert.throws(() => plan(said), { message: /a folder of job-companion itself/ }, said);
});

test('a folder that others may write into, or whose path an agent CLI would misread, is refused', (t) => {
  const { plan, out, base } = makePlace(t);
  for (const mode of [0o777, 0o1777, 0o770]) {
    chmodSync(out, mode);
    assert.throws(() => plan(out), { message: /others may write into/ });
  }
  for (const odd of ['a,b', 'a*', 'a[1]', 'a{b}', 'a\\b', 'a\nb', 'a!'])
    assert.throws(() => plan(join(base, odd)), { message: /which agent CLIs do not take as it is/ }, odd);
  assert.throws(() => symlinkSync('/nowhere', join(base, 'dangling')) ?? plan('../dangling'), {
    message: /cannot take/,
  });
  writeFileSync(join(base, 'file'), '');
  assert.throws(() => plan('../file/in'), { message: /is no folder|does not exist|cannot be looked at/ });
});

test('an agent that can write nothing there is refused, with the way out', (t) => {
  const { plan, out } = makePlace(t);
  assert.throws(() => plan(out, { profile: 'restricted' }), {
    message: /cannot take --handback with profile restricted/,
    next: /--profile standard.*--handback none/,
  });
  for (const backend of ['agy', 'claude', 'codex', 'copilot', 'cursor', 'custom', 'gemini', 'opencode', 'pi', 'qwen'])
    for (const profile of ['standard', 'unrestricted'] as const) assert.equal(plan(out, { backend, profile }).dir, out);
});

test('a program that gets its task as it is is warned of', () => {
  const custom = { name: 'mine', argv: ['x'], prompt: 'stdin' as const };
  const part = { backend: 'custom', brief: false, custom } as unknown as StaffPart;
  assert.match(handbackWarnings(part)[0]?.message ?? '', /^mine gets its task as it is.*JOB_HANDBACK/);
  assert.deepEqual(handbackWarnings({ ...part, brief: true }), []);
});

test('a folder that a launch made is taken back when it fails, unless there is something in it', async (t) => {
  const { plan, out, path } = makePlace(t);
  const root = { folder: path('.job-state'), option: [] };
  const made = plan('../out/made');
  assert.deepEqual(await takeHandback(root, made), { dir: join(out, 'made'), baseline: {} });
  undoHandback(made);
  assert.equal(existsSync(made.dir), false);
  await takeHandback(root, made);
  writeFileSync(join(made.dir, '01-a.md'), 'a');
  undoHandback(made);
  assert.equal(existsSync(made.dir), true);
  const there = plan('../out/made');
  assert.deepEqual(Object.keys((await takeHandback(root, there)).baseline), ['01-a.md']);
  undoHandback(there);
  assert.equal(existsSync(made.dir), true);
});

test('a folder that was put in the place of the checked one is refused at the last moment', async (t) => {
  const { plan, base, path } = makePlace(t);
  const root = { folder: path('.job-state'), option: [] };
  const planned = plan('../later');
  symlinkSync(path(), join(base, 'later'));
  await assert.rejects(takeHandback(root, planned), { code: 'preflight', message: /leads somewhere else now/ });
});

test('a folder with more files than can be told apart is refused', async (t) => {
  const { plan, out, path } = makePlace(t);
  for (let n = 0; n <= handbackMost.files; n += 1) writeFileSync(join(out, `00-${n}.md`), '');
  await assert.rejects(takeHandback({ folder: path('.job-state'), option: [] }, plan(out)), {
    message: /it holds more than 1000 ordered files/,
  });
});
