/**
 * What a reader without memory gets from a loop: pages that keep their bounds and still hold the next step, and a last line that says what to do.
 */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { expectCode, makeLoop } from '../helpers/loop.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const linesOf = (text: string) => text.trimEnd().split('\n');

test('resume and status hold the next step and its whole acceptance, however much is done', async (t) => {
  const at = makeWorkspace(t);
  const acceptance = Array.from({ length: 46 }, (_, n) => `criterion ${n} ${'of the parser '.repeat(15)}END${n}`);
  const milestones = Array.from({ length: 8 }, (_, n) => ({ id: `m${n}`, title: `step ${n}`, acceptance }));
  at.write('plan.json', JSON.stringify({ milestones }));
  await expectCode(0, run(at, ['loop', 'init', 'Long', '--plan', 'plan.json']));
  for (let n = 0; n < 6; n++) {
    await expectCode(0, run(at, ['loop', 'start', '--owner', 'me']));
    const told = Array.from({ length: 20 }, (_, k) => ['--did', `part ${k}`]).flat();
    await expectCode(0, run(at, ['loop', 'checkpoint', '--owner', 'me', ...told]));
  }
  await expectCode(0, run(at, ['loop', 'start', '--owner', 'me']));
  const resume = await run(at, ['loop', 'resume']);
  assert.ok(linesOf(resume.stdout).length <= 200, `${linesOf(resume.stdout).length} lines`);
  for (const n of [0, 45]) assert.ok(resume.stdout.includes(`END${n}\n`), `criterion ${n}`);
  assert.match(linesOf(resume.stdout).at(-1) ?? '', /m6 is in progress, held by me since .* next --prompt$/);
  const status = await expectCode(0, run(at, ['loop', 'status']));
  assert.ok(linesOf(status.stdout).length <= 60, `${linesOf(status.stdout).length} lines`);
  assert.match(status.stdout, /^## Next step$/m);
  assert.match(status.stdout, /more lines: .*handoff\.md\]/);
  assert.match(status.stdout, /\[\d+ earlier lines\]/);
});

test('the last line of resume and next fits: begin, go on, stopped, finished', async (t) => {
  const at = await makeLoop(t);
  const last = async (verb: string) => linesOf((await at.loop(verb)).stdout).at(-1) ?? '';
  for (const verb of ['next', 'resume']) assert.match(await last(verb), /take it: .* loop start$/);
  await expectCode(0, at.loop('stop', '--reason', 'another design'));
  for (const verb of ['next', 'resume'])
    assert.match(await last(verb), /STOPPED \(stopped: another design\): begin nothing/);
  await expectCode(0, at.loop('stop', '--clear'));
  for (const _ of ['m1', 'm2', 'm3']) await at.iterate();
  for (const verb of ['next', 'resume']) assert.match(await last(verb), /all milestones are done: .* loop gate$/);
  await at.gate();
  for (const verb of ['next', 'resume']) assert.match(await last(verb), /the loop is finished/);
});

test('who resumes in the middle of a milestone is told whose changes lie there', async (t) => {
  const at = await makeLoop(t);
  await expectCode(0, at.loop('start', '--owner', 'night shift'));
  appendFileSync(at.path('code.js'), 'half\n');
  const { stdout } = await expectCode(3, at.loop('resume'));
  assert.match(stdout, /NO-GO: begin no milestone/);
  assert.match(stdout, /may be work that had begun: m1 is in progress, held by night shift since/);
});

test('the commands that start names can be pasted, whatever the owner is called', async (t) => {
  const at = await makeLoop(t);
  const { stdout } = await expectCode(0, at.loop('start', '--owner', '$(touch oops)'));
  assert.match(stdout, /--owner '\$\(touch oops\)'/);
});

test('a job tells its milestone in observe, status and its result', async (t) => {
  const at = await makeLoop(t);
  const started = await expectCode(0, run(at, ['run', '--milestone', 'm2', '--id-only', '--', 'true']));
  const id = started.stdout.trim();
  await expectCode(0, run(at, ['wait', id]));
  const seen = parseReply<{ milestone: string }>(await run(at, ['observe', id]));
  const result = parseReply<{ milestone: string }>(await run(at, ['result', id, '--json']));
  assert.deepEqual([seen.milestone, result.milestone], ['m2', 'm2']);
  assert.match((await run(at, ['status', id])).stdout, /^milestone: +m2$/m);
  assert.match((await run(at, ['status', '--json'])).stdout, /"milestone":"m2"/);
});
