/**
 * Where the gate must not say GO or finished: jobs of an earlier milestone, a journal that was rewritten and committed, a stop or another commit that
 * came while it judged, markers that a repository hides; and where it must not say NO-GO. The end of a begun checkpoint never makes a broken commit.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, launchHeld } from '../helpers/jobs.ts';
import { expectCode, makeLoop } from '../helpers/loop.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('a live job of an earlier milestone keeps the loop from being finished', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  const held = await launchHeld(at, { options: ['--milestone', 'm1'] });
  await expectCode(0, at.loop('checkpoint', '--did', 'x'));
  await at.iterate();
  await at.iterate();
  const report = await at.gate();
  assert.deepEqual([report.code, report.failed_checks], [3, ['E2b']]);
  assert.match(report.fixes[0]?.what ?? '', new RegExp(held.id));
  held.release();
  assert.equal((await run(at, ['wait', held.id])).code, 0);
  assert.equal((await at.gate()).code, 0);
});

test('a journal that was rewritten is told, also when the rewriting was committed', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  writeFileSync(at.path('.loop/journal.md'), at.read('.loop/journal.md').replace('a step', 'another step'));
  at.git('commit', '-q', '-a', '-m', 'Rewrite it');
  const report = await at.gate();
  assert.deepEqual([report.code, report.failed_checks], [3, ['E6']]);
  assert.equal((await at.gate('--repair')).code, 3, 'who rewrote what is committed has to say so');
});

test('a stop that comes while the gate judges counts, and so does another commit', async (t) => {
  const at = await makeLoop(t, [
    '--verify',
    'touch ../began; until [ -e ../go ]; do sleep 0.1; done; test ! -e broken',
  ]);
  await at.iterate();
  const launchGate = async () => {
    rmSync(at.path('../began'), { force: true });
    rmSync(at.path('../go'), { force: true });
    const id = (await expectCode(0, at.loop('gate', '--id-only'))).stdout.trim();
    await eventually(
      'the suite to run',
      () => findJob(at, id) && execFileSync('ls', [at.path('..')]).includes('began'),
    );
    return id;
  };
  const first = await launchGate();
  at.write('broken', '');
  at.git('add', '-A');
  at.git('commit', '-q', '-m', 'Break it meanwhile');
  at.write('../go', '');
  await expectCode(3, run(at, ['wait', first, '--timeout', '50s']));
  at.git('rm', '-q', 'broken');
  at.git('commit', '-q', '-m', 'Mend it');
  const second = await launchGate();
  await expectCode(0, at.loop('stop', '--reason', 'enough'));
  at.write('../go', '');
  await run(at, ['wait', second, '--timeout', '50s']);
  assert.equal(findJob(at, second).state().gate?.reason, 'stopped');
});

test('markers are found whatever attributes and settings say, each on its line', async (t) => {
  const at = await makeLoop(t);
  at.write('code.js', 'a\nb\nc\nd\ne\nf\n');
  at.git('add', '-A');
  at.git('commit', '-q', '-m', 'Code');
  at.git('config', 'diff.mnemonicPrefix', 'true');
  at.git('config', 'diff.interHunkContext', '30');
  await expectCode(0, at.loop('start'));
  at.write('.gitattributes', '*.js -diff\n');
  at.write('code.js', 'A\nb\nc\nd\ne\nf // TODO\n');
  at.write('picture.png', Buffer.from([0, 1, 2, 10, 43, 84, 79, 68, 79, 10]).toString('latin1'));
  await expectCode(0, at.loop('checkpoint', '--did', 'x', '--risk', 'a TODO of ours'));
  const told = (await at.gate()).fixes.map(({ what }) => what.split(' ')[0]);
  assert.deepEqual(told, ['code.js:6']);
});

test('a file that git was told to overlook is not clean', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  at.git('update-index', '--assume-unchanged', 'code.js');
  at.write('code.js', 'another\n');
  assert.match((await expectCode(3, at.loop('check'))).stdout, /code\.js/);
});

test('the same failure is the same, whatever else its output says', async (t) => {
  const at = await makeLoop(t, [
    '--verify',
    'suite: mktemp -u; exit 3',
    '--milestone',
    'm4: four',
    '--acceptance',
    'm4: x',
  ]);
  const seen = [];
  for (let count = 0; count < 3; count += 1) {
    await at.iterate();
    seen.push((await at.gate()).reason);
  }
  assert.deepEqual(seen, [null, null, 'repeated_failure']);
});

test('a failed command is made good by the same one, not by any other', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  const go = async (...args: string[]) => {
    const id = (await expectCode(0, run(at, ['run', '--milestone', 'm1', '--id-only', '--', ...args]))).stdout.trim();
    await run(at, ['wait', id]);
  };
  await go('test', '-e', '../here');
  await expectCode(0, at.loop('checkpoint', '--did', 'x'));
  await go('true');
  assert.deepEqual((await at.gate()).failed_checks, ['E2b']);
  at.write('../here', '');
  await go('test', '-e', '../here');
  assert.equal((await at.gate()).code, 2);
});

test('a checkout with other line ends is as fresh, and so is a shallow clone', async (t) => {
  const at = await makeLoop(t);
  at.write('.gitattributes', '* text=auto eol=crlf\n');
  await at.iterate();
  await at.iterate();
  at.git('clone', '-q', at.dir, at.path('../clone'));
  at.git('clone', '-q', '--depth', '1', `file://${at.dir}`, at.path('../shallow'));
  for (const name of ['clone', 'shallow']) {
    const check = await run(at, ['loop', 'check'], { cwd: at.path(`../${name}`) });
    assert.equal(check.code, 0, check.stdout);
  }
});

test('no milestone is no plan, and a date that is none is refused', async (t) => {
  const workspace = makeWorkspace(t);
  const loop = (...args: string[]) => run(workspace, ['loop', ...args]);
  const odd = await expectCode(1, loop('init', 'x', '--stop-when', 'date:5'));
  assert.match(odd.stderr, /date:5/);
  await expectCode(0, loop('init', 'x', '--milestone', 'm1: one', '--acceptance', 'm1: a', '--verify', 'true'));
  await expectCode(0, loop('plan', '--drop', 'm1'));
  assert.match((await expectCode(3, loop('check'))).stdout, /no milestone/);
});

test('a checkpoint that was killed is not ended in the middle of a merge; --no-commit goes on without its commit', async (t) => {
  const at = await makeLoop(t);
  at.git('checkout', '-q', '-b', 'side');
  at.write('code.js', 'theirs\n');
  at.git('add', '-A');
  at.git('commit', '-q', '-m', 'Theirs');
  at.git('checkout', '-q', 'main');
  await expectCode(0, at.loop('start'));
  at.write('code.js', 'ours\n');
  at.git('add', '-A');
  at.git('commit', '-q', '-m', 'Ours');
  at.write(
    '../die.cjs',
    "const fs=require('node:fs'),move=fs.renameSync;fs.renameSync=(a,b)=>{const r=move(a,b);if(b.endsWith('/.loop/state.json'))process.kill(process.pid,'SIGKILL');return r;};",
  );
  const killed = await run(at, ['loop', 'checkpoint', '--did', 'x'], {
    nodeOptions: ['--require', at.path('../die.cjs')],
  });
  assert.equal(killed.signal, 'SIGKILL');
  at.git('stash', '-q');
  assert.throws(() => at.git('merge', '-q', 'side'));
  at.git('checkout', '-q', 'stash@{0}', '--', '.loop');
  const head = at.git('rev-parse', 'HEAD');
  const refused = await expectCode(1, at.loop('stop'));
  assert.match(refused.stderr, /a merge is going on[\s\S]*--no-commit/);
  assert.equal(at.git('rev-parse', 'HEAD'), head);
  await at.loop('checkpoint', '--no-commit');
  await expectCode(0, at.loop('stop'));
  assert.equal(at.git('rev-parse', 'HEAD'), head);
  assert.equal(at.state().iteration, 1);
});

test('what another owner holds is not committed by a --fix', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  await expectCode(0, at.loop('start', '--owner', 'A'));
  at.write('half.js', 'half\n');
  const refused = await expectCode(1, at.loop('checkpoint', '--fix', '--owner', 'B', '--did', 'x'));
  assert.match(refused.stderr, /held by A/);
});

test('an answer about another handoff is no answer', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const asked = await at.gate();
  await expectCode(0, at.loop('checkpoint', '--fix', '--did', 'x', '--risk', 'everything is different'));
  const answers = Object.fromEntries(asked.unanswered.map((id) => [id, { holds: true, why: 'x' }]));
  at.write('../judge.json', JSON.stringify({ for: asked.judge_digest, answers }));
  await expectCode(1, at.loop('gate', '--judge', '../judge.json'));
});
