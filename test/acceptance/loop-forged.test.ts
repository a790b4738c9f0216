/**
 * What somebody who can write into the worktree or the state folder may try with a loop: commands that nobody trusted, options in the place of a commit,
 * records that look like ours, a program of a submodule. The hash of the state has no key, so it can always be made to fit.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import type { LoopState } from '../../companion/src/core/loop.ts';
import { hashOfState } from '../../companion/src/loop/stamp.ts';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, killNow, launchHeld } from '../helpers/jobs.ts';
import { expectCode, type LoopWorkspace, makeLoop } from '../helpers/loop.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

/** As whoever knows how the hash is made. */
function forge(at: LoopWorkspace, change: (state: LoopState) => void): void {
  const state = at.state();
  change(state);
  writeFileSync(at.path('.loop/state.json'), JSON.stringify({ ...state, hash: hashOfState(state) }));
}

test('a command that took the place of a trusted one is not run by a gate that waited for its turn', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const held = await launchHeld(at);
  const gate = (await expectCode(0, at.loop('gate', '--id-only', '--max-live', '1'))).stdout.trim();
  forge(at, (state) => {
    (state.verify[0] as { cmd: string }).cmd = 'touch ../ran';
  });
  held.release();
  const done = await expectCode(3, run(at, ['wait', gate, '--timeout', '50s']));
  assert.match(done.stdout, /trust/);
  assert.ok(!existsSync(at.path('../ran')));
});

test('nor by the worker that takes the place of a killed one', async (t) => {
  const at = await makeLoop(t, ['--verify', 'until [ -e ../go ]; do sleep 0.1; done']);
  await at.iterate();
  const gate = (await expectCode(0, at.loop('gate', '--id-only'))).stdout.trim();
  const job = findJob(at, gate);
  await eventually('the gate to be at work', () => job.has('worker.json') && job.state().started_at !== null);
  await killNow('the worker of the gate', job.identity('worker'));
  forge(at, (state) => {
    state.verify = [{ name: 'x', cmd: 'touch ../ran', timeout_s: 5 }];
  });
  at.write('../go', '');
  await expectCode(3, run(at, ['wait', gate, '--timeout', '50s']));
  assert.ok(!existsSync(at.path('../ran')));
});

test('the base of the work is a commit, never an option of git', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  at.write('code.js', 'x\n');
  forge(at, (state) => {
    if (state.current) state.current.base = `--output=${at.path('../victim')}`;
  });
  const { stdout } = await expectCode(3, at.loop('check'));
  assert.match(stdout, /current\.base/);
  for (const verb of ['checkpoint', 'gate', 'run']) assert.notEqual((await at.loop(verb)).code, 0, verb);
  assert.ok(!existsSync(at.path('../victim')));
});

test('a begun checkpoint that we did not write is put aside: no commit, and a hand edit stays', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  const planted = { stateText: at.read('.loop/state.json'), entry: '', handoff: 'FORGED', from: at.state().rev };
  const head = at.git('rev-parse', 'HEAD');
  writeFileSync(at.path('.job-state/loop/checkpoint.json'), JSON.stringify({ ...planted, message: 'evil\n' }));
  await expectCode(0, at.loop('stop'));
  assert.equal(at.git('rev-parse', 'HEAD'), head);
  assert.doesNotMatch(at.read('.loop/handoff.md'), /FORGED/);
  const again = { ...planted, stateText: at.read('.loop/state.json'), from: at.state().rev, message: null };
  writeFileSync(at.path('.job-state/loop/checkpoint.json'), JSON.stringify(again));
  writeFileSync(at.path('.loop/state.json'), at.read('.loop/state.json').replace('Three steps', 'Four steps'));
  await expectCode(0, at.loop('trust', '--yes'));
  assert.equal(at.state().goal, 'Four steps');
});

test('a program of a submodule’s own configuration is not run by any verb', async (t) => {
  const at = await makeLoop(t);
  const who = ['-c', 'user.name=Sub', '-c', 'user.email=sub@example.org'];
  const sub = (...args: string[]) => at.git('-C', at.path('sub'), ...who, ...args);
  mkdirSync(at.path('sub'));
  sub('init', '-q');
  at.write('sub/.gitattributes', '*.txt filter=evil\n');
  at.write('sub/a.txt', '1\n');
  sub('add', '-A');
  sub('commit', '-q', '-m', 'sub');
  sub('config', 'filter.evil.clean', `touch '${at.path('../ran')}'; cat`);
  at.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'sub');
  at.git('commit', '-q', '-m', 'With a submodule');
  at.write('sub/a.txt', '2\n');
  rmSync(at.path('../ran'), { force: true });
  await at.loop('check');
  await expectCode(0, at.loop('start'));
  at.write('code.js', 'x\n');
  await expectCode(0, at.loop('checkpoint', '--did', 'x'));
  assert.equal((await at.gate()).code, 2);
  assert.ok(!existsSync(at.path('../ran')));
});

test('a link in the place of the private folder is refused, and nothing is made behind it', async (t) => {
  const at = await makeLoop(t);
  rmSync(at.path('.job-state/loop'), { recursive: true });
  mkdirSync(at.path('../elsewhere'));
  symlinkSync(at.path('../elsewhere'), at.path('.job-state/loop'));
  for (const words of [['start'], ['stop'], ['trust', '--yes']])
    assert.match((await expectCode(1, at.loop(...words))).stderr, /is no folder of ours/);
  assert.deepEqual(readdirSync(at.path('../elsewhere')), []);
});

test('commands of a plan file are not trusted by that; those of the command line are', async (t) => {
  const workspace = makeWorkspace(t);
  const loop = (...args: string[]) => run(workspace, ['loop', ...args]);
  workspace.write('plan.json', JSON.stringify({ verify: [{ cmd: 'touch ../ran' }] }));
  const made = await expectCode(0, loop('init', 'x', '--plan', 'plan.json'));
  assert.match(made.stdout, /loop trust/);
  await expectCode(3, loop('trust'));
  await expectCode(1, loop('gate'));
  await expectCode(0, loop('plan', '--verify', 'true'));
  await expectCode(0, loop('trust'));
  await expectCode(0, loop('plan', '--plan', 'plan.json'));
  await expectCode(3, loop('trust'));
  assert.ok(!existsSync(workspace.path('../ran')));
});
