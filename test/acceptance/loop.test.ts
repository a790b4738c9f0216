/**
 * A loop at its boundaries (issue: the loop): the gate's codes, what stops it, what was tampered with, who holds it, and that a clone is as fresh
 * as the original.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { expectCode, makeLoop } from '../helpers/loop.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('init, start, checkpoint, gate is GO (2); the last milestone finishes (0), and the loop begins no other', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const first = await at.gate();
  assert.deepEqual([first.code, first.verdict, first.failed_checks, first.milestone], [2, 'GO', [], 'm2']);
  assert.equal(at.git('log', '-1', '--format=%s').trim(), 'feat(m1): a step');
  assert.deepEqual(at.git('show', '--name-only', '--format=', 'HEAD').trim().split('\n').sort(), [
    '.loop/handoff.md',
    '.loop/journal.md',
    '.loop/state.json',
    'code.js',
  ]);
  await at.iterate();
  await at.iterate();
  const last = await at.gate();
  assert.deepEqual([last.code, last.verdict, last.reason], [0, 'STOP', 'finished']);
  assert.match(at.read('.loop/journal.md'), /STOP: finished/);
  const after = await at.loop('start');
  assert.equal(after.code, 1);
  assert.match(after.stderr, /finished/);
});

test('two milestones in progress are NO-GO (3), and both are named', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const state = at.state();
  for (const one of state.milestones.slice(1)) one.status = 'in_progress';
  writeFileSync(at.path('.loop/state.json'), JSON.stringify(state));
  await expectCode(0, at.loop('trust', '--yes'));
  const check = await at.loop('check');
  assert.equal(check.code, 3);
  assert.match(check.stdout, /E1 .*two milestones are in progress: m2, m3/);
  assert.equal((await at.gate()).code, 3);
});

test('a marker that was added is NO-GO with file and line; one that stood there before is not', async (t) => {
  const at = await makeLoop(t);
  at.write('old.js', '// TODO from long ago\n');
  at.git('add', '-A');
  at.git('commit', '-q', '-m', 'Old');
  await at.iterate();
  assert.equal((await at.gate()).code, 2);
  await expectCode(0, at.loop('start'));
  appendFileSync(at.path('code.js'), 'fine\n// TODO: later\nconsole.log(1)\n');
  await expectCode(0, at.loop('checkpoint', '--did', 'x'));
  const report = await at.gate();
  assert.deepEqual([report.code, report.failed_checks], [3, ['E4']]);
  const observed = JSON.parse((await expectCode(3, run(at, ['observe', report.id]))).stdout);
  assert.deepEqual([observed.gate.verdict, observed.gate.failed_checks], ['NO-GO', ['E4']]);
  const lines = report.fixes.map(({ what, owner }) => `${owner} ${what}`).join('\n');
  assert.match(lines, /developer code\.js:3 has TODO/);
  assert.match(lines, /code\.js:4 has console\.log/);
  assert.doesNotMatch(lines, /old\.js/);
});

test('what is not committed, also an untracked file with a marker, is NO-GO', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  at.write('stray.js', '// FIXME\n');
  const report = await at.gate();
  assert.equal(report.code, 3);
  assert.match(report.fixes.map(({ what }) => what).join('\n'), /stray\.js is not committed/);
});

test('the third NO-GO of one iteration stops: remediation_exhausted (3), named in the journal; stop --clear goes on', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  at.write('broken', '');
  const codes = [];
  for (let round = 1; round <= 3; round += 1) {
    const report = await at.gate();
    codes.push([report.code, report.verdict, report.reason]);
  }
  assert.deepEqual(codes, [
    [3, 'NO-GO', null],
    [3, 'NO-GO', null],
    [3, 'STOP', 'remediation_exhausted'],
  ]);
  assert.match(at.read('.loop/journal.md'), /STOP: remediation_exhausted/);
  execFileSync('rm', [at.path('broken')]);
  assert.equal((await at.gate()).code, 3, 'a stop stays until it is taken back');
  await expectCode(0, at.loop('stop', '--clear'));
  assert.equal((await at.gate()).code, 2);
});

test('the same failure in three iterations running stops: repeated_failure', async (t) => {
  const at = await makeLoop(t, [
    '--milestone',
    'm4: four',
    '--acceptance',
    'm4: x',
    '--milestone',
    'm5: five',
    '--acceptance',
    'm5: x',
  ]);
  at.write('broken', 'committed with the first step\n');
  const seen = [];
  for (let iteration = 1; iteration <= 3; iteration += 1) {
    await at.iterate();
    const { verdict, reason } = await at.gate();
    seen.push([verdict, reason]);
  }
  assert.deepEqual(seen, [
    ['NO-GO', null],
    ['NO-GO', null],
    ['STOP', 'repeated_failure'],
  ]);
});

test('the iteration budget stops: iterations_exhausted (3); a raised budget goes on', async (t) => {
  const at = await makeLoop(t, ['--max-iterations', '1']);
  await at.iterate();
  const report = await at.gate();
  assert.deepEqual([report.code, report.reason], [3, 'iterations_exhausted']);
  await expectCode(0, at.loop('plan', '--max-iterations', '5'));
  assert.equal((await at.gate()).code, 2);
});

test('loop stop and a met condition are a declared stop (4)', async (t) => {
  const at = await makeLoop(t, ['--stop-when', 'file:enough', '--stop-when', 'cmd:test -e enough-too']);
  await at.iterate();
  assert.equal((await at.gate()).code, 2);
  await expectCode(0, at.loop('stop', '--reason', 'another design'));
  const asked = await at.gate();
  assert.deepEqual([asked.code, asked.reason, asked.detail], [4, 'stopped', 'another design']);
  await expectCode(0, at.loop('stop', '--clear'));
  at.write('enough-too', '');
  at.git('add', '-A');
  at.git('commit', '-q', '-m', 'Enough');
  const met = await at.gate();
  assert.deepEqual([met.code, met.reason], [4, 'declared']);
  assert.match(met.detail, /cmd:test -e enough-too/);
});

test('a hand edit is seen, nothing is written over it, and trust takes it over', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  writeFileSync(at.path('.loop/state.json'), at.read('.loop/state.json').replace('step m2', 'step two'));
  const edited = at.read('.loop/state.json');
  const report = await at.gate();
  assert.deepEqual([report.code, report.failed_checks.includes('E1')], [3, true]);
  for (const verb of ['start', 'checkpoint', 'stop']) {
    const refused = await at.loop(verb);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /edited by hand/);
  }
  assert.equal(at.read('.loop/state.json'), edited);
  assert.equal((await at.loop('trust')).code, 3);
  await expectCode(0, at.loop('trust', '--yes'));
  await expectCode(0, at.loop('start'));
});

test('a journal that was rewritten is NO-GO; --repair brings back what was committed and keeps what came after', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const good = at.read('.loop/journal.md');
  writeFileSync(at.path('.loop/journal.md'), good.replace('a step', 'another step'));
  const report = await at.gate();
  assert.deepEqual([report.code, report.failed_checks], [3, ['E6']]);
  const repaired = await at.gate('--repair');
  assert.equal(repaired.code, 2);
  assert.ok(at.read('.loop/journal.md').startsWith(good));
  const outside = at
    .git('status', '--porcelain')
    .trim()
    .split('\n')
    .filter((line) => !line.includes('.loop/'));
  assert.deepEqual(outside, []);
});

test('two sessions on one loop: the second is told who holds it and since when', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start', '--owner', 'first'));
  for (const verb of ['start', 'checkpoint']) {
    const second = await at.loop(verb, '--owner', 'second');
    assert.equal(second.code, 1);
    assert.match(second.stderr, /m1 is (in progress, )?held by first since 20\d\d-/);
  }
  await expectCode(0, at.loop('start', '--owner', 'first'));
});

test('a clone, and files that are all newer, are as fresh; its commands run only after trust there', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  for (const file of ['state.json', 'journal.md', 'handoff.md'])
    utimesSync(at.path(`.loop/${file}`), new Date(), new Date());
  assert.equal((await at.gate()).code, 2);
  at.git('add', '-A');
  at.git('commit', '-q', '-m', 'State');
  const other = makeWorkspace(t, { git: false });
  execFileSync('git', ['clone', '-q', at.dir, other.path('clone')]);
  const cwd = other.path('clone');
  const untrusted = await run(other, ['loop', 'gate'], { cwd });
  assert.equal(untrusted.code, 1);
  assert.match(untrusted.stderr, /trust/);
  assert.equal((await run(other, ['loop', 'check'], { cwd })).code, 0);
  assert.equal((await run(other, ['loop', 'trust', '--yes'], { cwd })).code, 0);
  const gate = await run(other, ['loop', 'gate'], { cwd });
  assert.equal(gate.code, 2, gate.stdout + gate.stderr);
});

test('answers of a judge count only for what is asked now; a no is NO-GO', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const asked = await at.gate();
  assert.deepEqual(asked.unanswered, ['E1', 'E3', 'E5']);
  const answer = (digest: string, holds: boolean) => {
    const answers = Object.fromEntries(asked.unanswered.map((id) => [id, { holds, why: 'looked at' }]));
    at.write('../answers.json', JSON.stringify({ for: digest, answers }));
    return at.loop('gate', '--json', '--judge', '../answers.json');
  };
  const good = await expectCode(2, answer(asked.judge_digest, true));
  assert.deepEqual(JSON.parse(good.stdout).unanswered, []);
  await expectCode(3, answer(asked.judge_digest, false));
  const old = await expectCode(1, answer('0123456789abcdef', true));
  assert.match(old.stderr, /the questions now are/);
});

test('a checkpoint whose process was killed at any of its steps is finished once by the next command', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start'));
  appendFileSync(at.path('code.js'), 'code\n');
  // The process dies after the files and before the commit.
  const hold = at.path('../die.cjs');
  writeFileSync(
    hold,
    "const fs=require('node:fs'),move=fs.renameSync;fs.renameSync=(a,b)=>{const r=move(a,b);if(b.endsWith('/.loop/state.json'))process.kill(process.pid,'SIGKILL');return r;};",
  );
  const killed = await run(at, ['loop', 'checkpoint', '--did', 'once'], { nodeOptions: ['--require', hold] });
  assert.equal(killed.signal, 'SIGKILL');
  const before = at.git('rev-list', '--count', 'HEAD');
  await expectCode(2, at.loop('gate'));
  assert.equal(Number(at.git('rev-list', '--count', 'HEAD')), Number(before) + 1);
  assert.equal(at.state().iteration, 1);
  assert.equal(at.read('.loop/journal.md').match(/^## Iteration 1 /gm)?.length, 1);
});

test('resume prints the pack in order, within 200 lines, and ends with the code of the check', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const good = await expectCode(0, at.loop('resume'));
  const heads = good.stdout.split('\n').filter((line) => line.startsWith('-- '));
  assert.deepEqual(heads, ['-- handoff', '-- state', '-- journal', '-- check']);
  assert.ok(good.stdout.split('\n').length <= 200);
  writeFileSync(
    at.path('.loop/handoff.md'),
    readFileSync(at.path('.loop/handoff.md'), 'utf8').replace('loop iteration 1 ', 'loop iteration 0 '),
  );
  const bad = await expectCode(3, at.loop('resume'));
  assert.match(bad.stdout, /begin no milestone/);
});

test('a judge of one’s own config answers; what cannot be read leaves the questions open, and a judge that is not there is refused', async (t) => {
  const at = await makeLoop(t);
  await at.iterate();
  const judge = (text: string) => {
    at.write('../judge.sh', `#!/bin/sh\ncat >/dev/null\ncat <<'EOF'\n${text}\nEOF\n`);
    const config = { backends: { judge: { argv: ['sh', at.path('../judge.sh')] } } };
    at.write('../home/.config/job-companion/config.json', JSON.stringify(config));
    return at.gate('--judge-backend', 'judge');
  };
  const yes = { holds: true, why: 'read it' };
  const good = await judge(
    `Here it is:\n\`\`\`json\n${JSON.stringify({ answers: { E1: yes, E3: yes, E5: yes } })}\n\`\`\``,
  );
  assert.deepEqual([good.code, good.unanswered], [2, []]);
  const no = await judge(JSON.stringify({ answers: { E1: { holds: false, why: 'no test can' }, E3: yes, E5: yes } }));
  assert.deepEqual([no.code, no.failed_checks], [3, ['E1']]);
  const vague = await judge('All fine.');
  assert.deepEqual([vague.code, vague.unanswered], [2, ['E1', 'E3', 'E5']]);
  const missing = await expectCode(1, at.loop('gate', '--judge-backend', 'nobody'));
  assert.match(missing.stderr, /cannot ask the judge nobody/);
});

test('a repository full of old markers begins clean, and a state that cannot be read is NO-GO without a job', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('old.js', '// TODO: from long ago\nconsole.log(1)\n');
  workspace.git('add', '-A');
  workspace.git('commit', '-q', '-m', 'Old');
  await expectCode(0, run(workspace, ['loop', 'init', 'x', '--verify', 'true']));
  await expectCode(0, run(workspace, ['loop', 'check']));
  writeFileSync(workspace.path('.loop/state.json'), '{}');
  const gate = await expectCode(3, run(workspace, ['loop', 'gate']));
  assert.match(gate.stdout, /^NO-GO: state\.json, schema/);
  assert.deepEqual(JSON.parse((await run(workspace, ['status', '--json'])).stdout).jobs, []);
});
