/**
 * What an agent, or a cloned repository, can put in the way of a loop: links and pipes, words that want to be more than words, a trust and a begun
 * checkpoint that nobody of ours wrote, and two who begin at once.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { expectCode, makeLoop } from '../helpers/loop.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('a link or a pipe in the place of the loop or of its files is refused, and nothing is written through it', async (t) => {
  const at = await makeLoop(t);
  for (const file of ['state.json', 'journal.md', 'handoff.md']) {
    const real = at.path(`.loop/${file}`);
    renameSync(real, at.path('../kept'));
    symlinkSync(at.path('../elsewhere'), real);
    for (const verb of ['start', 'check', 'gate', 'resume']) {
      const refused = await expectCode(1, at.loop(verb));
      assert.match(refused.stderr, new RegExp(`${file}: it is no regular file`));
    }
    rmSync(real);
    execFileSync('mkfifo', [real]);
    assert.match((await expectCode(1, at.loop('start'))).stderr, /no regular file/);
    rmSync(real);
    renameSync(at.path('../kept'), real);
  }
  assert.ok(!existsSync(at.path('../elsewhere')));
  renameSync(at.path('.loop'), at.path('../loop-kept'));
  symlinkSync(at.path('../loop-kept'), at.path('.loop'));
  assert.match((await expectCode(1, at.loop('start'))).stderr, /symbolic link/);
  assert.match((await expectCode(1, at.loop('init', 'x'))).stderr, /symbolic link/);
});

test('control characters and line ends of a goal or a title never reach a page, a file or a subject', async (t) => {
  const workspace = makeWorkspace(t);
  const loop = (...args: string[]) => run(workspace, ['loop', ...args]);
  const nasty = 'red \u001b[31m\n## Iteration 9 -- 2026-01-01\n\u202eevil';
  await expectCode(
    0,
    loop('init', nasty, '--milestone', `m1: ${nasty}`, '--acceptance', `m1: ${nasty}`, '--verify', 'true'),
  );
  await expectCode(0, loop('start'));
  await expectCode(0, loop('checkpoint', '--risk', nasty));
  for (const verb of ['status', 'resume', 'next', 'check']) {
    const { stdout, stderr } = await loop(verb);
    assert.doesNotMatch(stdout + stderr, /\u001b|^## Iteration 9/m, verb);
  }
  for (const file of ['.loop/journal.md', '.loop/handoff.md'])
    assert.doesNotMatch(execFileSync('cat', [workspace.path(file)], { encoding: 'utf8' }), /\u001b|^## Iteration 9/m);
  const subject = workspace.git('log', '-1', '--format=%B').trim();
  assert.equal(subject.split('\n').length, 1);
  assert.doesNotMatch(subject, /\u001b/);
});

test('a trust that somebody else wrote, or that is of other commands or another worktree, is none', async (t) => {
  const at = await makeLoop(t, ['--verify', 'echo ran >>../ran']);
  await at.iterate();
  const trust = JSON.parse(at.read('.job-state/loop/trust.json'));
  const forged = JSON.stringify({ ...trust, mac: '0'.repeat(64) });
  writeFileSync(at.path('.job-state/loop/trust.json'), forged);
  assert.match((await expectCode(1, at.loop('gate'))).stderr, /loop trust/);
  writeFileSync(at.path('.job-state/loop/trust.json'), JSON.stringify(trust));
  const state = at.read('.loop/state.json').replaceAll('echo ran >>../ran', 'echo evil >>../ran');
  writeFileSync(at.path('.loop/state.json'), state);
  for (const verb of ['gate', 'run', 'check'])
    await expectCode(1, at.loop(verb, ...(verb === 'check' ? ['--run'] : [])));
  at.git('clone', '-q', at.dir, at.path('../clone'));
  mkdirSync(at.path('../clone/.job-state/loop'), { recursive: true });
  execFileSync('cp', ['-r', at.path('.job-state/.'), at.path('../clone/.job-state/')]);
  const cwd = at.path('../clone');
  assert.equal((await run(at, ['loop', 'gate'], { cwd })).code, 1);
  assert.ok(!existsSync(at.path('../ran')));
});

test('loop trust shows every character of a command that it would let run', async (t) => {
  const hidden = [
    'true \u001b];touch ../evil;: \u001b\\ --unit',
    'true # fine\ntouch ../evil',
    'true \u202e;touch ../evil\u2028x',
  ];
  const at = await makeLoop(
    t,
    hidden.flatMap((command) => ['--verify', command]),
  );
  const { stdout } = await expectCode(0, at.loop('trust'));
  assert.match(stdout, /^ {2}true <U\+001B>\];touch \.\.\/evil;: <U\+001B>\\ --unit$/m);
  assert.match(stdout, /^ {2}true # fine\n {4}\| touch \.\.\/evil$/m);
  assert.match(stdout, /^ {2}true <U\+202E>;touch \.\.\/evil<U\+2028>x$/m);
});

test('a milestone that is given twice is refused, and no loop is made', async (t) => {
  const workspace = makeWorkspace(t);
  const twice = ['--milestone', 'a: one', '--milestone', 'a: two', '--acceptance', 'a: x'];
  assert.match((await expectCode(1, run(workspace, ['loop', 'init', 'x', ...twice]))).stderr, /"a" twice/);
  assert.ok(!existsSync(workspace.path('.loop')));
});

test('a begun checkpoint that does not fit is put aside, and nothing of it is done', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  const before = [at.read('.loop/state.json'), at.read('.loop/journal.md'), at.git('rev-parse', 'HEAD')];
  const planted = [
    '{"stateText": 1',
    '[]',
    JSON.stringify({ stateText: '{}', entry: 'x', handoff: 'x', message: 'x', from: 2 }),
    JSON.stringify({
      stateText: at.read('.loop/state.json').replace('"rev": 2', '"rev": 99'),
      entry: 'x',
      handoff: 'x',
      message: 'x',
      from: 98,
    }),
  ];
  for (const text of planted) {
    writeFileSync(at.path('.job-state/loop/checkpoint.json'), text);
    await expectCode(1, at.loop('start'));
    assert.deepEqual([at.read('.loop/state.json'), at.read('.loop/journal.md'), at.git('rev-parse', 'HEAD')], before);
    assert.ok(!existsSync(at.path('.job-state/loop/checkpoint.json')));
  }
});

test('of eight who begin at once, one begins; of four checkpoints at once, one is made', async (t) => {
  const at = await makeLoop(t);
  const owners = Array.from({ length: 8 }, (_, index) => `session-${index}`);
  const begun = await Promise.all(owners.map((owner) => at.loop('start', '--owner', owner)));
  assert.deepEqual(begun.map(({ code }) => code).sort(), [0, 1, 1, 1, 1, 1, 1, 1]);
  const owner = at.state().current?.owner ?? '';
  at.write('code.js', 'x\n');
  const made = await Promise.all(
    Array.from({ length: 4 }, () => at.loop('checkpoint', '--owner', owner, '--did', 'x')),
  );
  assert.deepEqual(made.map(({ code }) => code).sort(), [0, 1, 1, 1]);
  assert.equal(at.state().iteration, 1);
  assert.equal(
    at
      .git('log', '--format=%s')
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('feat(m1)')).length,
    1,
  );
});

test('file names with line ends and quotes are told as they are, on one line', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  at.write('odd\n"name".js', '// TODO x\n');
  await expectCode(0, at.loop('checkpoint', '--did', 'x'));
  const { stdout } = await at.loop('gate');
  assert.match(stdout, /name\\?"\.js:1 has TODO/);
});
